#include "bench/cli/peer_witness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "bench/session/messages.hpp"

namespace netbench::cli {

namespace {

constexpr Nanoseconds kAnswerLimit = std::chrono::seconds(5);
/// Long enough for the first packet to be repeated.
constexpr Nanoseconds kAttemptLimit = std::chrono::milliseconds(2500);

Result<session::AgentConnection> reach(const std::string& witness,
                                       session::ConnectOptions options) {
  const auto at = session::parse_peer(witness);
  if (!at) {
    return tl::unexpected(at.error());
  }
  options.host = at->host;
  options.port = at->port;
  options.on_failure = {};
  return session::connect_agent(options);
}

void try_again(const session::ConnectOptions& failed) {
  // How it ends is known; the peer's view of it is what counts.
  static_cast<void>(session::dial({.host = failed.host,
                                   .port = failed.port,
                                   .family = failed.family,
                                   .resolve_limit = failed.resolve_limit,
                                   .connect_limit = kAttemptLimit,
                                   .cancel_fd = failed.cancel_fd}));
}

}  // namespace

bool needs_witness(const Error& error) {
  constexpr std::array<std::string_view, 3> kOpen = {"peer-refused", "peer-dropped",
                                                     "peer-rejected"};
  return std::ranges::find(kOpen, error.slug) != kOpen.end();
}

Status ask_witness(const std::string& witness, const session::ConnectOptions& failed,
                   ConnectWatch& watch) {
  auto agent = reach(witness, failed);
  if (!agent) {
    return tl::unexpected(with_context(agent.error(), "the witness " + witness));
  }
  const session::WitnessRequest question{watch.tried_from(), watch.tried_address(), failed.port};
  const auto ask = [&] {
    return session::ask<session::WitnessReply>(*agent->channel, question, kAnswerLimit);
  };
  const auto before = ask();
  if (!before) {
    return tl::unexpected(before.error());
  }
  if (!before->has_address) {
    return fail("witness-is-another-host",
                fmt::format("the host of the agent at {} does not have the address {}", witness,
                            watch.tried_address()));
  }
  try_again(failed);
  const auto after = ask();
  agent->channel->close();
  if (!after) {
    return tl::unexpected(after.error());
  }
  watch.note_witness(*before, *after);
  return {};
}

}  // namespace netbench::cli
