#include "report/document/writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "bench/core/clock.hpp"
#include "bench/core/unique_fd.hpp"
#include "report/document/document.hpp"

namespace netbench::report {

namespace {

constexpr std::int64_t kMinGapNs = 1'000'000'000;
constexpr std::int64_t kGapPerCost = 20;

tl::unexpected<Error> write_error(const std::string& path, int sys_errno) {
  const bool full = sys_errno == ENOSPC || sys_errno == EDQUOT || sys_errno == EFBIG;
  auto failure = fail_errno(full ? "output-full" : "output-failed", fmt::format("writing {}", path),
                            sys_errno);
  if (full) {
    failure.value().remedy = "Free space there; what was saved before is kept.";
  }
  return failure;
}

tl::unexpected<Error> exists_error(const std::string& path, std::string_view what) {
  return fail("output-exists", fmt::format("{} {}", path, what),
              "Choose another name, or continue that run with --resume.", ExitClass::usage);
}

/// 0, or the errno of the failed write.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      return errno;
    }
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
  return 0;
}

std::string directory_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

/// Makes a rename survive a power cut (fsync(2): the directory has to be synced too).
void sync_directory(const std::string& path) {
  const UniqueFd directory(::open(directory_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.valid()) {
    ::fsync(directory.get());
  }
}

/// rename(2) that leaves an existing target alone: 0 or errno, EEXIST among them. File systems
/// without RENAME_NOREPLACE get a hard link instead.
int rename_exclusively(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) {
    return 0;
  }
  if (errno != EINVAL && errno != ENOSYS) {
    return errno;
  }
  if (::link(from.c_str(), to.c_str()) != 0) {
    return errno;
  }
  ::unlink(from.c_str());
  return 0;
}

/// Writes and syncs a new file at `path`: 0 or errno.
int write_file(const std::string& path, std::string_view text) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.valid()) {
    return errno;
  }
  if (const int failure = write_all(file.get(), text); failure != 0) {
    return failure;
  }
  return ::fsync(file.get()) == 0 ? 0 : errno;
}

/// Writes an existing device or pipe, or standard output: 0 or errno.
int write_stream(const std::string& path, std::string_view text) {
  if (path == "-") {
    return write_all(STDOUT_FILENO, text);
  }
  const UniqueFd stream(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return stream.valid() ? write_all(stream.get(), text) : errno;
}

std::string temporary_path(const std::string& path) { return path + ".partial.tmp"; }

/// Whether the directory takes new files: tried, since permissions alone do not tell (read-only
/// mounts, quotas).
Status probe(const std::string& path) {
  const std::string temporary = temporary_path(path);
  const UniqueFd file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.valid()) {
    auto failure = fail_errno("output-unwritable", fmt::format("creating a file beside {}", path),
                              errno, ExitClass::usage);
    failure.value().remedy = "Choose a directory that exists and that you may write to.";
    return failure;
  }
  ::unlink(temporary.c_str());
  return {};
}

}  // namespace

Result<DocumentWriter> DocumentWriter::create(const std::string& path,
                                              const WriterOptions& options) {
  struct stat info {};
  const bool exists = path != "-" && ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) {
    return fail("output-unwritable", fmt::format("{} is a directory", path), "Name a file in it.",
                ExitClass::usage);
  }
  if (path == "-" || (exists && !S_ISREG(info.st_mode))) {
    return DocumentWriter(path, Target::stream, false);
  }
  if (exists && !options.resume) {
    return exists_error(path, "exists already, and is not overwritten");
  }
  DocumentWriter writer(path, Target::file, options.resume);
  if (!options.resume && ::access(writer.partial_path().c_str(), F_OK) == 0) {
    return exists_error(writer.partial_path(), "holds an unfinished run");
  }
  if (Status writable = probe(path); !writable) {
    return tl::unexpected<Error>(writable.error());
  }
  return writer;
}

std::string DocumentWriter::partial_path() const {
  return target_ == Target::stream ? std::string() : path_ + ".partial";
}

Status DocumentWriter::write_partial(const Document& document) {
  return monotonic_ns() < next_partial_ns_ ? Status{} : write_partial_now(document);
}

Status DocumentWriter::write_partial_now(const Document& document) {
  if (target_ == Target::stream) {
    return {};
  }
  const std::int64_t start_ns = monotonic_ns();
  Status saved = save(document_text(document), partial_path(), true);
  const std::int64_t end_ns = monotonic_ns();
  next_partial_ns_ = end_ns + std::max(kMinGapNs, kGapPerCost * (end_ns - start_ns));
  return saved;
}

Status DocumentWriter::finish(const Document& document) {
  const std::string text = document_text(document);
  if (target_ == Target::stream) {
    const int failure = write_stream(path_, text);
    return failure == 0 ? Status{}
                        : Status{write_error(path_ == "-" ? "standard output" : path_, failure)};
  }
  Status saved = save(text, path_, replace_);
  if (saved) {
    ::unlink(partial_path().c_str());
    sync_directory(path_);
  }
  return saved;
}

Status DocumentWriter::save(const std::string& text, const std::string& to, bool replace) const {
  const std::string temporary = temporary_path(path_);
  int failure = write_file(temporary, text);
  if (failure == 0) {
    failure = replace ? (std::rename(temporary.c_str(), to.c_str()) == 0 ? 0 : errno)
                      : rename_exclusively(temporary, to);
  }
  if (failure == 0) {
    return {};
  }
  if (failure != EEXIST) {
    ::unlink(temporary.c_str());
    return write_error(to, failure);
  }
  std::rename(temporary.c_str(), partial_path().c_str());
  return exists_error(to,
                      fmt::format("was made by someone else meanwhile; this run's result is in {}",
                                  partial_path()));
}

Result<std::optional<Document>> read_resumable(const std::string& path) {
  const std::string partial = path + ".partial";
  const bool has_partial = ::access(partial.c_str(), F_OK) == 0;
  if (!has_partial && (path == "-" || ::access(path.c_str(), F_OK) != 0)) {
    return std::nullopt;
  }
  Result<Document> document = read_document(has_partial ? partial : path);
  if (!document) {
    return tl::unexpected<Error>(std::move(document.error()));
  }
  if (!has_partial && document->status == DocumentStatus::ok) {
    return fail("already-complete", fmt::format("{} is finished; nothing is left to resume", path),
                "Choose another name for a new run.", ExitClass::usage);
  }
  return std::optional<Document>(std::move(*document));
}

}  // namespace netbench::report
