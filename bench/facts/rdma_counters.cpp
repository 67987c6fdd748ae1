#include "bench/facts/rdma_counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <thread>

#include "bench/facts/rdma_rails.hpp"
#include "bench/facts/text_files.hpp"

namespace netbench::facts {

namespace {

/// Widths of the port counters that do not wrap but stay at their maximum.
struct Width {
  std::string_view name;
  unsigned bits;
};
constexpr std::array<Width, 14> kSaturating{{{"symbol_error", 16},
                                             {"link_error_recovery", 8},
                                             {"link_downed", 8},
                                             {"port_rcv_errors", 16},
                                             {"port_rcv_remote_physical_errors", 16},
                                             {"port_rcv_switch_relay_errors", 16},
                                             {"port_xmit_discards", 16},
                                             {"port_xmit_constraint_errors", 8},
                                             {"port_rcv_constraint_errors", 8},
                                             {"local_link_integrity_errors", 4},
                                             {"excessive_buffer_overrun_errors", 4},
                                             {"VL15_dropped", 16},
                                             {"port_xmit_data", 32},
                                             {"port_rcv_data", 32}}};

bool is_gauge(std::string_view name) {
  constexpr std::array<std::string_view, 4> kStarts{"active_", "watermark_", "current_rate",
                                                    "lifespan"};
  return std::ranges::any_of(kStarts, [&](auto start) { return name.starts_with(start); });
}

std::optional<std::uint64_t> parse_count(std::string_view text) {
  text = trimmed(text);
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stop == end ? std::optional(number) : std::nullopt;
}

bool is_saturated(std::string_view key, std::uint64_t count) {
  const auto name = key.substr(key.rfind('.') + 1);
  const auto width = std::ranges::find(kSaturating, name, &Width::name);
  return width != kSaturating.end() && count == (std::uint64_t{1} << width->bits) - 1;
}

}  // namespace

RdmaCounterReader::RdmaCounterReader(std::string root) : root_(std::move(root)) { find_files(); }

void RdmaCounterReader::find_files() {
  for (const auto& rail : rdma_rails(root_)) {
    for (const char* group : {"counters", "hw_counters"}) {
      const std::string folder = fmt::format("{}/{}", rail.port_folder(), group);
      for (const auto& name : list_directory(root_, folder)) {
        const std::string path = fmt::format("{}/{}", folder, name);
        const auto text = is_gauge(name) ? fail("gauge", name) : read_line_file(root_, path);
        if (text && parse_count(*text)) {  // a port without a counter says "N/A (no PMA)"
          files_.push_back({fmt::format("rdma.{}.{}", rail.name, name), path});
        }
      }
      const auto lifespan = read_line_file(root_, folder + "/lifespan");
      const auto milliseconds = lifespan ? to_integer(*lifespan) : std::nullopt;
      lifespan_ =
          std::max<Nanoseconds>(lifespan_, std::chrono::milliseconds(milliseconds.value_or(0)));
    }
  }
  lifespan_ = std::min<Nanoseconds>(lifespan_, std::chrono::seconds(1));
}

RdmaCounts RdmaCounterReader::take() {
  RdmaCounts counts;
  if (files_.empty()) {
    return counts;
  }
  if (const Nanoseconds since(monotonic_ns() - last_ns_); last_ns_ > 0 && since < lifespan_) {
    std::this_thread::sleep_for(lifespan_ - since);
  }
  for (const File& file : files_) {
    const auto text = read_line_file(root_, file.path);
    if (const auto count = text ? parse_count(*text) : std::nullopt) {
      counts.counts.emplace(file.key, *count);
    } else {
      counts.missing.push_back(text ? file.path + " holds no number" : text.error().message);
    }
  }
  last_ns_ = monotonic_ns();
  return counts;
}

CounterDelta rdma_delta(const RdmaCounts& before, const RdmaCounts& after) {
  CounterDelta result;
  for (const auto& [key, now] : after.counts) {
    const auto old = before.counts.find(key);
    if (old == before.counts.end()) {
      continue;
    }
    if (is_saturated(key, now)) {
      result.notes.push_back(fmt::format("{} stands at its maximum: not known", key));
    } else if (now < old->second) {
      result.notes.push_back(
          fmt::format("{} ran backwards ({} to {}): dropped", key, old->second, now));
    } else if (now > old->second) {
      result.counters[key] = static_cast<double>(now - old->second);
    }
  }
  for (const auto* counts : {&before, &after}) {
    for (const auto& missing : counts->missing) {
      if (std::ranges::find(result.notes, missing) == result.notes.end()) {
        result.notes.push_back(missing);
      }
    }
  }
  return result;
}

}  // namespace netbench::facts
