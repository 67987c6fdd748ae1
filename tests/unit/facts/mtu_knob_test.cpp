#include "bench/facts/mtu_knob.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "bench/facts/interface_state.hpp"
#include "bench/facts/network_reader.hpp"
#include "tests/unit/facts/namespaces.hpp"

namespace netbench::facts {
namespace {

namespace fs = std::filesystem;

const KnobPolicy kAllowed{.allowed = true, .forced = false, .ssh_connection = ""};

// A directory of its own, removed at the end.
struct StateDirectory {
  fs::path path;
  StateDirectory() {
    std::string name = (fs::temp_directory_path() / "netbench-knob-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~StateDirectory() { fs::remove_all(path); }
  StateDirectory(const StateDirectory&) = delete;
  StateDirectory& operator=(const StateDirectory&) = delete;
  [[nodiscard]] auto files() const {
    return std::distance(fs::directory_iterator(path), fs::directory_iterator());
  }
};

// A host with one interface "test0" towards another namespace: IPv4, IPv6, routes through it.
struct Host {
  Namespace here, there;

  explicit Host(bool ipv6 = true) {
    for (const auto* space : {&here, &there}) {
      space->run(
          "cd /proc/sys/net/ipv6/conf && echo 0 >all/accept_dad && "
          "echo 0 >default/accept_dad");
    }
    if (!ipv6) {
      here.run("echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6");
    }
    here.run("ip link add test0 type veth peer name far0 netns " + there.path());
    there.run("ip link set far0 up");
    here.run(
        "ip link set test0 up && ip addr add 10.9.0.1/24 dev test0 && "
        "ip route add 10.77.0.0/16 via 10.9.0.2 dev test0 mtu 1400 metric 5");
    if (ipv6) {
      here.run(
          "ip -6 addr add fd00:9::1/64 dev test0 && "
          "ip -6 route add fd00:77::/32 via fd00:9::2 dev test0 mtu 1450 metric 7");
    }
  }
  [[nodiscard]] std::int64_t mtu() const {
    const Namespace::Stay stay(here);
    return (*open_kernel_network())->link("test0")->mtu_bytes;
  }
  // Everything that a change of the MTU can take away, as ip(8) prints it.
  [[nodiscard]] std::string state() const {
    return here.output_of(
        "ip -o addr show dev test0 | sed 's/ *valid_lft.*//; s/ tentative//' | sort; ip route | "
        "sort; "
        "ip -6 route | sort; cat /proc/sys/net/ipv6/conf/test0/mtu");
  }
};

std::string slug_of(const Status& status) { return status ? "none" : status.error().slug; }

std::string refusal(const Host& host, std::int64_t mtu, const KnobPolicy& policy = kAllowed) {
  const Namespace::Stay stay(host.here);
  return slug_of(check_mtu_change("test0", mtu, policy));
}

TEST(MtuPolicy, RefusesWhatTheOperatorDidNotAllow) {
  SKIP_WITHOUT_NAMESPACES();
  const Host host;
  EXPECT_EQ(refusal(host, 9000, {}), "knob-not-allowed");
  EXPECT_EQ(refusal(host, 9000), "none");
}

TEST(MtuPolicy, NamesTheRangeOfTheInterface) {
  SKIP_WITHOUT_NAMESPACES();
  const Host host(false);
  const Namespace::Stay stay(host.here);
  for (const std::int64_t mtu : {std::int64_t{67}, std::int64_t{65536}, std::int64_t{-1}}) {
    const auto status = check_mtu_change("test0", mtu, kAllowed);
    ASSERT_EQ(slug_of(status), "mtu-range") << mtu;
    EXPECT_NE(status.error().message.find("68 to 65535"), std::string::npos);
    EXPECT_EQ(status.error().exit_class, ExitClass::usage);
  }
  EXPECT_EQ(slug_of(check_mtu_change("test0", 68, kAllowed)), "none");
}

TEST(MtuPolicy, RefusesASmallMtuOnlyWhereIpv6IsConfigured) {
  SKIP_WITHOUT_NAMESPACES();
  EXPECT_EQ(refusal(Host(true), 1000), "mtu-ipv6");
  EXPECT_EQ(refusal(Host(true), 1280), "none");
  EXPECT_EQ(refusal(Host(false), 1000), "none");
}

TEST(MtuPolicy, LeavesTheDefaultRouteAloneUnlessForced) {
  SKIP_WITHOUT_NAMESPACES();
  const Host host;
  host.here.run("ip route add default via 10.9.0.2");
  EXPECT_EQ(refusal(host, 9000), "knob-default-route");
  EXPECT_EQ(refusal(host, 9000, {.allowed = true, .forced = true, .ssh_connection = ""}), "none");
}

TEST(MtuPolicy, LeavesTheSshSessionAloneUnlessForced) {
  SKIP_WITHOUT_NAMESPACES();
  const Host host;
  const std::string session = "10.9.0.2 50000 10.9.0.1 22";
  const std::string elsewhere = "127.0.0.1 50000 127.0.0.1 22";
  EXPECT_EQ(refusal(host, 9000, {.allowed = true, .forced = false, .ssh_connection = session}),
            "knob-ssh");
  EXPECT_EQ(refusal(host, 9000, {.allowed = true, .forced = true, .ssh_connection = session}),
            "none");
  EXPECT_EQ(refusal(host, 9000, {.allowed = true, .forced = false, .ssh_connection = elsewhere}),
            "none");
}

TEST(MtuPolicy, NamesAnUnknownInterface) {
  EXPECT_EQ(slug_of(check_mtu_change("no-such-if", 1500, kAllowed)), "interface-unknown");
}

TEST(MtuPolicy, RefusesWithoutThePrivilege) {
  SKIP_WITHOUT_NAMESPACES();
  const Host host;
  std::string slug;
  std::thread unprivileged([&] {
    const Namespace::Stay stay(host.here);
    // Capabilities belong to a thread: only this one gives CAP_NET_ADMIN up.
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> data{};
    ::syscall(SYS_capget, &header, data.data());
    data[0].effective &= ~(1U << CAP_NET_ADMIN);
    ASSERT_EQ(::syscall(SYS_capset, &header, data.data()), 0);
    slug = slug_of(check_mtu_change("test0", 9000, kAllowed));
    data[0].effective |= 1U << CAP_NET_ADMIN;
    ::syscall(SYS_capset, &header, data.data());
  });
  unprivileged.join();
  EXPECT_EQ(slug, "knob-permission");
  EXPECT_EQ(host.mtu(), 1500);
}

TEST(KnobJournal, SetsTheMtuAndGivesItBack) {
  SKIP_WITHOUT_NAMESPACES();
  const Host host;
  const StateDirectory directory;
  const auto before = host.state();
  {
    const Namespace::Stay stay(host.here);
    auto journal = KnobJournal::open(directory.path);
    ASSERT_TRUE(journal.has_value());
    EXPECT_EQ(slug_of(journal->set_mtu("test0", 9000, kAllowed)), "none");
    EXPECT_EQ(host.mtu(), 9000);
    EXPECT_EQ(slug_of(journal->set_mtu("test0", 1300, kAllowed)), "none");
    EXPECT_EQ(host.mtu(), 1300);
    EXPECT_EQ(directory.files(), 1);
    EXPECT_EQ(slug_of(journal->restore_all()), "none");
    EXPECT_TRUE(journal->empty());
  }
  EXPECT_EQ(host.mtu(), 1500);
  EXPECT_EQ(directory.files(), 0);
  EXPECT_EQ(host.state(), before);
}

TEST(KnobJournal, GivesBackAtTheEndOfItsLife) {
  SKIP_WITHOUT_NAMESPACES();
  const Host host;
  const StateDirectory directory;
  const Namespace::Stay stay(host.here);
  {
    auto journal = KnobJournal::open(directory.path);
    ASSERT_TRUE(journal.has_value());
    EXPECT_EQ(slug_of(journal->set_mtu("test0", 9000, kAllowed)), "none");
    KnobJournal moved = std::move(*journal);
    EXPECT_EQ(host.mtu(), 9000);
  }
  EXPECT_EQ(host.mtu(), 1500);
}

TEST(KnobJournal, DoesNothingForTheMtuThatIsThere) {
  SKIP_WITHOUT_NAMESPACES();
  const Host host;
  const StateDirectory directory;
  const Namespace::Stay stay(host.here);
  auto journal = KnobJournal::open(directory.path);
  ASSERT_TRUE(journal.has_value());
  EXPECT_EQ(slug_of(journal->set_mtu("test0", 1500, KnobPolicy{})), "none");
  EXPECT_TRUE(journal->empty());
  EXPECT_EQ(directory.files(), 0);
}

TEST(KnobJournal, LeavesNothingBehindAfterARefusal) {
  SKIP_WITHOUT_NAMESPACES();
  const Host host;
  const StateDirectory directory;
  const Namespace::Stay stay(host.here);
  auto journal = KnobJournal::open(directory.path);
  ASSERT_TRUE(journal.has_value());
  EXPECT_EQ(slug_of(journal->set_mtu("test0", 67, kAllowed)), "mtu-range");
  EXPECT_EQ(slug_of(journal->set_mtu("test0", 1000, kAllowed)), "mtu-ipv6");
  EXPECT_EQ(slug_of(journal->set_mtu("test0", 9000, KnobPolicy{})), "knob-not-allowed");
  EXPECT_TRUE(journal->empty());
  EXPECT_EQ(directory.files(), 0);
}

TEST(KnobJournal, GivesBackIpv6AddressesAndRoutesThatASmallMtuDeleted) {
  SKIP_WITHOUT_NAMESPACES();
  const Host host;
  const StateDirectory directory;
  const auto before = host.state();
  ASSERT_NE(before.find("fd00:9::1"), std::string::npos);
  ASSERT_NE(before.find("mtu 1450"), std::string::npos);
  const Namespace::Stay stay(host.here);
  auto journal = KnobJournal::open(directory.path);
  ASSERT_TRUE(journal.has_value());
  ASSERT_EQ(slug_of(journal->set_mtu("test0", 1400, kAllowed)), "none");
  host.here.run("ip link set test0 mtu 1000");
  ASSERT_EQ(host.state().find("fd00:9::1"), std::string::npos);
  EXPECT_EQ(slug_of(journal->restore_all()), "none");
  EXPECT_EQ(host.state(), before);
}

TEST(KnobJournal, GivesBackTheMtuMetricOfARoute) {
  SKIP_WITHOUT_NAMESPACES();
  const Host host;
  const StateDirectory directory;
  const auto before = host.state();
  const Namespace::Stay stay(host.here);
  auto journal = KnobJournal::open(directory.path);
  ASSERT_TRUE(journal.has_value());
  ASSERT_EQ(slug_of(journal->set_mtu("test0", 1300, kAllowed)), "none");
  EXPECT_NE(host.state().find("mtu 1300"), std::string::npos) << "the kernel lowers 1450";
  EXPECT_EQ(slug_of(journal->restore_all()), "none");
  EXPECT_EQ(host.state(), before);
}

TEST(KnobJournal, GivesBackTheMtuOfABridgeAboveTheInterface) {
  SKIP_WITHOUT_NAMESPACES();
  const Host host;
  host.here.run(
      "ip link add br0 type bridge && ip link set test0 master br0 && "
      "ip link set br0 up mtu 1500");
  const StateDirectory directory;
  const Namespace::Stay stay(host.here);
  auto journal = KnobJournal::open(directory.path);
  ASSERT_TRUE(journal.has_value());
  ASSERT_EQ(slug_of(journal->set_mtu("test0", 1300, kAllowed)), "none");
  host.here.run("ip link set br0 mtu 1300");
  EXPECT_EQ(slug_of(journal->restore_all()), "none");
  EXPECT_EQ((*open_kernel_network())->link("br0")->mtu_bytes, 1500);
}

TEST(KnobJournal, HoldsAnInterfaceAlone) {
  SKIP_WITHOUT_NAMESPACES();
  const Host host;
  const StateDirectory directory;
  const Namespace::Stay stay(host.here);
  auto first = KnobJournal::open(directory.path);
  auto second = KnobJournal::open(directory.path);
  ASSERT_TRUE(first.has_value() && second.has_value());
  ASSERT_EQ(slug_of(first->set_mtu("test0", 9000, kAllowed)), "none");
  EXPECT_EQ(slug_of(second->set_mtu("test0", 4000, kAllowed)), "knob-busy");
  EXPECT_TRUE(recover_journal(directory.path).empty()) << "its owner lives";
  EXPECT_EQ(host.mtu(), 9000);
}

TEST(KnobJournal, RefusesADirectoryThatOthersMayWrite) {
  const StateDirectory directory;
  ASSERT_EQ(::chmod(directory.path.c_str(), 0777), 0);
  const auto journal = KnobJournal::open(directory.path);
  ASSERT_FALSE(journal.has_value());
  EXPECT_EQ(journal.error().slug, "knob-journal");
}

// A process that changes the MTU and is killed before it can give it back.
void change_and_die(const Host& host, const fs::path& directory, std::int64_t mtu) {
  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const Namespace::Stay stay(host.here);
    auto journal = KnobJournal::open(directory);
    const bool done = journal && journal->set_mtu("test0", mtu, kAllowed).has_value();
    const char answer = done ? 'y' : 'n';
    if (::write(ready[1], &answer, 1) == 1) {
      ::pause();
    }
    ::_exit(1);
  }
  char answer = 0;
  EXPECT_EQ(::read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(RecoverJournal, RestoresWhatAKilledProcessLeft) {
  SKIP_WITHOUT_NAMESPACES();
  const Host host;
  const StateDirectory directory;
  const auto before = host.state();
  change_and_die(host, directory.path, 1300);
  EXPECT_EQ(host.mtu(), 1300);
  const Namespace::Stay stay(host.here);
  const auto sentences = recover_journal(directory.path);
  ASSERT_EQ(sentences.size(), 1U);
  EXPECT_NE(sentences[0].find("restored MTU 1500 of test0"), std::string::npos) << sentences[0];
  EXPECT_EQ(host.state(), before);
  EXPECT_EQ(directory.files(), 0);
  EXPECT_TRUE(recover_journal(directory.path).empty());
}

TEST(RecoverJournal, LeavesAnotherNamespaceAlone) {
  SKIP_WITHOUT_NAMESPACES();
  const Host host;
  const Host other;
  const StateDirectory directory;
  change_and_die(host, directory.path, 1300);
  {
    const Namespace::Stay stay(other.here);
    EXPECT_TRUE(recover_journal(directory.path).empty());
  }
  EXPECT_EQ(host.mtu(), 1300);
  EXPECT_EQ(other.mtu(), 1500);
  EXPECT_EQ(directory.files(), 1);
}

TEST(RecoverJournal, ForgetsAnInterfaceThatIsGone) {
  SKIP_WITHOUT_NAMESPACES();
  const Host host;
  const StateDirectory directory;
  change_and_die(host, directory.path, 1300);
  host.here.run("ip link del test0");
  const Namespace::Stay stay(host.here);
  const auto sentences = recover_journal(directory.path);
  ASSERT_EQ(sentences.size(), 1U);
  EXPECT_NE(sentences[0].find("is gone"), std::string::npos);
  EXPECT_EQ(directory.files(), 0);
}

TEST(RecoverJournal, RemovesATornFile) {
  const StateDirectory directory;
  std::ofstream(directory.path / "eth0.1.knob") << "netbench-knob 1\ninterface eth0\n";
  const auto sentences = recover_journal(directory.path);
  ASSERT_EQ(sentences.size(), 1U);
  EXPECT_NE(sentences[0].find("not whole"), std::string::npos) << sentences[0];
  EXPECT_EQ(directory.files(), 0);
}

TEST(RecoverJournal, HasNothingToDoWithoutADirectory) {
  EXPECT_TRUE(recover_journal("/nonexistent/netbench").empty());
}

TEST(KnobJournal, FirstRecoversWhatAKilledProcessLeft) {
  SKIP_WITHOUT_NAMESPACES();
  const Host host;
  const StateDirectory directory;
  change_and_die(host, directory.path, 1300);
  const Namespace::Stay stay(host.here);
  {
    auto journal = KnobJournal::open(directory.path);
    ASSERT_TRUE(journal.has_value());
    EXPECT_EQ(slug_of(journal->set_mtu("test0", 9000, kAllowed)), "none");
    EXPECT_EQ(host.mtu(), 9000);
  }
  EXPECT_EQ(host.mtu(), 1500) << "not 1300";
}

TEST(InterfaceState, SurvivesItsText) {
  InterfaceState state;
  state.boot_id = "b";
  state.network_namespace = 4026531840;
  state.interface = "eth0";
  state.index = 4;
  state.hardware_address = "02:00:00:00:00:01";
  state.mtu_bytes = 1500;
  state.ipv6_mtu_bytes = 1400;
  state.stacked = {{"eth0.5", 9, 1496}};
  state.addresses = {{1, 2, 255}};
  state.routes = {{0, 16}, {7}};
  const auto again = decode(encode(state));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(encode(*again), encode(state));
  EXPECT_EQ(again->routes, state.routes);
  EXPECT_EQ(again->ipv6_mtu_bytes, 1400);
  EXPECT_EQ(again->stacked.at(0).mtu_bytes, 1496);
}

TEST(DefaultStateDirectory, IsUnderTheSystemsForRoot) {
  if (::access("/var/lib", W_OK) != 0) {
    GTEST_SKIP() << "needs a /var/lib that this user may write";
  }
  EXPECT_EQ(default_state_directory(), fs::path("/var/lib/netbench"));
}

}  // namespace
}  // namespace netbench::facts
