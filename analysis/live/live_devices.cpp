// Blocks that a driver ends or changes without a free: by a reset of their device, and in graphs. And blocks that it
// returns twice.
#include "analysis/live/live_process.h"

namespace msleaks::analysis::inline live {
namespace {

bool isOnDevice(const Block &block) {
  return block.heap == abi::Heap::Device || block.heap == abi::Heap::Managed || block.heap == abi::Heap::Imported;
}
// A handle on a device is one of OpenCL, and another driver's reset does not end it.
bool endsWith(const Block &block, uint8_t device, bool is_only_device) {
  if (isOnDevice(block))
    return block.device == device && (!block.handle || block.heap != abi::Heap::Device);
  return is_only_device;
}

} // namespace

// Locked memory of the host names no device. So it ends only if the process uses no other device.
void LiveSet::endDevice(Process &process, uint8_t device, uint64_t time_ns) {
  std::vector<const BlockTable *> tables{&process.tables[static_cast<size_t>(AddressSpace::Accelerator)]};
  for (const auto &[number, table] : process.devices)
    tables.push_back(&table);
  bool is_only_device = true;
  for (const BlockTable *table : tables)
    table->forEach([&](const Block &block) { is_only_device &= !isOnDevice(block) || block.device == device; });
  tables.push_back(&process.tables[static_cast<size_t>(AddressSpace::Registered)]);
  std::vector<Block> gone;
  for (const BlockTable *table : tables)
    table->forEach([&](const Block &block) {
      if (endsWith(block, device, is_only_device))
        gone.push_back(block);
    });
  for (const Block &block : gone) {
    erase(process, process.tableOf(block).find(block.address));
    process.ended.insert(block.address);
    announceFree(block, FreeCause::Freed, time_ns);
    unback(process, block, time_ns);
  }
  for (BlockObserver *observer : observers_)
    observer->onDeviceReset(process.number, device);
}

// The program frees a block of a graph, which gets memory again at the next launch. Or the graph is gone (kReserve).
void LiveSet::freeInGraph(Process &process, Block &block, const abi::FreeEvent &freed) {
  if ((freed.header.flags & abi::kReserve) == 0)
    return changeInGraph(process, block, true, freed.header.time);
  if (!block.reserve) {
    block.file = 0; // the memory outlives the graph, until the program frees it
    return;
  }
  const Block gone = block;
  erase(process, &block);
  announceFree(gone, FreeCause::Freed, freed.header.time);
}

void LiveSet::changeInGraph(Process &process, Block &block, bool reserve, uint64_t time_ns) {
  if (block.reserve == reserve)
    return;
  if (Backings::concerns(block))
    process.backings.goes(block);
  setReserve(block, reserve, time_ns);
  if (Backings::concerns(block))
    process.backings.comes(block);
}

// The block that a driver has returned once more, or null. It counts how often the program opens memory of another
// process. A handle may also be of the program's own physical memory.
Block *LiveSet::importedAgain(Process &process, const abi::AllocEvent &alloc) {
  Block *known = process.find(AddressSpace::Accelerator, alloc.address, alloc.header.device);
  const bool is_handle = (alloc.header.flags & abi::kDriver) != 0;
  return known && (known->heap == abi::Heap::Imported || is_handle) ? known : nullptr;
}

} // namespace msleaks::analysis::inline live
