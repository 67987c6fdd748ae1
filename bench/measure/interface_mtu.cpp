#include "bench/measure/interface_mtu.hpp"

#include <fmt/format.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "bench/core/unique_fd.hpp"

namespace netbench::measure {

namespace {

/// Current MTU of an interface by SIOCGIFMTU (netdevice(7)); 0 where it cannot be read.
std::int64_t current_mtu(const std::string& interface) {
  const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strncpy(request.ifr_name, interface.c_str(), IFNAMSIZ - 1);
  return ::ioctl(socket.get(), SIOCGIFMTU, &request) == 0 ? request.ifr_mtu : 0;
}

}  // namespace

InterfaceMtu::InterfaceMtu(std::string interface, bool allowed)
    : interface_(std::move(interface)), allowed_(allowed) {}

std::string InterfaceMtu::refusal() const {
  const auto permitted =
      facts::check_mtu_change(interface_, current_mtu(interface_), policy(false));
  return permitted ? std::string()
                   : fmt::format("{}. {}", permitted.error().message, permitted.error().remedy);
}

facts::KnobPolicy InterfaceMtu::policy(bool force) const {
  const char* ssh = std::getenv("SSH_CONNECTION");
  return {allowed_, force, ssh != nullptr ? ssh : ""};
}

Result<InterfaceMtu::Change> InterfaceMtu::set(std::int64_t mtu_bytes, bool force) {
  Change change{current_mtu(interface_), 0};
  if (mtu_bytes == 0) {
    if (journal_) {
      if (auto restored = journal_->restore_all(); !restored) {
        return tl::unexpected(restored.error());
      }
    }
    change.now_bytes = current_mtu(interface_);
    return change;
  }
  if (!journal_) {
    auto journal = facts::KnobJournal::open();
    if (!journal) {
      return tl::unexpected(journal.error());
    }
    journal_ = std::move(*journal);
  }
  if (auto done = journal_->set_mtu(interface_, mtu_bytes, policy(force)); !done) {
    return tl::unexpected(done.error());
  }
  change.now_bytes = current_mtu(interface_);
  return change;
}

}  // namespace netbench::measure
