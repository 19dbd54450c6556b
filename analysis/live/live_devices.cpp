// The end of all blocks of a device: a program resets it.
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
}

} // namespace msleaks::analysis::inline live
