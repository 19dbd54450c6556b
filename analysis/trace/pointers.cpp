#include "analysis/trace/pointers.h"

#include <utility>

namespace msleaks::analysis::inline trace {
namespace {

// The most regions that a map may have. By default, the kernel allows 65,530 mappings in a process.
constexpr uint64_t kMostRegions = 1 << 20;

uint64_t countOf(const std::vector<uint8_t> &payload) {
  ByteReader bytes(payload);
  uint64_t numbers = 0;
  for (; bytes.left() > 0 && !bytes.failed(); ++numbers)
    bytes.varint();
  return bytes.failed() ? 0 : numbers / 2;
}

void write(const MemoryRegion &region, uint64_t last_end, ByteWriter &to) {
  to.varint(region.begin - last_end);
  to.varint(region.end - region.begin);
  to.varint(static_cast<uint8_t>(region.use));
  to.varint(region.tid);
  if (region.use != RegionUse::Globals)
    return;
  to.text(region.image.path);
  to.text({reinterpret_cast<const char *>(region.image.build_id.data()), region.image.build_id.size()});
  to.varint(region.load_bias);
}

MemoryRegion readRegion(uint64_t last_end, ByteReader &from) {
  MemoryRegion region;
  region.begin = last_end + from.varint();
  region.end = region.begin + from.varint();
  const uint64_t use = from.varint();
  // A later version may write another use. Then treats the region as Other, whose words may keep blocks alive.
  region.use = use <= static_cast<uint8_t>(RegionUse::Other) ? static_cast<RegionUse>(use) : RegionUse::Other;
  region.tid = static_cast<uint32_t>(from.varint());
  if (region.use != RegionUse::Globals)
    return region;
  region.image.path = from.text();
  for (const char byte : from.text())
    region.image.build_id.push_back(static_cast<std::byte>(byte));
  region.load_bias = from.varint();
  return region;
}

} // namespace

void writePointerMap(const PointerMap &map, ByteWriter &to) {
  to.varint(map.waited_ns);
  to.varint(map.read_bytes);
  to.varint(map.pointers);
  to.text(map.why_not);
  to.varint(map.all_blocks);
  to.varint(map.regions.size());
  uint64_t last_end = 0;
  for (const MemoryRegion &region : map.regions) {
    write(region, last_end, to);
    last_end = region.end;
  }
}

PointerMap readPointerMap(ByteReader &from) {
  PointerMap map;
  map.waited_ns = from.varint();
  map.read_bytes = from.varint();
  map.pointers = from.varint();
  map.why_not = from.text();
  map.all_blocks = from.varint() != 0;
  const uint64_t regions = from.varint();
  if (regions > kMostRegions)
    from.fail();
  uint64_t last_end = 0;
  for (uint64_t i = 0; i < regions && !from.failed(); ++i) {
    map.regions.push_back(readRegion(last_end, from));
    last_end = map.regions.back().end;
  }
  return map;
}

std::shared_ptr<const PointedMemory> PointerAssembly::take(const ChunkHeader &header,
                                                           std::span<const uint8_t> payload) {
  if (header.kind == ChunkKind::Pointers) {
    packed_[header.process].emplace_back(payload.begin(), payload.end());
    return nullptr;
  }
  std::vector<std::vector<uint8_t>> packed = std::exchange(packed_[header.process], {});
  packed_.erase(header.process);
  ByteReader bytes(payload);
  PointerMap map = readPointerMap(bytes);
  if (bytes.failed())
    return nullptr;
  map.process = header.process;
  map.time_ns = header.first_time_ns;
  uint64_t pointers = 0;
  for (const std::vector<uint8_t> &part : packed)
    pointers += countOf(part);
  if (pointers != map.pointers && map.why_not.empty())
    map.why_not = "the trace is damaged";
  return std::make_shared<const PointedMemory>(std::move(map), std::move(packed));
}

} // namespace msleaks::analysis::inline trace
