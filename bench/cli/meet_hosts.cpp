#include "bench/cli/meet_hosts.hpp"

#include <unistd.h>

#include <chrono>
#include <utility>

#include "bench/facts/host_facts.hpp"
#include "bench/session/messages.hpp"

namespace netbench::cli {

namespace {
constexpr Nanoseconds kHostLimit = std::chrono::seconds(10);
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
  const HostInfo& remote = document.hosts["h1"] = std::move(reply->host);
  document.run.same_machine = !local.boot_id.empty() && local.boot_id == remote.boot_id;
  return AgentOffer{reply->agent_pid, std::move(reply->knobs_refused_because)};
}

}  // namespace netbench::cli
