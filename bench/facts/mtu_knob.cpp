#include "bench/facts/mtu_knob.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <system_error>

#include "bench/core/log.hpp"
#include "bench/core/unique_fd.hpp"
#include "bench/facts/interface_state.hpp"
#include "bench/facts/network_reader.hpp"
#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

constexpr mode_t kOwnerOnly = 0600;
constexpr const char* kSuffix = ".knob";

Status write_durably(int file, const std::string& text, const std::filesystem::path& path) {
  const UniqueFd directory(::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const bool done =
      ::ftruncate(file, 0) == 0 &&
      ::pwrite(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) &&
      ::fsync(file) == 0 && directory.valid() && ::fsync(directory.get()) == 0;
  if (!done) {
    return fail_errno("knob-journal", fmt::format("cannot write {}", path.string()), errno);
  }
  return {};
}

// Opens a journal file and holds it alone. Nothing: another process holds it.
Result<std::optional<UniqueFd>> open_locked(const std::filesystem::path& path, int flags) {
  while (true) {
    UniqueFd file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, kOwnerOnly));
    if (!file.valid()) {
      return fail_errno("knob-journal", fmt::format("cannot open {}", path.string()), errno);
    }
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      return std::optional<UniqueFd>{};
    }
    struct stat status {};
    if (::fstat(file.get(), &status) == 0 && status.st_nlink > 0) {
      return std::optional<UniqueFd>(std::move(file));
    }  // else its owner removed it between open and lock
  }
}

// The journal is replayed with our rights: nobody else may write there.
bool is_ours_alone(const std::filesystem::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && status.st_uid == ::geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::filesystem::path journal_path(const std::filesystem::path& directory,
                                   const std::string& interface) {
  return directory / fmt::format("{}.{}{}", interface, current_network_namespace(), kSuffix);
}

struct Recovery {
  bool done = false;  // the file is gone
  std::string sentence;
};

// Restores what a dead owner left in a journal file that we hold, then removes the file.
Recovery recover_file(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto state = read_text_file("/", path.string()).and_then(decode);
  if (!state) {  // torn before the change it announces was made
    return {std::filesystem::remove(path, ignored),
            fmt::format("removed the journal {}: {}", path.string(), state.error().message)};
  }
  if (state->boot_id != current_boot_id() || !still_there(*state)) {
    return {std::filesystem::remove(path, ignored),
            fmt::format("removed the journal of {}: that interface is gone", state->interface)};
  }
  if (const auto restored = restore_interface(*state); !restored) {
    return {false, to_text(restored.error())};
  }
  return {std::filesystem::remove(path, ignored),
          fmt::format("restored MTU {} of {}, changed by a run that did not end properly",
                      state->mtu_bytes, state->interface)};
}

// Of another namespace of this boot: left for an agent there.
bool concerns_us(const std::filesystem::path& path) {
  const auto state = read_text_file("/", path.string()).and_then(decode);
  return !state || state->boot_id != current_boot_id() ||
         state->network_namespace == current_network_namespace();
}

}  // namespace

std::filesystem::path default_state_directory() {
  const std::filesystem::path system = "/var/lib/netbench";
  const bool present = ::access(system.c_str(), F_OK) == 0;
  if (::access(present ? system.c_str() : "/var/lib", W_OK) == 0) {
    return system;
  }
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/') {
    return std::filesystem::path(state) / "netbench";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return std::filesystem::path(home) / ".local/state/netbench";
  }
  return fmt::format("/var/tmp/netbench-{}", ::geteuid());
}

struct KnobJournal::Impl {
  struct Held {
    UniqueFd file;
    std::filesystem::path path;
    InterfaceState state;
  };
  std::filesystem::path directory;
  std::map<std::string, Held> held;

  Status hold(const std::string& interface);
  Status change(const Held& entry, std::int64_t mtu_bytes);
  Status release(const std::string& interface);
};

// Puts the interface's present state on disk, unless an earlier change of ours already has.
Status KnobJournal::Impl::hold(const std::string& interface) {
  if (held.contains(interface)) {
    return {};
  }
  const auto path = journal_path(directory, interface);
  auto file = open_locked(path, O_CREAT);
  if (!file) {
    return tl::unexpected(file.error());
  }
  if (!*file) {
    return fail("knob-busy", fmt::format("another process has changed the MTU of {}", interface),
                "Wait until that run has ended.");
  }
  struct stat status {};
  if (::fstat((*file)->get(), &status) == 0 && status.st_size > 0) {
    const auto recovery = recover_file(path);
    log(LogLevel::warning, recovery.sentence);
    if (!recovery.done) {
      return fail("knob-restore", recovery.sentence);
    }
    file->reset();
    return hold(interface);
  }
  auto state = capture_interface(interface);
  if (!state) {
    std::filesystem::remove(path);
    return tl::unexpected(state.error());
  }
  if (auto written = write_durably((*file)->get(), encode(*state), path); !written) {
    std::filesystem::remove(path);
    return written;
  }
  held.emplace(interface, Held{std::move(**file), path, std::move(*state)});
  return {};
}

Status KnobJournal::Impl::change(const Held& entry, std::int64_t mtu_bytes) {
  auto netlink = RtNetlink::open();
  auto network = open_kernel_network();
  if (!netlink || !network) {
    return tl::unexpected(!netlink ? netlink.error() : network.error());
  }
  const auto& interface = entry.state.interface;
  const auto link = (*network)->link(interface);
  const bool had_carrier = link && link->carrier.value_or(false);
  const int error = set_link_mtu(*netlink, entry.state.index, mtu_bytes);
  if (error != 0) {
    return fail_errno("mtu-refused",
                      fmt::format("the driver refuses MTU {} on {}", mtu_bytes, interface), error);
  }
  if (had_carrier && !wait_for_carrier(interface)) {
    return fail("carrier-lost",
                fmt::format("{} lost its carrier with MTU {} and did not get it back in 5 s",
                            interface, mtu_bytes));
  }
  return {};
}

Status KnobJournal::Impl::release(const std::string& interface) {
  const auto entry = held.find(interface);
  if (entry == held.end()) {
    return {};
  }
  if (still_there(entry->second.state)) {
    if (auto restored = restore_interface(entry->second.state); !restored) {
      return restored;
    }
  }
  std::error_code ignored;
  std::filesystem::remove(entry->second.path, ignored);
  held.erase(entry);
  return {};
}

KnobJournal::KnobJournal(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
KnobJournal::KnobJournal(KnobJournal&&) noexcept = default;

KnobJournal& KnobJournal::operator=(KnobJournal&& other) noexcept {
  std::swap(impl_, other.impl_);  // what was held here is given back with `other`
  return *this;
}

KnobJournal::~KnobJournal() {
  if (impl_ == nullptr) {
    return;
  }
  if (const auto restored = restore_all(); !restored) {
    log(LogLevel::error, to_text(restored.error()));
  }
}

Result<KnobJournal> KnobJournal::open(std::filesystem::path directory) {
  std::error_code error;
  std::filesystem::create_directories(directory.parent_path(), error);
  if (::mkdir(directory.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    return fail_errno("knob-journal", fmt::format("cannot make {}", directory.string()), errno);
  }
  if (!is_ours_alone(directory)) {
    return fail(
        "knob-journal",
        fmt::format("{} belongs to another user or others may write there", directory.string()),
        fmt::format("chown and chmod 0700 {}", directory.string()));
  }
  auto impl = std::make_unique<Impl>();
  impl->directory = std::move(directory);
  return KnobJournal(std::move(impl));
}

Status KnobJournal::set_mtu(const std::string& interface, std::int64_t mtu_bytes,
                            const KnobPolicy& policy) {
  auto network = open_kernel_network();
  const auto link =
      network ? (*network)->link(interface) : Result<LinkInfo>(tl::unexpected(network.error()));
  if (!link) {
    return tl::unexpected(link.error());
  }
  if (link->mtu_bytes == mtu_bytes) {
    return {};
  }
  const bool held_before = impl_->held.contains(interface);
  auto done = check_mtu_change(interface, mtu_bytes, policy).and_then([&] {
    return impl_->hold(interface);
  });
  if (!done) {
    return done;
  }
  done = impl_->change(impl_->held.at(interface), mtu_bytes);
  if (!done && !held_before) {
    if (const auto undone = impl_->release(interface); !undone) {
      log(LogLevel::error, to_text(undone.error()));
    }
  }
  return done;
}

Status KnobJournal::restore_all() {
  Status result;
  std::vector<std::string> interfaces;
  for (const auto& [interface, entry] : impl_->held) {
    interfaces.push_back(interface);
  }
  for (const auto& interface : interfaces) {
    auto restored = impl_->release(interface);
    if (!restored && result) {
      result = std::move(restored);
    }
  }
  return result;
}

bool KnobJournal::empty() const { return impl_->held.empty(); }

std::vector<std::string> recover_journal(const std::filesystem::path& directory) {
  std::vector<std::string> sentences;
  if (!is_ours_alone(directory)) {
    return sentences;  // none, or not one that we may trust
  }
  for (const auto& name : list_directory("/", directory.string())) {
    const auto path = directory / name;
    if (!name.ends_with(kSuffix) || !concerns_us(path)) {
      continue;
    }
    const auto file = open_locked(path, 0);
    if (!file) {
      sentences.push_back(to_text(file.error()));
    } else if (*file) {
      sentences.push_back(recover_file(path).sentence);
    }
  }
  return sentences;
}

}  // namespace netbench::facts
