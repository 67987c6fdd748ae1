#include "report/render/verdict_rank.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string_view>

#include "bench/model/pointer.hpp"
#include "report/render/format.hpp"

namespace netbench::report {

namespace {

enum class Rank { result, named, telling, other, idle };

struct RankOf {
  std::string_view part;  // of the pointer
  Rank rank;
};

/// The first that matches counts.
constexpr std::array<RankOf, 21> kRanks{{{"/interventions/", Rank::result},
                                         {"/summary/goodput", Rank::result},
                                         {"/error/", Rank::result},
                                         {"bytes_acked", Rank::idle},
                                         {"tcp_info.backoff", Rank::idle},
                                         {"snd_wnd", Rank::telling},
                                         {"rtt_us", Rank::telling},
                                         {"_limited_us", Rank::telling},
                                         {"snd_cwnd", Rank::telling},
                                         {"retrans", Rank::telling},
                                         {"/sock.", Rank::telling},
                                         {"/sock_max.", Rank::telling},
                                         {"/send.", Rank::telling},
                                         {"/recv.", Rank::telling},
                                         {"/qdisc.", Rank::telling},
                                         {"/qdisc_max.", Rank::telling},
                                         {"softirq_s", Rank::telling},
                                         {"pacing", Rank::telling},
                                         {"drops", Rank::telling},
                                         {"/facts/", Rank::telling},
                                         {"", Rank::other}}};

bool is_counter_of_zero(const Document& document, const std::string& pointer) {
  const auto value = value_at(document, pointer);
  return pointer.find("/counters/") != std::string::npos && value &&
         (*value == Value{std::int64_t{0}} || *value == Value{0.0});
}

/// Of a fact the key that it tells, else the pointer's last part.
std::string key_at(const Document& document, const std::string& pointer) {
  if (pointer.find("/facts/") != std::string::npos) {
    const auto key = value_at(document, pointer + "/key");
    return key ? value_text(*key) : std::string();
  }
  return pointer.substr(pointer.rfind('/') + 1);
}

/// "sysctl.net.ipv4.tcp_rmem_max_bytes" → "tcp_rmem": what a sentence calls it.
std::string spoken_name(const std::string& key) {
  constexpr std::array<std::string_view, 8> kEndings{"_bytes", "_bps", "_us",  "_s",
                                                     "_hz",    "_max", "_min", "_default"};
  std::string name = key.substr(key.rfind('.') + 1);
  for (const std::string_view ending : kEndings) {
    if (name.ends_with(ending)) {
      name.resize(name.size() - ending.size());
    }
  }
  return name;
}

bool is_letter(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

/// As a whole word.
bool names(const std::string& sentence, const std::string& word) {
  constexpr std::size_t kLeast = 3;  // letters that tell a name
  if (word.size() < kLeast) {
    return false;
  }
  for (auto at = sentence.find(word); at != std::string::npos; at = sentence.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_letter(sentence[at - 1])) &&
        (end == sentence.size() || !is_letter(sentence[end]))) {
      return true;
    }
  }
  return false;
}

Rank rank_of(const Document& document, const std::string& pointer) {
  const Rank rank = std::ranges::find_if(kRanks, [&](const RankOf& one) {
                      return pointer.find(one.part) != std::string::npos;
                    })->rank;
  return rank != Rank::result && is_counter_of_zero(document, pointer) ? Rank::idle : rank;
}

}  // namespace

std::vector<std::string> ranked_evidence(const Document& document, const Finding& finding) {
  std::vector<std::pair<Rank, std::string>> ranked;
  std::set<std::string> named;  // each name once: tcp_rmem has three values
  for (const std::string& pointer : finding.evidence) {
    Rank rank = rank_of(document, pointer);
    const std::string name = spoken_name(key_at(document, pointer));
    if (rank != Rank::result && rank != Rank::idle && names(finding.cause, name) &&
        named.insert(name).second) {
      rank = Rank::named;
    }
    ranked.emplace_back(rank, pointer);
  }
  std::ranges::stable_sort(ranked, {}, &std::pair<Rank, std::string>::first);
  std::vector<std::string> pointers;
  for (auto& [rank, pointer] : ranked) {
    pointers.push_back(std::move(pointer));
  }
  return pointers;
}

}  // namespace netbench::report
