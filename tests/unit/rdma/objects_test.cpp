#include "transports/rdma/objects.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "tests/unit/rdma/endpoint.hpp"
#include "transports/rdma/testing/fake_verbs.hpp"

namespace netbench::rdma {
namespace {

using testing::FakeDevice;
using testing::FakeVerbs;

TEST(Objects, GiveEverythingBackInReverseOrder) {
  FakeVerbs fake;
  const VerbsTable verbs = fake.table();
  { const Endpoint endpoint = Endpoint::make(verbs, QpKind::rc); }
  EXPECT_EQ(fake.live(), 0U);
  const std::vector<std::string> calls = fake.calls();
  const std::vector<std::string> last(calls.end() - 5, calls.end());
  EXPECT_EQ(last, (std::vector<std::string>{"destroy_qp", "dereg_mr", "destroy_cq", "dealloc_pd",
                                            "close_device"}));
}

TEST(Objects, GiveBackWhatWasMadeBeforeAFailure) {
  FakeVerbs fake;
  const VerbsTable verbs = fake.table();
  fake.refuse("create_qp", ENOMEM);
  EXPECT_THROW(Endpoint::make(verbs, QpKind::rc), sdk::Error);
  EXPECT_EQ(fake.live(), 0U);
}

TEST(Objects, AreGivenBackOnceWhenMoved) {
  FakeVerbs fake;
  const VerbsTable verbs = fake.table();
  const Context context = take(Context::open(verbs, "fake0"));
  ProtectionDomain first = take(ProtectionDomain::allocate(context));
  ProtectionDomain second = take(ProtectionDomain::allocate(context));
  second = std::move(first);
  EXPECT_EQ(std::ranges::count(fake.calls(), "dealloc_pd"), 1);
}

TEST(Context, NamesTheDevicesThereAreWhereTheWantedOneIsNot) {
  FakeVerbs fake;
  const VerbsTable verbs = fake.table();
  const auto context = Context::open(verbs, "mlx5_9");
  ASSERT_FALSE(context);
  EXPECT_EQ(context.error().slug(), "rdma-no-device");
  EXPECT_NE(context.error().message().find("fake0"), std::string::npos);
  EXPECT_EQ(fake.live(), 0U);
}

TEST(Context, IsNotClosedWhenBorrowed) {
  FakeVerbs fake;
  const VerbsTable verbs = fake.table();
  const Context owner = take(Context::open(verbs, "fake0"));
  { const Context borrowed = Context::borrow(verbs, owner.get()); }
  EXPECT_EQ(std::ranges::count(fake.calls(), "close_device"), 0);
  EXPECT_EQ(owner.device(), "fake0");
}

TEST(DeviceNames, AreNoneWhereTheKernelHasNoVerbs) {
  FakeVerbs fake;
  const VerbsTable verbs = fake.table();
  fake.refuse("get_device_list", ENOSYS);
  const auto names = device_names(verbs);
  ASSERT_TRUE(names);
  EXPECT_TRUE(names->empty());
}

TEST(QueuePair, IsMadeWithTheMostInlineBytesThatTheDeviceGrants) {
  FakeVerbs fake;
  const VerbsTable verbs = fake.table();
  const Endpoint endpoint = Endpoint::make(verbs, QpKind::rc);
  const QueuePair::Spec spec{.send_cq = endpoint.cq.get(), .receive_cq = endpoint.cq.get()};
  const auto qp = create_with_inline(endpoint.pd, spec, 512);
  ASSERT_TRUE(qp) << qp.error().message();
  EXPECT_EQ(qp->granted().max_inline_data, 128U);  // of 512, 256, 128: the device has 220
}

TEST(QueuePair, SaysWhatWasAskedForWhereItIsRefused) {
  FakeVerbs fake;
  const VerbsTable verbs = fake.table();
  const Endpoint endpoint = Endpoint::make(verbs, QpKind::rc);
  const auto qp = create_with_inline(
      endpoint.pd,
      {.send_cq = endpoint.cq.get(), .receive_cq = endpoint.cq.get(), .send_depth = 1U << 20}, 64);
  ASSERT_FALSE(qp);
  EXPECT_EQ(qp.error().slug(), "rdma-no-queue-pair");
  EXPECT_EQ(qp.error().sys_errno(), EINVAL);
  EXPECT_NE(qp.error().message().find("RC queue pair of 1048576 send"), std::string::npos);
}

TEST(WritesInOrder, IsOnlyWhatTheProviderPromises) {
  std::vector<FakeDevice> devices(2);
  devices[0].in_order = true;
  devices[1].name = "fake1";
  FakeVerbs fake(devices);
  VerbsTable verbs = fake.table();
  const Endpoint ordered = Endpoint::make(verbs, QpKind::rc, "fake0");
  const Endpoint loose = Endpoint::make(verbs, QpKind::rc, "fake1");
  EXPECT_TRUE(writes_in_order(ordered.qp));
  EXPECT_FALSE(writes_in_order(loose.qp));
  verbs.query_qp_data_in_order = nullptr;
  EXPECT_FALSE(writes_in_order(ordered.qp));
}

TEST(CompletionChannel, WakesAfterARequestAndIsAcknowledgedBeforeTheQueueGoes) {
  FakeVerbs fake;
  const VerbsTable verbs = fake.table();
  {
    const Context context = take(Context::open(verbs, "fake0"));
    CompletionChannel channel = take(CompletionChannel::create(context));
    CompletionQueue cq = take(CompletionQueue::create(context, 8, &channel));
    const ProtectionDomain pd = take(ProtectionDomain::allocate(context));
    const QueuePair qp = take(QueuePair::create(pd, {.send_cq = cq.get(), .receive_cq = cq.get()}));
    ASSERT_EQ(request_event(cq.get()), 0);
    EXPECT_FALSE(channel.take_event());
    ibv_recv_wr receive{};
    ibv_recv_wr* bad = nullptr;
    ASSERT_EQ(post_recv(qp.get(), &receive, &bad), 0);
    take(apply(qp, to_error(), "closing"));  // the receive is flushed
    EXPECT_TRUE(channel.take_event());
    cq.count_event();
    EXPECT_FALSE(channel.take_event());
  }
  EXPECT_EQ(fake.live(), 0U);  // the fake refuses to destroy a queue with open events
}

TEST(AsyncEvents, TellWhatHappenedMostTellingFirst) {
  FakeVerbs fake;
  const VerbsTable verbs = fake.table();
  const Context context = take(Context::open(verbs, "fake0"));
  EXPECT_TRUE(take_async_events(context).empty());
  fake.raise("fake0", IBV_EVENT_GID_CHANGE, 1);
  fake.raise("fake0", IBV_EVENT_PORT_ERR, 1);
  fake.raise("fake0", IBV_EVENT_DEVICE_FATAL, 0);
  EXPECT_EQ(take_async_events(context),
            (std::vector<std::string>{"device removed or failed", "port 1 down",
                                      "port 1 GID table changed"}));
  EXPECT_TRUE(take_async_events(context).empty());
}

struct Refusal {
  int sys_errno;
  const char* slug;
  const char* remedy;
};

class RegistrationRefused : public ::testing::TestWithParam<Refusal> {};

TEST_P(RegistrationRefused, SaysWhatTheErrnoMeansHere) {
  FakeVerbs fake;
  const VerbsTable verbs = fake.table();
  const Context context = take(Context::open(verbs, "fake0"));
  const ProtectionDomain pd = take(ProtectionDomain::allocate(context));
  const HostMemory memory = take(HostMemory::allocate({.bytes = 4096}));
  fake.refuse("reg_mr_iova2", GetParam().sys_errno);
  const auto region = memory.register_with(pd, kAllAccess);
  ASSERT_FALSE(region);
  EXPECT_EQ(region.error().slug(), GetParam().slug);
  EXPECT_EQ(region.error().sys_errno(), GetParam().sys_errno);
  EXPECT_NE(region.error().remedy().find(GetParam().remedy), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Errno, RegistrationRefused,
    ::testing::Values(Refusal{ENOMEM, "rdma-cannot-pin", "ulimit -l"},
                      Refusal{EFAULT, "rdma-cannot-pin-address", "nvidia_peermem"},
                      Refusal{EPERM, "rdma-registration-denied", "CAP_IPC_LOCK"},
                      Refusal{EIO, "rdma-registration-failed", ""}));

TEST(MemoryRegion, AsksForRelaxedOrderingOnlyWhereTheLibraryKnowsIt) {
  FakeVerbs fake;
  VerbsTable verbs = fake.table();
  const Context context = take(Context::open(verbs, "fake0"));
  const ProtectionDomain pd = take(ProtectionDomain::allocate(context));
  const HostMemory memory = take(HostMemory::allocate({.bytes = 4096}));
  constexpr int kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING;
  const auto modern = take(memory.register_with(pd, kAccess));
  verbs.reg_mr_iova2 = nullptr;
  const auto old = take(memory.register_with(pd, kAccess));
  ASSERT_EQ(fake.regions().size(), 2U);
  EXPECT_EQ(fake.regions()[0].access, static_cast<unsigned int>(kAccess));
  EXPECT_EQ(fake.regions()[1].access, static_cast<unsigned int>(IBV_ACCESS_LOCAL_WRITE));
}

TEST(MemoryRegion, PassesOnWhatADmaBufIsRegisteredWith) {
  FakeVerbs fake;
  VerbsTable verbs = fake.table();
  const Context context = take(Context::open(verbs, "fake0"));
  const ProtectionDomain pd = take(ProtectionDomain::allocate(context));
  const MemoryRegion::DmaBuf request{
      .fd = 7, .offset = 0x200, .bytes = 65536, .iova = 0x7f0000000200, .access = 5};
  const auto region = take(MemoryRegion::register_dmabuf(pd, request));
  const testing::RegionRecord seen = fake.regions().at(0);
  EXPECT_TRUE(seen.dmabuf);
  EXPECT_EQ(seen.fd, 7);
  EXPECT_EQ(seen.offset, 0x200U);
  EXPECT_EQ(seen.bytes, 65536U);
  EXPECT_EQ(seen.address, 0x7f0000000200U);
  EXPECT_EQ(seen.access, 5U);
}

TEST(DmaBufSupport, IsAskedForWithADescriptorThatCannotBe) {
  FakeVerbs fake;
  VerbsTable verbs = fake.table();
  const Context context = take(Context::open(verbs, "fake0"));
  const ProtectionDomain pd = take(ProtectionDomain::allocate(context));
  std::string why;
  EXPECT_TRUE(supports_dmabuf(pd, why));
  verbs.reg_dmabuf_mr = [](ibv_pd*, std::uint64_t, std::size_t, std::uint64_t, int,
                           int) -> ibv_mr* {
    errno = EOPNOTSUPP;
    return nullptr;
  };
  EXPECT_FALSE(supports_dmabuf(pd, why));
  EXPECT_NE(why.find("registers no dma-bufs"), std::string::npos);
  verbs.reg_dmabuf_mr = nullptr;
  EXPECT_FALSE(supports_dmabuf(pd, why));
  EXPECT_NE(why.find("older"), std::string::npos);
}

}  // namespace
}  // namespace netbench::rdma
