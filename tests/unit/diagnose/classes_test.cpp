// Every class of the catalogue has a rule.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "report/diagnose/rule.hpp"

namespace netbench::report {
namespace {

struct Family {
  char letter;
  int classes;
};

// Windows and applications, links, MTU, paths, CPU, slots, bonds, consistency, connections.
constexpr Family kFamilies[] = {{'W', 14}, {'L', 16}, {'M', 6}, {'Q', 10}, {'K', 14},
                                {'P', 9},  {'B', 5},  {'V', 6}, {'C', 18}};

std::vector<std::string> catalogue() {
  std::vector<std::string> classes = {"C03b", "C03c"};
  for (const Family& family : kFamilies) {
    for (int i = 1; i <= family.classes; ++i) {
      classes.push_back(std::string(1, family.letter) + (i < 10 ? "0" : "") + std::to_string(i));
    }
  }
  return classes;
}

std::vector<Rule> rules() {
  std::vector<Rule> all;
  for (const RuleTable& table : all_rules()) {
    all.insert(all.end(), table.begin(), table.end());
  }
  return all;
}

TEST(Catalogue, HasARuleForEveryClass) {
  std::set<std::string_view> covered;
  for (const Rule& rule : rules()) {
    covered.insert(rule.class_id);
  }
  for (const std::string& one : catalogue()) {
    EXPECT_TRUE(covered.contains(one)) << one << " has no rule";
  }
}

TEST(Catalogue, NamesEveryRuleOnceAndPredictsPossibleFactors) {
  std::set<std::string_view> ids;
  for (const Rule& rule : rules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    for (const Prediction& prediction : rule.predictions) {
      EXPECT_LT(prediction.at_least, prediction.at_most) << rule.id << ' ' << prediction.experiment;
    }
  }
}

}  // namespace
}  // namespace netbench::report
