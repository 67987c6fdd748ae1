#include "bench/cli/meet_hosts.hpp"

#include <unistd.h>

#include <chrono>
#include <utility>

#include "bench/facts/host_facts.hpp"
#include "bench/session/clock_offset.hpp"
#include "bench/session/messages.hpp"

namespace netbench::cli {

namespace {
constexpr Nanoseconds kHostLimit = std::chrono::seconds(10);

// How far the other host's clock is ahead of this one's.
void add_clock(session::Channel& channel, HostInfo& remote) {
  constexpr const char* kSource = "CLOCK_REALTIME of both hosts over the control channel";
  const auto found = session::measure_clock_offset(channel);
  if (found) {
    remote.facts.push_back({"clock.offset_s", found->offset_s, kSource, {}});
    remote.facts.push_back({"clock.offset_uncertainty_s", found->uncertainty_s, kSource, {}});
  } else {
    remote.facts.push_back({"clock.offset_s", {}, kSource, found.error().message});
  }
}
}  // namespace

Result<AgentOffer> meet_hosts(PairConnection& pair, Document& document, Nanoseconds lldp_wait) {
  session::Channel& channel = *pair.agent.channel;
  const session::HostRequest request{static_cast<int>(::getpid()), lldp_wait.count()};
  if (const auto sent = channel.send(session::to_message(request)); !sent) {
    return tl::unexpected(sent.error());
  }
  HostInfo& local = document.hosts["h0"];
  facts::CollectOptions options = facts::options_towards(
      channel.local().host(), channel.peer().host(), pair.agent.agent.host_name);
  options.lldp_wait = lldp_wait;
  local = facts::collect_host(options);
  const auto message = channel.receive(Deadline::after(kHostLimit + lldp_wait));
  auto reply = message ? session::from_message<session::HostReply>(*message)
                       : Result<session::HostReply>(tl::unexpected(message.error()));
  if (!reply) {
    return tl::unexpected(reply.error());
  }
  HostInfo& remote = document.hosts["h1"] = std::move(reply->host);
  add_clock(channel, remote);
  document.run.same_machine = !local.boot_id.empty() && local.boot_id == remote.boot_id;
  return AgentOffer{reply->agent_pid, std::move(reply->knobs_refused_because)};
}

}  // namespace netbench::cli
