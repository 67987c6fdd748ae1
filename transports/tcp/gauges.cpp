#include "transports/tcp/gauges.hpp"

#include <linux/sock_diag.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <string>

#include "transports/sdk/clock.hpp"
#include "transports/tcp/tcp_info.hpp"

namespace netbench::tcp {
namespace {

constexpr std::int64_t kPeriodNs = 100'000'000;

/// Numbers of SO_MEMINFO (linux/sock_diag.h).
struct MemoryField {
  const char* name;
  std::size_t index;
};
constexpr std::array kMemory = {
    MemoryField{"rmem_alloc_bytes", SK_MEMINFO_RMEM_ALLOC},
    MemoryField{"rcvbuf_bytes", SK_MEMINFO_RCVBUF},
    MemoryField{"sndbuf_bytes", SK_MEMINFO_SNDBUF},
    MemoryField{"wmem_queued_bytes", SK_MEMINFO_WMEM_QUEUED},
};

using Memory = std::array<double, kMemory.size()>;

std::vector<TcpInfo> read_infos(std::span<const int> fds) {
  std::vector<TcpInfo> infos;
  infos.reserve(fds.size());
  for (const int fd : fds) {
    infos.push_back(TcpInfo::read(fd));
  }
  return infos;
}

/// Summed over the connections; nothing where the kernel refuses one.
std::optional<Memory> read_memory(std::span<const int> fds) {
  Memory total{};
  for (const int fd : fds) {
    std::array<std::uint32_t, SK_MEMINFO_VARS> values{};
    socklen_t length = sizeof values;
    if (::getsockopt(fd, SOL_SOCKET, SO_MEMINFO, values.data(), &length) != 0) {
      return std::nullopt;
    }
    for (std::size_t i = 0; i < kMemory.size(); ++i) {
      total.at(i) += values.at(kMemory.at(i).index);
    }
  }
  return fds.empty() ? std::nullopt : std::optional(total);
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::string key(const char* group, const char* name) { return std::string(group) + "." + name; }

void emit_range(const sdk::Sink& sink, const char* name, std::span<const double> values) {
  const auto [least, most] = std::ranges::minmax(values);
  sink.number(key("tcp_info_min", name), least);
  sink.number(key("tcp_info_max", name), most);
}

}  // namespace

Gauges::Gauges(std::span<const int> fds)
    : fds_(fds.begin(), fds.end()), fields_(tcp_info_fields().size()), memory_(kMemory.size()) {}

void Gauges::look() {
  const std::scoped_lock lock(mutex_);
  look_locked();
}

void Gauges::look_if_due() {
  const std::scoped_lock lock(mutex_);
  if (sdk::MonotonicClock::now_ns() - last_look_ns_ >= kPeriodNs) {
    look_locked();
  }
}

void Gauges::look_once() {
  const std::scoped_lock lock(mutex_);
  if (last_look_ns_ == 0) {
    look_locked();
  }
}

void Gauges::look_locked() {
  last_look_ns_ = sdk::MonotonicClock::now_ns();
  const std::vector<TcpInfo> infos = read_infos(fds_);
  const auto fields = tcp_info_fields();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (const auto value =
            fields[i].kept == Kept::last ? std::nullopt : fields[i].over_all(infos)) {
      fields_[i].push_back(*value);
    }
  }
  if (const auto memory = read_memory(fds_)) {
    for (std::size_t i = 0; i < memory->size(); ++i) {
      memory_[i].push_back(memory->at(i));
    }
  }
}

void Gauges::emit(const sdk::Sink& sink) const {
  const std::scoped_lock lock(mutex_);
  const std::vector<TcpInfo> infos = read_infos(fds_);
  const auto fields = tcp_info_fields();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto now = fields_[i].empty() ? fields[i].over_all(infos) : median_of(fields_[i]);
    if (now) {
      sink.number(key("tcp_info", fields[i].name), *now);
    }
    if (fields[i].kept == Kept::range && !fields_[i].empty()) {
      emit_range(sink, fields[i].name, fields_[i]);
    }
  }
  for (std::size_t i = 0; i < kMemory.size(); ++i) {
    if (!memory_[i].empty()) {
      sink.number(key("sock", kMemory.at(i).name), median_of(memory_[i]));
      sink.number(key("sock_max", kMemory.at(i).name), std::ranges::max(memory_[i]));
    }
  }
}

}  // namespace netbench::tcp
