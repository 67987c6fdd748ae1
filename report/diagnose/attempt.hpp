#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/diagnose/verdicts.hpp"

namespace netbench::report {

/// A connection that was tried, as a document tells it: its error, and what the initiator noted as
/// `connect.*` in config. `connect.peer_*` is what was asked of the peer in another way:
/// peer_listens_on (text), peer_out_rsts, peer_listen_overflows, peer_reverse_path_drops.
class Attempt {
 public:
  explicit Attempt(Look& look) : look_(look) {}

  /// The error's code, "" where nothing failed.
  [[nodiscard]] std::string code() const;
  [[nodiscard]] bool ended_with(std::initializer_list<std::string_view> codes) const;
  /// A number or flag of `connect.<name>`, cited.
  std::optional<double> number(std::string_view name);
  std::optional<std::string> text(std::string_view name);
  /// The address and port that was tried, for texts and commands: "192.168.1.101", "18550".
  std::string address();
  std::string port();

  /// "rung 7 of 11, port: <the error's message>; passed: name resolution, …".
  [[nodiscard]] std::string ladder() const;
  /// The error's own remedy, then these.
  [[nodiscard]] std::vector<std::string> remedy(std::vector<std::string> more) const;

  /// Silent for another error, unknown where nothing failed; nothing where the code is one of
  /// these.
  [[nodiscard]] std::optional<Verdict> not_among(
      std::initializer_list<std::string_view> codes) const;

 private:
  const Value* value(std::string_view name);

  Look& look_;
};

}  // namespace netbench::report
