// Finds the block in which a page fault lies, while events pass. Only a run with page faults pays for this.
#pragma once

#include "analysis/places/site_catalog.h"
#include "analysis/trace/trace_reader.h"
#include "msleaks/abi/events.h"

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline exporters {

class FaultedBlocks {
public:
  struct Found {
    uint64_t address = 0;
    SiteId site;
  };

  explicit FaultedBlocks(const TraceReader &trace) {
    trace.forEachAccount([this](const StreamAccount &stream) {
      has_faults_ = has_faults_ || (stream.process == kSessionProcess && stream.thread_name == "kernel faults");
    });
    for (const ProcessStart &start : trace.processes())
      images_[start.pid].push_back({start.time_ns, start.process});
  }

  void onEvent(const StreamEvent &event, SiteCatalog &catalog) {
    if (!has_faults_)
      return;
    const abi::EventHeader &header = event.event.header();
    const bool is_mapping = header.heap == abi::Heap::Mapping;
    if (!is_mapping && header.heap != abi::Heap::Host)
      return;
    if (header.kind == abi::EventKind::Alloc) {
      const auto alloc = event.event.as<abi::AllocEvent>();
      blocksOf(event.process, is_mapping)[alloc.address] = {alloc.address + alloc.size,
                                                            catalog.find(event.process, header.site)};
    } else if (header.kind == abi::EventKind::Free) {
      const auto freed = event.event.as<abi::FreeEvent>();
      remove(blocksOf(event.process, is_mapping), freed.address, freed.size);
    }
  }

  // A block of malloc's heap is found before the mapping that contains it.
  std::optional<Found> of(const abi::FaultEvent &fault) const {
    const auto images = images_.find(fault.of_pid);
    if (images == images_.end())
      return {};
    uint32_t process = images->second.front().process;
    for (const Image &image : images->second) // an exec makes another image
      if (image.begin_ns <= fault.header.time)
        process = image.process;
    for (const bool is_mapping : {false, true})
      if (const auto blocks = blocks_.find(keyOf(process, is_mapping)); blocks != blocks_.end())
        if (const auto found = at(blocks->second, fault.address))
          return found;
    return {};
  }

private:
  struct Image {
    uint64_t begin_ns;
    uint32_t process;
  };
  struct Block {
    uint64_t end = 0;
    SiteId site;
  };
  using Blocks = std::map<uint64_t, Block>; // by address

  static uint64_t keyOf(uint32_t process, bool is_mapping) { return uint64_t{process} << 1 | is_mapping; }
  Blocks &blocksOf(uint32_t process, bool is_mapping) { return blocks_[keyOf(process, is_mapping)]; }

  static void remove(Blocks &blocks, uint64_t address, uint64_t size) {
    blocks.erase(address);
    blocks.erase(blocks.lower_bound(address), blocks.lower_bound(address + size));
  }
  static std::optional<Found> at(const Blocks &blocks, uint64_t address) {
    auto block = blocks.upper_bound(address);
    if (block == blocks.begin() || (--block)->second.end <= address)
      return {};
    return Found{block->first, block->second.site};
  }

  bool has_faults_ = false;
  std::unordered_map<uint32_t, std::vector<Image>> images_; // by pid, in the order of attaching
  std::unordered_map<uint64_t, Blocks> blocks_;
};

} // namespace msleaks::analysis::inline exporters
