#include "report/document/redact.hpp"

#include <gtest/gtest.h>

#include "report/document/document.hpp"
#include "tests/unit/model/sample/sample_document.hpp"

namespace netbench::report {
namespace {

std::string redacted_note(const std::string& note) {
  Document document = test::sample_document();
  document.measurements[0].tunables.notes = {note};
  return redact(std::move(document)).measurements[0].tunables.notes[0];
}

TEST(Redact, LeavesNoTraceOfNamesAddressesAndSerials) {
  Document document = test::sample_document();
  document.run.command_line = {"netbench",   "pair",
                               "--peer",     "ssh://alice@gpu1.lab.example:22",
                               "--key-file", "/home/alice/key",
                               "--source",   "[2001:db8::101]"};
  document.config["peer"] = std::string("ssh://alice@gpu1.lab.example:22");
  const std::string text = document_text(redact(document));
  for (const char* secret : {"gpu0", "gpu1", "192.168.1.", "2001:db8", "0c:42:a1", "SN00-77",
                             "5f1c7d52", "a81e02c4", "alice", "lab.example"}) {
    EXPECT_EQ(text.find(secret), std::string::npos) << secret;
  }
}

TEST(Redact, KeepsTheMeasurements) {
  const Document document = test::sample_document();
  const Document redacted = redact(document);
  ASSERT_EQ(redacted.measurements.size(), document.measurements.size());
  EXPECT_EQ(redacted.measurements[3], document.measurements[3]);
  EXPECT_EQ(redacted.hosts.at("h0").facts[1], document.hosts.at("h0").facts[1]);
  EXPECT_EQ(redacted.run.started_utc, document.run.started_utc);
  EXPECT_EQ(redacted.run.id, document.run.id);
}

TEST(Redact, EqualTextsGetEqualStandIns) {
  const Document redacted = redact(test::sample_document());
  const std::string responder = redacted.hosts.at("h1").addresses[0];
  EXPECT_NE(responder, redacted.hosts.at("h0").addresses[0]);
  EXPECT_EQ(redacted.run.command_line[3], responder);
  EXPECT_EQ(redacted.measurements[7].error->message,
            "receiving from " + responder + ": no data for 5 s");
  EXPECT_EQ(redacted.measurements[7].error->remedy,
            "Look at the agent's log on " + redacted.hosts.at("h1").name + ".");
}

TEST(Redact, EqualBootIdsStayEqual) {
  Document document = test::sample_document();
  document.hosts.at("h1").boot_id = document.hosts.at("h0").boot_id;
  const Document redacted = redact(std::move(document));
  EXPECT_EQ(redacted.hosts.at("h0").boot_id, redacted.hosts.at("h1").boot_id);
}

TEST(Redact, FindsAddressesInsideText) {
  EXPECT_EQ(redacted_note("to 10.1.2.3:18550 by fe80::1%eth0, 10.1.2.3."),
            "to address-4:18550 by address-5%eth0, address-4.");
  EXPECT_EQ(redacted_note("GID fe80:0000:0000:0000:0c42:a103:00ab:cdef"), "GID address-4");
  EXPECT_EQ(redacted_note("neighbour aa:bb:cc:dd:ee:ff"), "neighbour id-6");
}

TEST(Redact, LeavesWhatOnlyLooksLikeAnAddress) {
  for (const char* text : {"127.0.0.1 and ::1", "at 20:15:00", "PCI 0000:3b:00.0", "1.5 to 2.5",
                           "added face", "std::string", "100 B/200"}) {
    EXPECT_EQ(redacted_note(text), text);
  }
}

}  // namespace
}  // namespace netbench::report
