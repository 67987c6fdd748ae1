#include "report/document/redact.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

#include "bench/model/texts.hpp"

namespace netbench::report {

namespace {

/// Texts that are terms of the document itself, or versions that look like addresses.
constexpr std::array<std::string_view, 14> kPlainKeys{
    "id",          "transport", "workload",     "method",          "code",
    "class_id",    "key",       "stop_reason",  "stop_reasons",    "flags",
    "started_utc", "source",    "finished_utc", "netbench_version"};
constexpr std::array<std::string_view, 3> kPlainFactWords{"version", "release", "firmware"};

/// A fact whose key holds one of these words identifies the host as a whole.
constexpr std::array<std::string_view, 13> kIdentifyingFactWords{
    "serial",   "uuid", "guid",      "mac",     "wwn",    "asset", "gid",
    "hostname", "fqdn", "node_desc", "machine", "lladdr", "lldp"};

constexpr std::array<std::string_view, 5> kHarmlessAddresses{"127.0.0.1", "0.0.0.0", "::1",
                                                             "::", "255.255.255.255"};

bool is_alnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_name_char(char c) { return is_alnum(c) || c == '.' || c == '-' || c == '_'; }
bool is_address_char(char c) { return is_hex(c) || c == '.' || c == ':'; }

/// Whether a dotted or underscored key contains the word as a whole.
bool has_word(std::string_view key, std::string_view word) {
  for (std::size_t at = key.find(word); at != std::string_view::npos; at = key.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_alnum(key[at - 1])) && (end == key.size() || !is_alnum(key[end]))) {
      return true;
    }
  }
  return false;
}

template <std::size_t N>
bool has_any_word(std::string_view key, const std::array<std::string_view, N>& words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return has_word(key, word); });
}

bool is_plain(std::string_view key) {
  return std::ranges::find(kPlainKeys, key) != kPlainKeys.end() ||
         has_any_word(key, kPlainFactWords);
}

bool is_groups(std::string_view text, char separator, std::initializer_list<std::size_t> sizes) {
  std::size_t at = 0;
  for (const std::size_t size : sizes) {
    if (at > 0 && (at >= text.size() || text[at++] != separator)) {
      return false;
    }
    const std::string_view group = text.substr(std::min(at, text.size()), size);
    if (group.size() != size || !std::ranges::all_of(group, is_hex)) {
      return false;
    }
    at += size;
  }
  return at == text.size();
}

bool is_mac(std::string_view text) { return is_groups(text, ':', {2, 2, 2, 2, 2, 2}); }
bool is_guid(std::string_view text) { return is_groups(text, ':', {4, 4, 4, 4}); }
bool is_uuid(std::string_view text) { return is_groups(text, '-', {8, 4, 4, 4, 12}); }

bool is_ip(std::string_view text) {
  std::array<unsigned char, 16> parsed{};
  const std::string copy(text);
  return ::inet_pton(AF_INET, copy.c_str(), parsed.data()) == 1 ||
         ::inet_pton(AF_INET6, copy.c_str(), parsed.data()) == 1;
}

/// Length of the address at the start of a run of address characters; 0 for none. "1.2.3.4:80" has
/// one of 7, "1.2.3.4." too.
std::size_t address_length(std::string_view run) {
  for (std::string_view part :
       {run, run.substr(0, run.find_last_not_of(".:") + 1), run.substr(0, run.rfind(':'))}) {
    if (is_ip(part) || is_mac(part) || is_guid(part)) {
      return part.size();
    }
  }
  return 0;
}

class Redactor {
 public:
  void learn(const Document& document);
  [[nodiscard]] std::string redacted(std::string_view key, const std::string& text);

 private:
  [[nodiscard]] std::string stand_in(std::string_view kind, std::string_view original);
  void learn_word(std::string_view kind, const std::string& word);

  /// Rewrites every run of characters of a class that stands alone; `replace` returns the run's new
  /// text.
  template <class IsPart, class Replace>
  [[nodiscard]] static std::string rewrite_runs(const std::string& text, const IsPart& is_part,
                                                const Replace& replace);
  [[nodiscard]] std::string rewrite_name(std::string_view run);
  [[nodiscard]] std::string rewrite_address(std::string_view run);

  std::map<std::string, std::string, std::less<>> stand_ins_;  // original → stand-in
  std::map<std::string, int, std::less<>> counts_;             // by kind
  std::set<std::string, std::less<>> words_;  // to be replaced wherever they stand alone
};

std::string Redactor::stand_in(std::string_view kind, std::string_view original) {
  const auto found = stand_ins_.find(original);
  if (found != stand_ins_.end()) {
    return found->second;
  }
  const int number = counts_[std::string(kind)]++;
  return stand_ins_.emplace(std::string(original), fmt::format("{}-{}", kind, number))
      .first->second;
}

void Redactor::learn_word(std::string_view kind, const std::string& word) {
  if (!word.empty() && word != "localhost" && word != "self" && !is_ip(word)) {
    static_cast<void>(stand_in(kind, word));
    words_.insert(word);
  }
}

/// "ssh://user@host:port" → "host".
std::string host_of(std::string target) {
  target.erase(0, target.rfind('/') + 1);
  target.erase(0, target.rfind('@') + 1);
  return target.substr(0, target.find(':'));
}

void Redactor::learn(const Document& document) {
  for (const auto& [id, host] : document.hosts) {
    learn_word("host", host.name);
    learn_word("id", host.boot_id);
    for (const Fact& fact : host.facts) {
      const auto* text = std::get_if<std::string>(&fact.value);
      if (text != nullptr && has_any_word(fact.key, kIdentifyingFactWords)) {
        learn_word("id", *text);
      }
    }
  }
  const auto peer = document.config.find("peer");
  if (peer != document.config.end() && std::holds_alternative<std::string>(peer->second)) {
    learn_word("host", host_of(std::get<std::string>(peer->second)));
  }
}

template <class IsPart, class Replace>
std::string Redactor::rewrite_runs(const std::string& text, const IsPart& is_part,
                                   const Replace& replace) {
  std::string result;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = at;
    while (end < text.size() && is_part(text[end])) {
      ++end;
    }
    if (end == at) {
      result += text[at++];
      continue;
    }
    const bool alone =
        (at == 0 || !is_alnum(text[at - 1])) && (end == text.size() || !is_alnum(text[end]));
    const std::string_view run = std::string_view(text).substr(at, end - at);
    result += alone ? replace(run) : std::string(run);
    at = end;
  }
  return result;
}

std::string Redactor::rewrite_name(std::string_view run) {
  const std::string_view name = run.substr(0, run.find_last_not_of('.') + 1);
  const std::string rest(run.substr(name.size()));
  if (is_uuid(name)) {
    return stand_in("id", name) + rest;
  }
  const std::string_view first_label = name.substr(0, name.find('.'));
  for (const std::string_view known : {name, first_label}) {
    if (words_.contains(known)) {
      return stand_ins_.find(known)->second + rest;
    }
  }
  return std::string(run);
}

std::string Redactor::rewrite_address(std::string_view run) {
  const std::size_t length = address_length(run);
  const std::string_view address = run.substr(0, length);
  if (length == 0 || std::ranges::find(kHarmlessAddresses, address) != kHarmlessAddresses.end()) {
    return std::string(run);
  }
  return stand_in(is_ip(address) ? "address" : "id", address) + std::string(run.substr(length));
}

/// Replaces what stands between `before` and the next character that cannot be in a user name.
std::string without_user(std::string text, std::string_view before, std::string_view after) {
  for (std::size_t at = text.find(before); at != std::string::npos;
       at = text.find(before, at + 1)) {
    const std::size_t start = at + before.size();
    std::size_t end = start;
    while (end < text.size() && is_name_char(text[end])) {
      ++end;
    }
    if (end > start && text.compare(end, after.size(), after) == 0) {
      text.replace(start, end - start, "user");
    }
  }
  return text;
}

std::string Redactor::redacted(std::string_view key, const std::string& text) {
  if (is_plain(key)) {
    return text;
  }
  if (const auto whole = words_.find(text); whole != words_.end()) {
    return stand_in("id", text);
  }
  if (!text.empty() && has_any_word(key, kIdentifyingFactWords)) {
    return stand_in("id", text);
  }
  std::string result = without_user(without_user(text, "/home/", ""), "ssh://", "@");
  result = rewrite_runs(result, is_name_char, [&](auto run) { return rewrite_name(run); });
  return rewrite_runs(result, is_address_char, [&](auto run) { return rewrite_address(run); });
}

}  // namespace

Document redact(Document document) {
  Redactor redactor;
  redactor.learn(document);
  for_each_text(document, [&](std::string_view key, std::string& text) {
    text = redactor.redacted(key, text);
  });
  return document;
}

}  // namespace netbench::report
