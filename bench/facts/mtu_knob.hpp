#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/core/result.hpp"

namespace netbench::facts {

/// What the operator permits.
struct KnobPolicy {
  bool allowed = false;        // --allow-knobs
  bool forced = false;         // also the interface of the default route or of the SSH session
  std::string ssh_connection;  // $SSH_CONNECTION of the agent: "client port server port"
};

/// /var/lib/netbench where it can be written, else $XDG_STATE_HOME/netbench, else
/// ~/.local/state/netbench.
[[nodiscard]] std::filesystem::path default_state_directory();

/// Whether set_mtu() would be permitted; nothing is changed. Errors: `interface-unknown`,
/// `knob-not-allowed`, `mtu-range` (names the interface's own range), `mtu-ipv6` (below 1280, RFC
/// 8200, while the interface has IPv6 addresses: the kernel would delete them),
/// `knob-default-route`, `knob-ssh`, `knob-permission` (no CAP_NET_ADMIN).
[[nodiscard]] Status check_mtu_change(const std::string& interface, std::int64_t mtu_bytes,
                                      const KnobPolicy& policy);

/// Changes interface MTUs and gives back what was there: MTU, IPv6's own MTU, addresses, routes
/// with their metrics, and the MTUs of devices stacked on the interface (VLAN, macvlan, bridge).
/// The state before the first change is on disk (fsync) before that change, in a file per interface
/// and network namespace, held locked while this object lives. Every call in the network namespace
/// of the thread that opened it; [one thread at a time]; not to be called from a signal handler.
class KnobJournal {
 public:
  /// Makes the directory (0700). Errors: `knob-journal`.
  [[nodiscard]] static Result<KnobJournal> open(
      std::filesystem::path directory = default_state_directory());
  KnobJournal(KnobJournal&&) noexcept;
  KnobJournal& operator=(KnobJournal&&) noexcept;
  /// restore_all(); what fails is logged and stays journalled for recover_journal().
  ~KnobJournal();

  /// Sets the MTU and waits up to 5 s for the carrier to come back. The MTU it has already: nothing
  /// is done. Errors: those of check_mtu_change(), `knob-journal`, `knob-busy` (another process has
  /// changed this interface), `mtu-refused` (the driver said no), `carrier-lost` (already undone).
  [[nodiscard]] Status set_mtu(const std::string& interface, std::int64_t mtu_bytes,
                               const KnobPolicy& policy);

  /// Puts everything back. Goes on after a failure and returns the first. Errors: `knob-restore`.
  [[nodiscard]] Status restore_all();

  [[nodiscard]] bool empty() const;

 private:
  struct Impl;
  explicit KnobJournal(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Restores what a killed process of this network namespace left changed; files of a living process
/// are left alone, those of an earlier boot or of an interface that is gone are removed. One
/// sentence for each interface, for the log. To be called at the start of an agent and
/// of a run.
[[nodiscard]] std::vector<std::string> recover_journal(
    const std::filesystem::path& directory = default_state_directory());

}  // namespace netbench::facts
