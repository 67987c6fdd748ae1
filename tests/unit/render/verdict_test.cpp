#include "report/render/verdict.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "report/render/verdict_evidence.hpp"
#include "report/render/verdict_rank.hpp"
#include "report/render/verdict_retest.hpp"
#include "tests/golden/golden.hpp"
#include "tests/unit/model/sample/sample_document.hpp"

namespace netbench::report {
namespace {

Finding finding(const std::string& id, Severity severity, Confidence confidence) {
  Finding finding;
  finding.id = id;
  finding.class_id = "X01";
  finding.severity = severity;
  finding.confidence = confidence;
  finding.cause = "The cause of " + id + ".";
  return finding;
}

/// A verdict with everything, and more findings behind it.
Document judged() {
  Document document = test::sample_document();
  Finding& verdict = document.findings.front();
  verdict.severity = Severity::problem;
  verdict.confidence = Confidence::confirmed;
  verdict.evidence = {"/measurements/3/summary/goodput_bps",
                      "/measurements/3/rounds/0/counters/initiator/tcp_info.rtt_us",
                      "/measurements/3/rounds/1/counters/initiator/tcp_info.rtt_us",
                      "/measurements/4/tunables/effective/responder/tcp.rcvbuf",
                      "/interventions/0"};
  verdict.remedy = {"on gpu1: sysctl -w net.core.rmem_max=16777216", "netbench pair --peer HOST"};
  verdict.ruled_out = {"W02 tcp.send-buffer: the sender waited 0.0 % of the time",
                       "Q01 path.loss: none"};
  verdict.not_evaluated = {"pcie.width: no PCIe device", "a", "b", "c"};
  for (Round& round : document.measurements[3].rounds) {
    round.initiator.counters["tcp_info.rtt_us"] = 10'200;
  }
  document.findings.push_back(finding("mtu.mismatch", Severity::warning, Confidence::likely));
  document.findings.push_back(finding("host.note", Severity::info, Confidence::likely));
  document.findings.push_back(finding("cpu.thread", Severity::warning, Confidence::excluded));
  return document;
}

std::size_t at(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << " is not in:\n" << text;
  return text.find(part);
}

TEST(Verdict, SaysCauseEvidenceFixAndRetest) {
  test::expect_golden(verdict_text(judged(), {false, 100}), "render/verdict.txt");
}

TEST(Verdict, FitsOnAScreen) {
  const std::string text = verdict_text(judged(), {false, 80});
  EXPECT_LE(std::ranges::count(text, '\n'), 25);
}

TEST(Verdict, IsBoldOnlyWithColour) {
  EXPECT_NE(verdict_text(judged(), {true, 100}).find("\x1b[1mThe receive buffer"),
            std::string::npos);
  EXPECT_EQ(verdict_text(judged(), {false, 100}).find('\x1b'), std::string::npos);
}

TEST(Verdict, TellsFurtherFindingsInTheirOrderAndLeavesOutWhatWasExcluded) {
  const std::string text = verdict_text(judged(), {false, 100});
  EXPECT_LT(at(text, "warning, likely: The cause of mtu.mismatch"), at(text, "info, likely: "));
  EXPECT_EQ(text.find("The cause of cpu.thread"), std::string::npos);
  EXPECT_LT(at(text, "Ruled out"), at(text, "X01 cpu.thread"));
}

TEST(Verdict, OfADocumentWithoutFindingsIsEmpty) { EXPECT_EQ(verdict_text(Document{}), ""); }

TEST(Verdict, CountsWhatDoesNotFit) {
  Document document = judged();
  for (int i = 0; i < 20; ++i) {
    document.findings.push_back(
        finding(fmt::format("host.note-{}", i), Severity::info, Confidence::possible));
  }
  const std::string text = verdict_text(document, {false, 100});
  EXPECT_LE(std::ranges::count(text, '\n'), 30);
  at(text, "and 18 more");
}

TEST(Verdict, NeverCutsACommand) {
  Document document = judged();
  const std::string command = "on gpu1: sysctl -w " + std::string(300, 'x');
  document.findings.front().remedy = {command};
  at(verdict_text(document, {false, 60}), command);
}

TEST(Verdict, GivesFurtherWarningsWholeWithTheirFirstFix) {
  Document document = judged();
  document.findings[1].cause = "The cause is long: " + std::string(90, 'y') + " and its end.";
  document.findings[1].remedy = {"ip link set eth0 mtu 9000", "second"};
  const std::string text = verdict_text(document, {false, 80});
  at(text, "and its end. (X01 mtu.mismatch)");
  at(text, "fix: ip link set eth0 mtu 9000\n");
  EXPECT_EQ(text.find("second"), std::string::npos);
}

TEST(Verdict, InFullLeavesNothingOutAboveLevelInfo) {
  Document document = judged();
  for (int i = 0; i < 9; ++i) {
    const std::string key = fmt::format("tcp_info.x{}", i);
    document.measurements[3].rounds[0].initiator.counters[key] = i + 1;
    document.findings[1].evidence.push_back("/measurements/3/rounds/0/counters/initiator/" + key);
  }
  document.findings[1].remedy = {"one", "two"};
  const std::string text = findings_text(document, {false, 80});
  at(text, "warning, likely: the evidence of both hosts fits it");
  at(text, "tcp_info.x8 = 9");
  EXPECT_LT(at(text, "one\n"), at(text, "two\n"));
  EXPECT_EQ(text.find("host.note"), std::string::npos);
  EXPECT_EQ(text.find("cpu.thread"), std::string::npos);
}

TEST(Evidence, PutsWhatDecidesFirstAndProgressLast) {
  Document document = judged();
  Finding& verdict = document.findings.front();
  verdict.cause = "The value stray is odd.";
  const std::string counters = "/measurements/3/rounds/0/counters/initiator/";
  auto& values = document.measurements[3].rounds[0].initiator.counters;
  verdict.evidence.clear();
  for (const auto& [key, value] :
       {std::pair{"tcp_info.bytes_acked", 9.0}, std::pair{"tcp_info.total_retrans", 0.0},
        std::pair{"plain.thing", 1.0}, std::pair{"tcp_info_max.snd_wnd", 65'536.0},
        std::pair{"x.stray_bytes", 2.0}}) {
    values[key] = value;
    verdict.evidence.push_back(counters + key);
  }
  verdict.evidence.emplace_back("/measurements/3/summary/goodput_bps");
  const std::vector<std::string> expected{
      "/measurements/3/summary/goodput_bps", counters + "x.stray_bytes",
      counters + "tcp_info_max.snd_wnd",     counters + "plain.thing",
      counters + "tcp_info.bytes_acked",     counters + "tcp_info.total_retrans"};
  EXPECT_EQ(ranked_evidence(document, verdict), expected);
}

TEST(Verdict, LetsNoControlCharactersThrough) {
  Document document = judged();
  document.findings.front().cause = "a\x1b]0;b\x07";
  document.findings.front().remedy = {"c\x1b[2J"};
  EXPECT_EQ(verdict_text(document).find_first_of("\x1b\x07"), std::string::npos);
}

TEST(Verdict, SpeaksOfBothHostsOnlyWhereBothWereSeen) {
  Document document = judged();
  document.findings.front().confidence = Confidence::likely;
  at(verdict_text(document, {false, 120}), "the evidence of both hosts fits it");
  document.hosts.erase("h1");
  at(verdict_text(document, {false, 120}), "the evidence fits it, and nothing speaks against it");
}

TEST(Evidence, HasTheUnitOfItsKey) {
  EXPECT_EQ(quantity_text("tcp_info.rtt_us", Value(10'200.0)), "10.2 ms");
  EXPECT_EQ(quantity_text("tcp_info.rcv_wnd", Value(65'536.0)), "64 KiB");
  EXPECT_EQ(quantity_text("tcp_info.rwnd_limited_us", Value(0.0)), "0 us");
  EXPECT_EQ(quantity_text("sysctl.net.ipv4.tcp_moderate_rcvbuf", Value(1.0)), "1");
  EXPECT_EQ(quantity_text("tcp.sndbuf", Value(std::int64_t{8 << 20})), "8 MiB");
  EXPECT_EQ(quantity_text("memory.total_bytes", Value(std::int64_t{16'384'004} << 10)), "15.6 GiB");
  EXPECT_EQ(quantity_text("if.eth0.speed_bps", Value(std::int64_t{10'000'000'000})), "10.00 Gb/s");
  EXPECT_EQ(quantity_text("send.busiest_cpu_share", Value(0.987)), "98.7 %");
  EXPECT_EQ(quantity_text("netstat.TCPTimeouts", Value(3.0)), "3");
  EXPECT_EQ(quantity_text("cpu.governor", Value(std::string("powersave"))), "powersave");
  EXPECT_EQ(quantity_text("if.eth0.eee.enabled", Value(true)), "on");
}

TEST(Evidence, NamesTheHostAndLeavesOutWhatLeadsNowhere) {
  const Document document = judged();
  const auto lines =
      evidence_lines(document, {"/measurements/99/summary/goodput_bps", "/error/code",
                                "/measurements/4/tunables/effective/responder/tcp.rcvbuf"});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines[0].starts_with("gpu1: tcp.rcvbuf = ")) << lines[0];
}

TEST(Retest, RunsTheRowOfTheEvidenceWithItsTunables) {
  Document document = judged();
  document.run.authenticated = false;
  document.measurements[3].tunables.requested = {{"tcp.streams", std::int64_t{4}},
                                                 {"tcp.rcvbuf", std::string("auto")}};
  EXPECT_EQ(retest_command(document, document.findings.front()),
            "netbench pair --peer 192.168.1.101 --insecure --transport tcp --workload bandwidth "
            "--direction forward --size 1M --tcp.streams 4");
}

TEST(Retest, ElseRunsTheSameCommandWithoutItsOutputs) {
  Document document = test::failed_document();
  document.run.command_line = {"netbench", "pair",    "--peer",  "gpu 1",    "--json",     "a.json",
                               "--quick",  "--csv=x", "--quiet", "--stream", "--markdown", "b.md"};
  EXPECT_EQ(retest_command(document, Finding{}), "netbench pair --peer 'gpu 1' --quick");
  EXPECT_EQ(retest_command(Document{}, Finding{}), "netbench pair --peer HOST");
}

}  // namespace
}  // namespace netbench::report
