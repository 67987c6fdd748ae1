#include "report/document/defuse.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace netbench::report {
namespace {

Document of_host(std::string name, std::vector<std::string> addresses, std::string interface,
                 std::vector<Fact> facts) {
  HostInfo host;
  host.name = std::move(name);
  host.addresses = std::move(addresses);
  host.interface = std::move(interface);
  host.facts = std::move(facts);
  Document document;
  document.hosts["h0"] = std::move(host);
  return document;
}

TEST(Defused, TextsOfHostsHoldNothingThatEndsAWordOfAShell) {
  const Document document =
      defused(of_host("nb-a;reboot", {"10.0.0.1$(id)"}, "eth0|sh",
                      {{"path.interface", "eth0`id`\n>'x'", "a & b", "no; not read"}}));
  const HostInfo& host = document.hosts.at("h0");
  EXPECT_EQ(host.name, "nb-a_reboot");
  EXPECT_EQ(host.addresses.at(0), "10.0.0.1_(id)");
  EXPECT_EQ(host.interface, "eth0_sh");
  EXPECT_EQ(host.facts.at(0).value, Value(std::string("eth0_id____x_")));
  EXPECT_EQ(host.facts[0].source, "a & b");
  EXPECT_EQ(host.facts[0].unknown_because, "no; not read");
}

TEST(Defused, AStackOfDevicesStaysReadable) {
  const Document document =
      defused(of_host("nb-a", {}, "", {{"if.bond0.stack", "bond0 > eth0,eth1", "sysfs", ""}}));
  EXPECT_EQ(document.hosts.at("h0").facts.at(0).value, Value(std::string("bond0 > eth0,eth1")));
}

TEST(Defused, LongTextsAreCutAtTheEndOfACharacter) {
  std::string name;
  for (int i = 0; i < 150; ++i) {
    name += "ü";
  }
  Document document = of_host("x" + name, {}, "", {});
  document.error = Error{"slug", std::string(5000, 'm'), "", ExitClass::error};
  const Document cut = defused(std::move(document));
  EXPECT_EQ(cut.hosts.at("h0").name, "x" + name.substr(0, 198) + "…");
  EXPECT_EQ(cut.error->message, std::string(1000, 'm') + "…");
}

TEST(Defused, OrdinaryDocumentsStayAsTheyAre) {
  const Document document = of_host("gpu-01.rack3", {"fe80::1%eth0"}, "enp1s0f0np0.7", {});
  EXPECT_EQ(defused(document), document);
}

}  // namespace
}  // namespace netbench::report
