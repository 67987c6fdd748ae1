#include "report/diagnose/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/bounds/row_reader.hpp"

namespace netbench::report {

namespace {

/// What a connection climbs, from below.
constexpr std::array<std::string_view, 11> kRungs = {"name resolution",
                                                     "address family",
                                                     "route and source interface",
                                                     "subnet and netmask",
                                                     "neighbour",
                                                     "reachability",
                                                     "port",
                                                     "key",
                                                     "version",
                                                     "data port",
                                                     "path MTU"};

struct Failing {
  std::string_view code;
  std::size_t rung;  // in kRungs
};

constexpr std::array<Failing, 24> kFailing = {
    {{"unknown-host", 0},     {"bad-address", 1},     {"no-route", 2},
     {"connect-denied", 2},   {"connect-failed", 2},  {"peer-unreachable", 4},
     {"peer-dropped", 6},     {"peer-refused", 6},    {"peer-rejected", 6},
     {"not-an-agent", 6},     {"peer-busy", 6},       {"key-missing", 7},
     {"key-malformed", 7},    {"key-unknown", 7},     {"key-wrong", 7},
     {"key-file-open", 7},    {"agent-wants-key", 7}, {"agent-insecure", 7},
     {"version-mismatch", 8}, {"plugin-mismatch", 8}, {"plugin-version", 8},
     {"data-timeout", 9},     {"probe-socket", 9},    {"mtu-blackhole", 10}}};

}  // namespace

std::string Attempt::code() const {
  const auto& error = look_.document().error;
  return error ? error->slug : std::string{};
}

bool Attempt::ended_with(std::initializer_list<std::string_view> codes) const {
  return std::ranges::find(codes, code()) != codes.end();
}

const Value* Attempt::value(std::string_view name) {
  const std::string key = fmt::format("connect.{}", name);
  const auto found = look_.document().config.find(key);
  if (found == look_.document().config.end()) {
    look_.lack(key);
    return nullptr;
  }
  look_.cite("/config/" + key);
  return &found->second;
}

std::optional<double> Attempt::number(std::string_view name) {
  const Value* found = value(name);
  return found == nullptr ? std::nullopt : number_of(*found);
}

std::optional<std::string> Attempt::text(std::string_view name) {
  const Value* found = value(name);
  const auto* text = found == nullptr ? nullptr : std::get_if<std::string>(found);
  return text == nullptr ? std::nullopt : std::optional(*text);
}

std::string Attempt::address() { return text("address").value_or("PEER"); }

std::string Attempt::port() {
  const auto port = number("port");
  return port ? fmt::format("{:.0f}", *port) : "18550";
}

std::string Attempt::ladder() const {
  const auto found = std::ranges::find(kFailing, code(), &Failing::code);
  const auto& error = look_.document().error;
  if (!error || found == kFailing.end()) {
    return error ? error->message : std::string{};
  }
  const std::size_t passed = found->rung;
  return fmt::format(
      "rung {} of {}, {}: {}{}", passed + 1, kRungs.size(), kRungs[passed], error->message,
      passed == 0
          ? ""
          : fmt::format("; passed: {}",
                        fmt::join(kRungs.begin(),
                                  kRungs.begin() + static_cast<std::ptrdiff_t>(passed), ", ")));
}

std::vector<std::string> Attempt::remedy(std::vector<std::string> more) const {
  const auto& error = look_.document().error;
  if (error && !error->remedy.empty()) {
    more.insert(more.begin(), error->remedy);
  }
  return more;
}

std::optional<Verdict> Attempt::not_among(std::initializer_list<std::string_view> codes) const {
  if (code().empty()) {
    return unknown("no connection failed");
  }
  look_.cite("/error/code");
  return ended_with(codes) ? std::nullopt
                           : std::optional(silent(fmt::format("the error is {}", code())));
}

}  // namespace netbench::report
