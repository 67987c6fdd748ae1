#include <fmt/format.h>

#include <array>

#include "report/diagnose/recipe.hpp"

namespace netbench::report {

namespace {

std::optional<std::int64_t> in_effect(const Measurement& row, const std::string& name) {
  return whole(row.tunables.effective_initiator, name);
}

std::string text_in_effect(const Measurement& row, const std::string& name) {
  const auto found = row.tunables.effective_initiator.find(name);
  const auto* text = found == row.tunables.effective_initiator.end()
                         ? nullptr
                         : std::get_if<std::string>(&found->second);
  return text == nullptr ? std::string{} : *text;
}

std::optional<Experiment> more_queue_pairs(std::string_view id, const Measurement& row) {
  const std::int64_t now = in_effect(row, "verbs.qps").value_or(1);
  return vary(row, id, fmt::format("{} queue pairs instead of {}", 4 * now, now),
              {{"verbs.qps", 4 * now}});
}

std::optional<Experiment> deeper_queue(std::string_view id, const Measurement& row) {
  const auto now = in_effect(row, "verbs.tx_depth");
  return !now ? std::nullopt
              : std::optional(vary(row, id,
                                   fmt::format("a send queue of {} instead of {}", 4 * *now, *now),
                                   {{"verbs.tx_depth", 4 * *now}}));
}

std::optional<Experiment> larger_path_mtu(std::string_view id, const Measurement& row) {
  constexpr std::int64_t kLargest = 4096;
  const auto now = in_effect(row, "verbs.path_mtu");
  return !now || *now >= kLargest
             ? std::nullopt
             : std::optional(vary(row, id,
                                  fmt::format("a path MTU of {} instead of {}", 2 * *now, *now),
                                  {{"verbs.path_mtu", 2 * *now}}));
}

std::optional<Experiment> relaxed_ordering(std::string_view id, const Measurement& row) {
  const auto found = row.tunables.effective_initiator.find("verbs.relaxed_ordering");
  const auto* on =
      found == row.tunables.effective_initiator.end() ? nullptr : std::get_if<bool>(&found->second);
  const bool wanted = on == nullptr || !*on;
  return vary(row, id, fmt::format("relaxed ordering {}", wanted ? "on" : "off"),
              {{"verbs.relaxed_ordering", wanted}});
}

/// Buffers on the node of the initiator's card.
std::optional<Experiment> near_node(std::string_view id, const Measurement& row,
                                    const Document& document) {
  const auto host = document.hosts.find("h0");
  const Fact* node =
      host == document.hosts.end()
          ? nullptr
          : find_fact(host->second,
                      fmt::format("rdma.{}.numa_node", text_in_effect(row, "verbs.device")));
  const auto* number = node == nullptr ? nullptr : std::get_if<std::int64_t>(&node->value);
  return number == nullptr || in_effect(row, "verbs.numa") == *number
             ? std::nullopt
             : std::optional(vary(row, id,
                                  fmt::format("buffers on node {}, where the card is", *number),
                                  {{"verbs.numa", *number}}));
}

std::optional<Experiment> write_instead_of_read(std::string_view id, const Measurement& row) {
  return text_in_effect(row, "verbs.op") != "read"
             ? std::nullopt
             : std::optional(
                   vary(row, id, "write instead of read", {{"verbs.op", std::string("write")}}));
}

/// The class of DSCP 26, which vendors' guides make lossless (NVIDIA: traffic class 106, ECN set).
std::optional<Experiment> traffic_class(std::string_view id, const Measurement& row) {
  constexpr std::int64_t kLossless = 106;
  return in_effect(row, "verbs.traffic_class") == kLossless
             ? std::nullopt
             : std::optional(vary(row, id, fmt::format("traffic class {}", kLossless),
                                  {{"verbs.traffic_class", kLossless}}));
}

std::optional<Experiment> other_connect(std::string_view id, const Measurement& row) {
  const std::string now = text_in_effect(row, "verbs.connect");
  const std::string other = now == "rdma_cm" ? "exchange" : "rdma_cm";
  return now.empty()
             ? std::nullopt
             : std::optional(vary(row, id, fmt::format("connected by {} instead of {}", other, now),
                                  {{"verbs.connect", other}}));
}

/// Those that touch one cause alone go first.
constexpr std::array<Recipe, 8> kRecipes = {{{"write-instead-of-read", write_instead_of_read},
                                             {"relaxed-ordering", relaxed_ordering},
                                             {"near-node", nullptr, near_node},
                                             {"larger-path-mtu", larger_path_mtu},
                                             {"traffic-class", traffic_class},
                                             {"other-connect", other_connect},
                                             {"deeper-queue", deeper_queue},
                                             {"more-queue-pairs", more_queue_pairs}}};

}  // namespace

std::span<const Recipe> verbs_recipes() { return kRecipes; }

}  // namespace netbench::report
