#include "transports/rdma/gid_pair.hpp"

#include <algorithm>
#include <compare>
#include <utility>

namespace netbench::rdma {
namespace {

/// Of the pairs looked at, so many are told.
constexpr std::size_t kMaxRefused = 8;

/// Smaller is better. Nothing in it depends on which end is called the first.
struct Rank {
  int type = 0;
  int distance = 0;
  int family = 0;
  std::uint32_t indices = 0;  // their sum
  std::pair<Gid, Gid> addresses;
  auto operator<=>(const Rank&) const = default;
};

struct Candidate {
  Rank rank;
  GidEntry first;
  GidEntry second;
  std::string reason;
};

/// A candidate, or why it is none.
struct Judged {
  Candidate candidate;
  std::string refusal;
};

/// What both tables are looked at with.
struct Circumstances {
  bool same_link = false;
  bool both_asked = false;  // for an index, on both ends
};

bool same_bits(const Gid& first, const Gid& second, std::size_t bits) {
  const std::size_t whole = bits / 8;
  const auto mask = static_cast<std::uint8_t>(0xff00 >> (bits % 8));
  return std::equal(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(whole),
                    second.begin()) &&
         (bits % 8 == 0 || (first[whole] & mask) == (second[whole] & mask));
}

/// Of the address as 128 bits; 0: unknown.
std::size_t prefix_of(const GidEntry& gid) {
  constexpr std::size_t kMappedBits = 96;
  const bool v4 = family_of(gid.address) == GidFamily::ipv4;
  return gid.prefix_bits == 0 ? 0 : gid.prefix_bits + (v4 ? kMappedBits : 0);
}

bool share_subnet(const GidEntry& first, const GidEntry& second) {
  const std::size_t bits = prefix_of(first);
  return bits != 0 && bits == prefix_of(second) && bits <= 128 &&
         same_bits(first.address, second.address, bits);
}

std::string refusal_on_ethernet(const GidEntry& first, const GidEntry& second,
                                const Circumstances& given) {
  const GidFamily family = family_of(first.address);
  if (first.type != second.type) {
    return std::string(name_of(first.type)) + " against " + name_of(second.type);
  }
  if (family != family_of(second.address)) {
    return std::string(name_of(family)) + " against " + name_of(family_of(second.address));
  }
  if (given.same_link || given.both_asked) {
    return "";
  }
  if (family == GidFamily::link_local) {
    return "link-local, and nothing shows that both ends are on one link";
  }
  return first.type == GidType::roce_v1 && !share_subnet(first, second)
             ? "RoCE v1 is not routed, and the subnets differ"
             : "";
}

Rank rank_of(int type, int distance, int family, const GidEntry& first, const GidEntry& second) {
  return {type, distance, family, first.index + second.index,
          std::minmax({first.address, second.address})};
}

Candidate candidate_on_ethernet(const GidEntry& first, const GidEntry& second) {
  const GidFamily family = family_of(first.address);
  const bool local = family == GidFamily::link_local;
  const bool near = !local && share_subnet(first, second);
  const char* distance = near ? "same subnet" : local ? "one link" : "other subnet, by a route";
  return {rank_of(first.type == GidType::roce_v2 ? 0 : 1, local ? 2 : (near ? 0 : 1),
                  static_cast<int>(family), first, second),
          first, second,
          std::string(name_of(first.type)) + ", " + name_of(family) + ", " + distance};
}

/// GIDs of InfiniBand ports begin with the subnet's prefix (IBTA 1.4, 4.1.1).
Candidate candidate_on_infiniband(const GidEntry& first, const GidEntry& second) {
  constexpr std::size_t kPrefixBits = 64;
  const bool near = same_bits(first.address, second.address, kPrefixBits);
  return {rank_of(0, near ? 0 : 1, 0, first, second), first, second,
          std::string("InfiniBand, ") + (near ? "same subnet" : "other subnet, by a router")};
}

Judged judge(const GidEntry& first, const GidEntry& second, LinkLayer layer,
             const Circumstances& given) {
  if (layer == LinkLayer::infiniband) {
    return {candidate_on_infiniband(first, second), ""};
  }
  std::string refusal = refusal_on_ethernet(first, second, given);
  return {refusal.empty() ? candidate_on_ethernet(first, second) : Candidate{{}, first, second, ""},
          std::move(refusal)};
}

/// The entries that its user's wishes leave.
std::vector<GidEntry> eligible(const GidOffer& offer) {
  std::vector<GidEntry> left;
  std::ranges::copy_if(offer.port.gids, std::back_inserter(left), [&offer](const GidEntry& gid) {
    return (!offer.index || gid.index == *offer.index) &&
           (offer.interface.empty() || gid.interface == offer.interface);
  });
  return left;
}

std::string wishes_of(const GidOffer& offer) {
  return (offer.index ? ", index " + std::to_string(*offer.index) + " asked for" : "") +
         (offer.interface.empty() ? "" : ", interface " + offer.interface + " asked for");
}

Failure no_pair(const GidOffer& first, const GidOffer& second, const std::string& why) {
  constexpr std::size_t kShown = 3;
  return fail(NB_FAILED, "rdma-no-gid-pair",
              "no pair of GIDs (" + why + "): " + table_in_short(first.port, kShown) +
                  wishes_of(first) + " and " + table_in_short(second.port, kShown) +
                  wishes_of(second),
              "give both interfaces addresses of one family, in one subnet or with a route");
}

std::optional<Failure> unlike_layers(const GidOffer& first, const GidOffer& second) {
  const LinkLayer layer = first.port.link_layer;
  if (layer != second.port.link_layer) {
    return fail(NB_FAILED, "rdma-link-layers-differ",
                rail_name(first.port) + " is " + name_of(layer) + ", " + rail_name(second.port) +
                    " is " + name_of(second.port.link_layer),
                "choose ports of one kind");
  }
  return std::nullopt;
}

/// All pairs, the candidates first and the best of them at the front.
std::vector<Judged> judge_all(const GidOffer& first, const GidOffer& second, bool same_link) {
  const Circumstances given{same_link, first.index && second.index};
  const std::vector<GidEntry> others = eligible(second);
  std::vector<Judged> judged;
  for (const GidEntry& mine : eligible(first)) {
    for (const GidEntry& other : others) {
      judged.push_back(judge(mine, other, first.port.link_layer, given));
    }
  }
  std::ranges::stable_sort(judged, {}, [](const Judged& entry) {
    return std::pair(!entry.refusal.empty(), entry.candidate.rank);
  });
  return judged;
}

RefusedPair refused(const Judged& judged) {
  return {judged.candidate.first.index, judged.candidate.second.index,
          judged.refusal.empty() ? "comes after it: " + judged.candidate.reason : judged.refusal};
}

}  // namespace

GidPair GidPair::swapped() const {
  GidPair other{second, first, reason, refused};
  for (RefusedPair& pair : other.refused) {
    std::swap(pair.first_index, pair.second_index);
  }
  return other;
}

Result<GidPair> choose_gid_pair(const GidOffer& first, const GidOffer& second, bool same_link) {
  if (std::optional<Failure> failure = unlike_layers(first, second)) {
    return *failure;
  }
  const std::vector<Judged> judged = judge_all(first, second, same_link);
  if (judged.empty()) {
    return no_pair(first, second, "one end has none to choose from");
  }
  const Judged& best = judged.front();
  if (!best.refusal.empty()) {
    return no_pair(first, second, best.refusal);
  }
  GidPair pair{best.candidate.first, best.candidate.second, best.candidate.reason, {}};
  for (std::size_t i = 1; i < judged.size() && i <= kMaxRefused; ++i) {
    pair.refused.push_back(refused(judged[i]));
  }
  return pair;
}

std::string table_in_short(const PortDescription& port, std::size_t limit) {
  std::string text = rail_name(port) + " has";
  for (std::size_t i = 0; i < std::min(port.gids.size(), limit); ++i) {
    const GidEntry& gid = port.gids[i];
    text += (i == 0 ? " [" : ", [") + std::to_string(gid.index) + "] " + text_of(gid.address) +
            " " + name_of(gid.type) + (gid.interface.empty() ? "" : " " + gid.interface);
  }
  if (port.gids.empty()) {
    return text + " no GID";
  }
  return port.gids.size() > limit
             ? text + " and " + std::to_string(port.gids.size() - limit) + " more"
             : text;
}

}  // namespace netbench::rdma
