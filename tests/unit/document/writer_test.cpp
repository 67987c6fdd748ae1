#include "report/document/writer.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "report/document/document.hpp"
#include "tests/unit/document/temporary_folder.hpp"
#include "tests/unit/model/sample/sample_document.hpp"

namespace netbench::report {
namespace {

/// A document with `rows` measurements, so that versions can be told apart.
Document document_of(std::size_t rows) {
  Document document = test::failed_document();
  for (std::size_t i = 0; i < rows; ++i) {
    document.measurements.push_back(test::stream_row("row" + std::to_string(i), 1, 1e9));
  }
  return document;
}

std::size_t rows_in(const std::string& path) {
  return read_document(path).value().measurements.size();
}

DocumentWriter writer_for(const std::string& path, bool resume = false) {
  Result<DocumentWriter> writer = DocumentWriter::create(path, {resume});
  EXPECT_TRUE(writer.has_value()) << (writer ? "" : writer.error().message);
  return std::move(*writer);
}

/// Limits the size of files this process writes, so that write(2) fails as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    old_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit old_{};
  void (*old_handler_)(int) = nullptr;
};

TEST(DocumentWriter, CreatesNothingBeforeTheFirstWrite) {
  const test::TemporaryFolder folder;
  static_cast<void>(writer_for(folder.file("r.json")));
  EXPECT_EQ(folder.count(), 0U);
}

TEST(DocumentWriter, SavesPartsAsideAndRenamesAtTheEnd) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("r.json");
  DocumentWriter writer = writer_for(path);
  ASSERT_TRUE(writer.write_partial(document_of(1)).has_value());
  EXPECT_EQ(rows_in(path + ".partial"), 1U);
  EXPECT_FALSE(std::filesystem::exists(path));
  ASSERT_TRUE(writer.finish(document_of(3)).has_value());
  EXPECT_EQ(rows_in(path), 3U);
  EXPECT_EQ(folder.count(), 1U);
}

TEST(DocumentWriter, SkipsSavesThatComeTooSoon) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("r.json");
  DocumentWriter writer = writer_for(path);
  ASSERT_TRUE(writer.write_partial(document_of(1)).has_value());
  ASSERT_TRUE(writer.write_partial(document_of(2)).has_value());
  EXPECT_EQ(rows_in(path + ".partial"), 1U);
  ASSERT_TRUE(writer.write_partial_now(document_of(3)).has_value());
  EXPECT_EQ(rows_in(path + ".partial"), 3U);
}

TEST(DocumentWriter, RefusesAFileThatExists) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("r.json");
  test::write_text(path, "precious");
  const Result<DocumentWriter> writer = DocumentWriter::create(path);
  ASSERT_FALSE(writer.has_value());
  EXPECT_EQ(writer.error().slug, "output-exists");
  EXPECT_EQ(writer.error().exit_class, ExitClass::usage);
  EXPECT_NE(writer.error().remedy.find("--resume"), std::string::npos);
  EXPECT_EQ(test::read_text(path), "precious");
}

TEST(DocumentWriter, RefusesToOverwriteAnUnfinishedRun) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("r.json");
  test::write_text(path + ".partial", "precious");
  EXPECT_EQ(DocumentWriter::create(path).error().slug, "output-exists");
  EXPECT_TRUE(DocumentWriter::create(path, {.resume = true}).has_value());
  EXPECT_EQ(test::read_text(path + ".partial"), "precious");
}

TEST(DocumentWriter, ResumingReplacesTheOldFileAtTheEndOnly) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("r.json");
  test::write_text(path, document_text(document_of(1)));
  DocumentWriter writer = writer_for(path, true);
  ASSERT_TRUE(writer.write_partial(document_of(2)).has_value());
  EXPECT_EQ(rows_in(path), 1U);
  ASSERT_TRUE(writer.finish(document_of(3)).has_value());
  EXPECT_EQ(rows_in(path), 3U);
  EXPECT_EQ(folder.count(), 1U);
}

TEST(DocumentWriter, RefusesAFolderThatDoesNotTakeFiles) {
  const test::TemporaryFolder folder;
  for (const std::string& path :
       {folder.file("missing/r.json"), folder.file(""), std::string("/proc/r.json")}) {
    const Result<DocumentWriter> writer = DocumentWriter::create(path);
    ASSERT_FALSE(writer.has_value()) << path;
    EXPECT_EQ(writer.error().slug, "output-unwritable");
    EXPECT_EQ(writer.error().exit_class, ExitClass::usage);
  }
}

TEST(DocumentWriter, AFullDiskCostsTheSaveButNotTheEarlierOne) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("r.json");
  DocumentWriter writer = writer_for(path);
  ASSERT_TRUE(writer.write_partial_now(document_of(1)).has_value());
  {
    const FileSizeLimit limit(4096);
    const Status partial = writer.write_partial_now(document_of(50));
    ASSERT_FALSE(partial.has_value());
    EXPECT_EQ(partial.error().slug, "output-full");
    const Status finished = writer.finish(document_of(50));
    ASSERT_FALSE(finished.has_value());
    EXPECT_EQ(finished.error().slug, "output-full");
  }
  EXPECT_EQ(rows_in(path + ".partial"), 1U);
  EXPECT_EQ(folder.count(), 1U);
  EXPECT_TRUE(writer.finish(document_of(50)).has_value());
}

TEST(DocumentWriter, AFullDeviceIsAFullOutput) {
  if (::access("/dev/full", W_OK) != 0) {
    GTEST_SKIP() << "there is no writable /dev/full";
  }
  DocumentWriter writer = writer_for("/dev/full");
  EXPECT_TRUE(writer.write_partial(document_of(1)).has_value());
  EXPECT_EQ(writer.finish(document_of(1)).error().slug, "output-full");
}

TEST(DocumentWriter, KeepsBothWhenAnotherRunTookTheName) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("r.json");
  DocumentWriter writer = writer_for(path);
  test::write_text(path, "precious");
  const Status finished = writer.finish(document_of(2));
  ASSERT_FALSE(finished.has_value());
  EXPECT_EQ(finished.error().slug, "output-exists");
  EXPECT_EQ(test::read_text(path), "precious");
  EXPECT_EQ(rows_in(path + ".partial"), 2U);
}

TEST(DocumentWriter, StandardOutputGetsOneDocumentAndNoPartialOnes) {
  DocumentWriter writer = writer_for("-");
  EXPECT_TRUE(writer.is_stdout());
  EXPECT_EQ(writer.partial_path(), "");
  testing::internal::CaptureStdout();
  EXPECT_TRUE(writer.write_partial(document_of(1)).has_value());
  EXPECT_TRUE(writer.finish(document_of(2)).has_value());
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(text, document_text(document_of(2)));
}

TEST(ReadResumable, FindsThePartialFileFirst) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("r.json");
  EXPECT_FALSE(read_resumable(path).value().has_value());
  Document partial = document_of(1);
  partial.status = DocumentStatus::partial;
  test::write_text(path, document_text(partial));
  EXPECT_EQ(read_resumable(path).value()->measurements.size(), 1U);
  test::write_text(path + ".partial", document_text(document_of(2)));
  EXPECT_EQ(read_resumable(path).value()->measurements.size(), 2U);
}

TEST(ReadResumable, AFinishedRunHasNothingToResume) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("r.json");
  test::write_text(path, document_text(test::sample_document()));
  EXPECT_EQ(read_resumable(path).error().slug, "already-complete");
}

TEST(ReadResumable, ADamagedFileIsAnError) {
  const test::TemporaryFolder folder;
  test::write_text(folder.file("r.json.partial"), "{");
  EXPECT_EQ(read_resumable(folder.file("r.json")).error().slug, "document-truncated");
}

}  // namespace
}  // namespace netbench::report
