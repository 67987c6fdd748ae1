#include "bench/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "bench/stats/rng.hpp"

namespace netbench::plan {

namespace {

/// Percent-encodes what would be taken for structure in an id.
std::string escaped(const std::string& text) {
  constexpr std::string_view kStructure = "/=% ";
  std::string out;
  for (const char c : text) {
    if (kStructure.find(c) == std::string_view::npos && c > 0x20 && c < 0x7f) {
      out.push_back(c);
    } else {
      fmt::format_to(std::back_inserter(out), "%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

/// Seed of one use, from the plan's seed: independent streams for shuffles and visits.
std::uint64_t derived_seed(std::uint64_t seed, std::uint64_t round, std::uint64_t use) {
  stats::Rng outer(seed);
  stats::Rng inner(outer.next() ^ (round << 32U) ^ use);
  return inner.next();
}

std::vector<std::int64_t> mtu_blocks(const SweepPlan& plan) {
  std::vector<std::int64_t> blocks;
  if (std::ranges::any_of(plan.points, [](const TestPoint& p) { return p.mtu_bytes == 0; })) {
    blocks.push_back(0);
  }
  blocks.insert(blocks.end(), plan.mtu_levels.begin(), plan.mtu_levels.end());
  return blocks;
}

void append_block(const SweepPlan& plan, std::uint32_t round, std::int64_t mtu_bytes,
                  std::vector<Visit>& visits) {
  std::vector<Visit> block;
  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    if (plan.points[i].mtu_bytes == mtu_bytes) {
      block.push_back(Visit{round, mtu_bytes, i, derived_seed(plan.seed, round, i)});
    }
  }
  constexpr std::uint64_t kShuffleUse = 1ULL << 62U;
  const auto use = kShuffleUse + static_cast<std::uint64_t>(mtu_bytes);
  stats::shuffle(std::span<Visit>(block), derived_seed(plan.seed, round, use));
  visits.insert(visits.end(), block.begin(), block.end());
}

}  // namespace

std::string TestPoint::id() const {
  std::string text = fmt::format("{}/{}", transport, workload);
  if (direction != Direction::none) {
    text += "/" + netbench::to_string(direction);
  }
  text += fmt::format("/{}", message_bytes);
  for (const auto& [name, level] : tunables) {
    text += fmt::format("/{}={}", name, escaped(to_string(level)));
  }
  if (mtu_bytes != 0) {
    text += fmt::format("/mtu={}", mtu_bytes);
  }
  return text;
}

std::vector<Visit> SweepPlan::order() const {
  std::vector<std::int64_t> blocks = mtu_blocks(*this);
  std::vector<Visit> visits;
  visits.reserve(points.size() * rounds);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (const std::int64_t mtu_bytes : blocks) {
      append_block(*this, round, mtu_bytes, visits);
    }
    std::ranges::reverse(blocks);
  }
  return visits;
}

}  // namespace netbench::plan
