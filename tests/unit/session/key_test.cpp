#include "bench/session/key.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "bench/core/unique_fd.hpp"

namespace netbench::session {
namespace {

namespace fs = std::filesystem;

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (fs::temp_directory_path() / "netbench-key-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryDirectory() { fs::remove_all(path_); }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

Key counting_key() {
  Key::Bytes bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes.at(i) = static_cast<std::uint8_t>(i);
  }
  return Key(bytes);
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777U;
}

void put(const std::string& path, const std::string& text, fs::perms mode) {
  std::ofstream(path) << text;
  fs::permissions(path, mode);
}

constexpr fs::perms kPrivate = fs::perms::owner_read | fs::perms::owner_write;

TEST(Key, TextAndIdentityAreThoseOfOtherTools) {
  // printf of the bytes 0 … 31 through base64 and sha256sum.
  const Key key = counting_key();
  EXPECT_EQ(key.to_base64(), "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
  EXPECT_EQ(key.identity(), "nb1:630dcd2966c43366");
}

TEST(Key, EveryGeneratedKeyIsReadBackInEveryForm) {
  for (int i = 0; i < 200; ++i) {
    const Key key = Key::generate().value();
    const std::string text = key.to_base64();
    std::string url = text;
    std::ranges::replace(url, '+', '-');
    std::ranges::replace(url, '/', '_');
    for (const std::string& form : {text, url, text.substr(0, 43), " " + url + "\r\n"}) {
      ASSERT_TRUE(Key::parse(form) == Result<Key>(key)) << form;
    }
  }
}

TEST(Key, TwoGeneratedKeysDiffer) {
  EXPECT_FALSE(Key::generate().value() == Key::generate().value());
}

TEST(Key, MalformedTextIsRefusedAndNotRepeated) {
  const std::string good = counting_key().to_base64();
  for (const std::string& text :
       {std::string(), std::string("secret"), good.substr(1), good + "A", "*" + good.substr(1),
        good.substr(0, 42) + "9=" /* bits beyond the last byte */}) {
    const auto key = Key::parse(text);
    ASSERT_FALSE(key) << text;
    EXPECT_EQ(key.error().slug, "key-malformed");
    EXPECT_EQ(key.error().message.find("secret"), std::string::npos);
  }
}

TEST(KeyFile, IsPrivateInPrivateDirectoriesAndReadBack) {
  const TemporaryDirectory directory;
  const std::string path = directory / "a/b/key";
  const Key key = Key::generate().value();
  ASSERT_TRUE(write_key_file(path, key));
  EXPECT_EQ(mode_of(path), 0600U);
  EXPECT_EQ(mode_of(directory / "a"), 0700U);
  EXPECT_EQ(mode_of(directory / "a/b"), 0700U);
  const auto loaded = load_key({.key_file = path, .environment = {}, .default_file = {}});
  ASSERT_TRUE(loaded);
  EXPECT_TRUE(loaded->key == key);
  EXPECT_EQ(loaded->source, "--key-file " + path);
}

TEST(KeyFile, IsNeverOverwritten) {
  const TemporaryDirectory directory;
  const std::string path = directory / "key";
  const Key first = Key::generate().value();
  ASSERT_TRUE(write_key_file(path, first));
  EXPECT_EQ(write_key_file(path, Key::generate().value()).error().slug, "key-file-exists");
  EXPECT_TRUE(load_key({path, {}, {}})->key == first);
}

TEST(KeyFile, UnwritablePlaceIsAnErrorWithThePath) {
  const auto written = write_key_file("/proc/none/key", counting_key());
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().slug, "key-file-unwritable");
  EXPECT_NE(written.error().message.find("/proc/none"), std::string::npos);
}

TEST(LoadKey, FirstPresentSourceWins) {
  const TemporaryDirectory directory;
  const Key in_file = Key::generate().value();
  const Key in_environment = Key::generate().value();
  const Key in_default = Key::generate().value();
  ASSERT_TRUE(write_key_file(directory / "file", in_file));
  ASSERT_TRUE(write_key_file(directory / "default", in_default));
  KeySources sources{directory / "file", in_environment.to_base64(), directory / "default"};
  EXPECT_TRUE(load_key(sources)->key == in_file);
  sources.key_file.clear();
  EXPECT_TRUE(load_key(sources)->key == in_environment);
  sources.environment.clear();
  EXPECT_TRUE(load_key(sources)->key == in_default);
}

TEST(LoadKey, MissingNamesTheThreeSources) {
  const auto loaded = load_key({{}, {}, "/nowhere/.config/netbench/key"});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().slug, "key-missing");
  for (const char* source : {"--key-file", "$NETBENCH_KEY", "/nowhere/.config/netbench/key"}) {
    EXPECT_NE(loaded.error().message.find(source), std::string::npos) << source;
  }
}

TEST(LoadKey, FileThatOthersMayReadIsRefusedWithTheCommand) {
  const TemporaryDirectory directory;
  const std::string path = directory / "key";
  for (const fs::perms open : {fs::perms::group_read, fs::perms::others_read}) {
    put(path, counting_key().to_base64(), kPrivate | open);
    const auto loaded = load_key({path, {}, {}});
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().slug, "key-file-open");
    EXPECT_NE(loaded.error().remedy.find("chmod 600 " + path), std::string::npos);
  }
}

TEST(LoadKey, PresentButBadSourceIsNotSkipped) {
  const TemporaryDirectory directory;
  put(directory / "key", "not a key", kPrivate);
  const std::string good = counting_key().to_base64();
  EXPECT_EQ(load_key({directory / "key", good, {}}).error().slug, "key-malformed");
  EXPECT_EQ(load_key({directory / "none", good, {}}).error().slug, "key-file-unreadable");
  EXPECT_EQ(load_key({{}, "bad", directory / "key"}).error().slug, "key-malformed");
}

// A pseudo-terminal: what is typed goes into the master's end, what is shown comes out of it.
struct Terminal {
  UniqueFd master{::posix_openpt(O_RDWR | O_NOCTTY)};
  UniqueFd slave;

  Terminal() {
    EXPECT_EQ(::grantpt(master.get()), 0);
    EXPECT_EQ(::unlockpt(master.get()), 0);
    slave.reset(::open(::ptsname(master.get()), O_RDWR | O_NOCTTY));
  }
  [[nodiscard]] std::string shown_until(const std::string& end) const {
    std::string text;
    std::array<char, 256> bytes{};
    while (text.find(end) == std::string::npos) {
      const ssize_t count = ::read(master.get(), bytes.data(), bytes.size());
      if (count <= 0) {
        break;
      }
      text.append(bytes.data(), static_cast<std::size_t>(count));
    }
    return text;
  }
  void type(const std::string& text) const {
    ASSERT_EQ(::write(master.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
};

TEST(AskKey, TakesAKeyWithoutEchoAndBringsTheEchoBack) {
  const Terminal terminal;
  const Key key = counting_key();
  Result<Key> asked = fail("none", "");
  std::jthread asker([&] { asked = ask_key(terminal.slave.get(), terminal.slave.get()); });
  EXPECT_NE(terminal.shown_until("shown): ").find("Key"), std::string::npos);
  terminal.type(key.to_base64() + "\n");
  asker.join();
  EXPECT_TRUE(asked == Result<Key>(key));
  terminal.type("after\n");
  const std::string shown = terminal.shown_until("after");
  EXPECT_EQ(shown.find("AAEC"), std::string::npos);
  EXPECT_NE(shown.find("after"), std::string::npos);
}

TEST(AskKey, ControlCCancels) {
  const Terminal terminal;
  Result<Key> asked = fail("none", "");
  std::jthread asker([&] { asked = ask_key(terminal.slave.get(), terminal.slave.get()); });
  static_cast<void>(terminal.shown_until("shown): "));
  terminal.type("abc\x03");
  asker.join();
  EXPECT_EQ(asked.error().slug, "cancelled");
  EXPECT_EQ(asked.error().exit_class, ExitClass::interrupted);
}

TEST(AskKey, WithoutATerminalTheKeyIsMissing) {
  const UniqueFd null(::open("/dev/null", O_RDWR));
  EXPECT_EQ(ask_key(null.get(), null.get()).error().slug, "key-missing");
}

}  // namespace
}  // namespace netbench::session
