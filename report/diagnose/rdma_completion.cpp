#include "report/diagnose/rdma_completion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace netbench::report {

namespace {

struct Name {
  Completion completion;
  std::string_view verbs;  // without IBV_WC_ and _ERR
  std::string_view slug;   // without rdma-
};
constexpr std::array<Name, 15> kNames{
    {{Completion::local_length, "LOC_LEN", "local-length"},
     {Completion::local_operation, "LOC_QP_OP", "local-operation"},
     {Completion::local_protection, "LOC_PROT", "local-protection"},
     {Completion::flushed, "WR_FLUSH", "flushed"},
     {Completion::bad_response, "BAD_RESP", "bad-response"},
     {Completion::local_access, "LOC_ACCESS", "local-access"},
     {Completion::remote_invalid, "REM_INV_REQ", "remote-invalid"},
     {Completion::remote_access, "REM_ACCESS", "remote-access"},
     {Completion::remote_operation, "REM_OP", "remote-operation"},
     {Completion::retry_exceeded, "RETRY_EXC", "retry-exceeded"},
     {Completion::receiver_not_ready, "RNR_RETRY_EXC", "receiver-not-ready"},
     {Completion::remote_abort, "REM_ABORT", "remote-abort"},
     {Completion::device_failed, "FATAL", "device-failed"},
     {Completion::response_timeout, "RESP_TIMEOUT", "response-timeout"},
     {Completion::general, "GENERAL", "general"}}};

/// "RETRY_EXC" as slugs write it: "retry-exc".
std::string as_slug(std::string_view verbs) {
  std::string text(verbs);
  std::ranges::transform(text, text.begin(), [](char letter) {
    return letter == '_' ? '-' : static_cast<char>(letter | 0x20);  // ASCII lower case
  });
  return text;
}

std::string_view without(std::string_view text, std::string_view start, std::string_view end) {
  text.remove_prefix(text.starts_with(start) ? start.size() : 0);
  text.remove_suffix(text.ends_with(end) ? end.size() : 0);
  return text;
}

std::optional<int> number_behind(std::string_view text, std::string_view word) {
  const auto at = text.find(word);
  int number = 0;
  const auto rest =
      at == std::string_view::npos ? text.substr(text.size()) : text.substr(at + word.size());
  const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  return parsed.ec == std::errc{} ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<Completion> completion_of(const Error& error) {
  const std::string_view slug = error.slug;
  const bool completion = slug.starts_with("verbs-wc-");
  const auto name = completion ? without(slug, "verbs-wc-", "-err") : without(slug, "rdma-", "");
  for (const Name& one : kNames) {
    if (completion ? name == as_slug(one.verbs) || name == one.slug
                   : slug.starts_with("rdma-") && name == one.slug) {
      return one.completion;
    }
  }
  const auto number = number_behind(error.message, "status ");
  const auto known = std::ranges::find_if(kNames, [&](const Name& one) {
    return number && static_cast<int>(one.completion) == *number;
  });
  return known == kNames.end() ? std::nullopt : std::optional(known->completion);
}

std::string completion_text(Completion completion) {
  const auto known = std::ranges::find(kNames, completion, &Name::completion);
  return known == kNames.end() ? fmt::format("status {}", static_cast<int>(completion))
                               : fmt::format("{} ({})", known->verbs, static_cast<int>(completion));
}

}  // namespace netbench::report
