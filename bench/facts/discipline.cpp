#include "bench/facts/discipline.hpp"

#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include <algorithm>
#include <array>

namespace netbench::facts {

namespace {

constexpr double kBitsPerByte = 8;
constexpr std::uint32_t kUnlimited = ~0U;

void add_rate(NamedValues& values, const char* name, std::uint64_t bytes_per_s) {
  if (bytes_per_s != 0) {
    values.emplace_back(name, static_cast<double>(bytes_per_s) * kBitsPerByte);
  }
}

// A rate as 64-bit attribute where it does not fit the structure's 32 bits (bytes/s).
std::uint64_t rate_of(ByteSpan options, std::uint16_t type64, std::uint32_t rate32) {
  return attribute_number<std::uint64_t>(options, type64).value_or(rate32);
}

void parse_tbf(ByteSpan options, NamedValues& values) {
  const auto parameters = header_of<tc_tbf_qopt>(find_attribute(options, TCA_TBF_PARMS));
  add_rate(values, "rate_bps", rate_of(options, TCA_TBF_RATE64, parameters.rate.rate));
  if (const auto burst = attribute_u32(options, TCA_TBF_BURST); burst) {
    values.emplace_back("burst_bytes", std::int64_t{*burst});
  }
  values.emplace_back("limit_bytes", std::int64_t{parameters.limit});
}

void parse_fq(ByteSpan options, NamedValues& values) {
  const auto ceiling = attribute_u32(options, TCA_FQ_FLOW_MAX_RATE).value_or(kUnlimited);
  add_rate(values, "flow_rate_bps", ceiling == kUnlimited ? 0 : ceiling);
  if (const auto on = attribute_u32(options, TCA_FQ_RATE_ENABLE); on) {
    values.emplace_back("pacing", *on != 0);
  }
  if (const auto limit = attribute_u32(options, TCA_FQ_PLIMIT); limit) {
    values.emplace_back("limit_packets", std::int64_t{*limit});
  }
}

void parse_netem(ByteSpan options, NamedValues& values) {
  const auto parameters = header_of<tc_netem_qopt>(options);
  const ByteSpan nested = attributes_after(options, sizeof(parameters));
  constexpr double kNsPerSecond = 1e9;
  const auto seconds = [&](const char* name, std::uint16_t type) {
    if (const auto ns = attribute_number<std::int64_t>(nested, type); ns && *ns > 0) {
      values.emplace_back(name, static_cast<double>(*ns) / kNsPerSecond);
    }
  };
  seconds("delay_s", TCA_NETEM_LATENCY64);
  seconds("jitter_s", TCA_NETEM_JITTER64);
  if (parameters.loss != 0) {
    values.emplace_back("loss_share", static_cast<double>(parameters.loss) / kUnlimited);
  }
  const auto rate = header_of<tc_netem_rate>(find_attribute(nested, TCA_NETEM_RATE));
  add_rate(values, "rate_bps", rate_of(nested, TCA_NETEM_RATE64, rate.rate));
  values.emplace_back("limit_packets", std::int64_t{parameters.limit});
}

void parse_fq_codel(ByteSpan options, NamedValues& values) {
  if (const auto limit = attribute_u32(options, TCA_FQ_CODEL_LIMIT); limit) {
    values.emplace_back("limit_packets", std::int64_t{*limit});
  }
}

void parse_cake(ByteSpan options, NamedValues& values) {
  add_rate(values, "rate_bps", rate_of(options, TCA_CAKE_BASE_RATE64, 0));
}

void parse_htb_class(ByteSpan options, NamedValues& values) {
  const auto parameters = header_of<tc_htb_opt>(find_attribute(options, TCA_HTB_PARMS));
  add_rate(values, "rate_bps", rate_of(options, TCA_HTB_CEIL64, parameters.ceil.rate));
}

void parse_pfifo(ByteSpan options, NamedValues& values) {
  if (options.size() >= sizeof(tc_fifo_qopt)) {
    values.emplace_back("limit_packets", std::int64_t{header_of<tc_fifo_qopt>(options).limit});
  }
}

void parse_bfifo(ByteSpan options, NamedValues& values) {
  if (options.size() >= sizeof(tc_fifo_qopt)) {
    values.emplace_back("limit_bytes", std::int64_t{header_of<tc_fifo_qopt>(options).limit});
  }
}

struct KindParser {
  std::string_view kind;
  void (*parse)(ByteSpan options, NamedValues& values);
};

constexpr std::array kKinds{
    KindParser{"tbf", parse_tbf},     KindParser{"fq", parse_fq},
    KindParser{"netem", parse_netem}, KindParser{"fq_codel", parse_fq_codel},
    KindParser{"cake", parse_cake},   KindParser{"htb", parse_htb_class},
    KindParser{"pfifo", parse_pfifo}, KindParser{"bfifo", parse_bfifo},
};

}  // namespace

DisciplineInfo parse_discipline(ByteSpan body) {
  const auto header = header_of<tcmsg>(body);
  const ByteSpan attributes = attributes_after(body, sizeof(header));
  DisciplineInfo info;
  info.kind = attribute_string(attributes, TCA_KIND);
  info.handle = header.tcm_handle;
  info.parent = header.tcm_parent;
  const auto parser = std::ranges::find(kKinds, info.kind, &KindParser::kind);
  const ByteSpan options = find_attribute(attributes, TCA_OPTIONS);
  if (parser != kKinds.end() && !options.empty()) {
    parser->parse(options, info.parameters);
  }
  return info;
}

int discipline_interface(ByteSpan body) { return header_of<tcmsg>(body).tcm_ifindex; }

}  // namespace netbench::facts
