#include "transports/rdma/end_address.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "transports/rdma/wire.hpp"

namespace netbench::rdma {
namespace {

/// What it is, and its version.
constexpr std::array<std::uint8_t, 4> kMagic = {'N', 'B', 'R', 1};
/// "No index is asked for".
constexpr std::uint32_t kAnyIndex = UINT32_MAX;
constexpr std::uint32_t kMax24Bits = 0xffffff;
constexpr std::size_t kGidBytes = 4 + 16 + 1 + 1 + 1;  // with an empty interface name
constexpr std::size_t kQueuePairBytes = 3 + 3;
constexpr std::size_t kBufferBytes = 8 + 8 + 4;

void write_24(Writer& writer, std::uint32_t value) {
  writer.u8(static_cast<std::uint8_t>(value));
  writer.u16(static_cast<std::uint16_t>(value >> 8));
}

std::uint32_t read_24(Reader& reader) {
  const std::uint32_t low = reader.u8();
  return low | (std::uint32_t{reader.u16()} << 8);
}

template <class Enum>
Enum read_enum(Reader& reader, Enum last) {
  const std::uint8_t value = reader.u8();
  if (value > static_cast<std::uint8_t>(last)) {
    reader.fail();
    return {};
  }
  return static_cast<Enum>(value);
}

/// A name goes into messages and logs: printable ASCII only.
std::string read_name(Reader& reader) {
  std::string name = reader.text();
  if (!std::ranges::all_of(name, [](char c) { return c > ' ' && c < 0x7f; })) {
    reader.fail();
  }
  return name;
}

void write(Writer& writer, const GidEntry& gid) {
  writer.u32(gid.index);
  writer.raw(gid.address);
  writer.u8(static_cast<std::uint8_t>(gid.type));
  writer.text(gid.interface);
  writer.u8(gid.prefix_bits);
}

GidEntry read_gid(Reader& reader) {
  GidEntry gid;
  gid.index = reader.u32();
  reader.raw(gid.address);
  gid.type = read_enum(reader, GidType::iwarp);
  gid.interface = read_name(reader);
  gid.prefix_bits = reader.u8();
  if (gid.prefix_bits > 128) {
    reader.fail();
  }
  return gid;
}

void write(Writer& writer, const PortDescription& port) {
  writer.text(port.device);
  writer.u8(port.port);
  writer.u8(port.port_count);
  writer.u8(static_cast<std::uint8_t>(port.link_layer));
  writer.u8(static_cast<std::uint8_t>(port.state));
  writer.u32(port.active_mtu_bytes);
  writer.u32(port.max_mtu_bytes);
  writer.u32(port.max_message_bytes);
  writer.u16(port.lid);
  writer.u16(port.sm_lid);
  const std::size_t count = std::min(port.gids.size(), kMaxGids);
  writer.u32(static_cast<std::uint32_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    write(writer, port.gids[i]);
  }
}

PortDescription read_port(Reader& reader) {
  PortDescription port;
  port.device = read_name(reader);
  port.port = reader.u8();
  port.port_count = reader.u8();
  port.link_layer = read_enum(reader, LinkLayer::iwarp);
  port.state = read_enum(reader, PortState::active);
  port.active_mtu_bytes = reader.u32();
  port.max_mtu_bytes = reader.u32();
  port.max_message_bytes = reader.u32();
  port.lid = reader.u16();
  port.sm_lid = reader.u16();
  port.gids.resize(reader.count(kMaxGids, kGidBytes));
  std::ranges::generate(port.gids, [&reader] { return read_gid(reader); });
  return port;
}

void write(Writer& writer, const GidOffer& offer) {
  write(writer, offer.port);
  writer.text(offer.interface);
  writer.u32(offer.index.value_or(kAnyIndex));
}

GidOffer read_offer(Reader& reader) {
  GidOffer offer;
  offer.port = read_port(reader);
  offer.interface = read_name(reader);
  const std::uint32_t index = reader.u32();
  offer.index = index != kAnyIndex ? std::optional(index) : std::nullopt;
  return offer;
}

void write_lists(Writer& writer, const EndAddress& address) {
  writer.u32(static_cast<std::uint32_t>(address.queue_pairs.size()));
  for (const QpAddress& qp : address.queue_pairs) {
    write_24(writer, qp.number & kMax24Bits);
    write_24(writer, qp.psn & kMax24Bits);
  }
  writer.u32(static_cast<std::uint32_t>(address.buffers.size()));
  for (const RemoteBuffer& buffer : address.buffers) {
    writer.u64(buffer.address);
    writer.u64(buffer.bytes);
    writer.u32(buffer.rkey);
  }
  writer.u32(static_cast<std::uint32_t>(address.extra.size()));
  writer.raw(address.extra);
}

void read_lists(Reader& reader, EndAddress& address) {
  address.queue_pairs.resize(reader.count(kMaxQueuePairs, kQueuePairBytes));
  for (QpAddress& qp : address.queue_pairs) {
    qp.number = read_24(reader);
    qp.psn = read_24(reader);
  }
  address.buffers.resize(reader.count(kMaxQueuePairs, kBufferBytes));
  for (RemoteBuffer& buffer : address.buffers) {
    buffer.address = reader.u64();
    buffer.bytes = reader.u64();
    buffer.rkey = reader.u32();
    if (buffer.bytes > UINT64_MAX - buffer.address) {
      reader.fail();
    }
  }
  address.extra.resize(reader.count(kMaxExtraBytes, 1));
  reader.raw(address.extra);
}

}  // namespace

std::vector<std::uint8_t> encode(const EndAddress& address) {
  Writer writer;
  writer.raw(kMagic);
  write(writer, address.offer);
  writer.u8(address.max_reads_out);
  writer.u8(address.max_reads_in);
  writer.u16(address.cm_port);
  write_lists(writer, address);
  return writer.take();
}

Result<EndAddress> decode_end_address(std::span<const std::uint8_t> bytes) {
  Reader reader(bytes);
  std::array<std::uint8_t, kMagic.size()> magic{};
  reader.raw(magic);
  if (magic != kMagic) {
    reader.fail();
  }
  EndAddress address;
  address.offer = read_offer(reader);
  address.max_reads_out = reader.u8();
  address.max_reads_in = reader.u8();
  address.cm_port = reader.u16();
  read_lists(reader, address);
  if (!reader.complete()) {
    return fail(NB_FAILED, "rdma-bad-address", "the peer's address is not one of this release",
                "run the same release on both hosts");
  }
  return address;
}

}  // namespace netbench::rdma
