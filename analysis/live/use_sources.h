// Which processes' uses of device memory are all seen. Where they are not, nobody can say which memory is no longer
// used.
#pragma once

#include <cstdint>
#include <unordered_map>

namespace msleaks::analysis {

class UseSources {
public:
  // `listed`: each call that can use it is seen (OpenCL).
  void addBlock(uint32_t process, bool listed) {
    Source &source = sources_[process];
    (listed ? source.has_listed_blocks : source.has_other_blocks) = true;
  }
  // `listed`: Access events behind it name all memory that it was given.
  void addLaunch(uint32_t process, bool listed) {
    Source &source = sources_[process];
    source.listed |= listed;
    source.not_listed += listed ? 0 : 1;
  }
  // What the last launch was given is told behind it.
  void listLast(uint32_t process) {
    Source &source = sources_[process];
    source.listed = true;
    source.not_listed -= source.not_listed != 0 ? 1 : 0;
  }
  // Memory was used, and nobody knows which.
  void addUnknown(uint32_t process) { sources_[process].unknown = true; }
  // What was before is not known, of any process.
  void forgetAll() { all_unknown_ = true; }

  // Where no launch is seen, the process may use its device in a way that nobody sees, unless its blocks have none.
  bool seesAll(uint32_t process) const {
    const auto found = sources_.find(process);
    if (all_unknown_ || found == sources_.end())
      return false;
    const Source &source = found->second;
    const bool is_known = source.listed || (source.has_listed_blocks && !source.has_other_blocks);
    return is_known && !source.unknown && source.not_listed == 0;
  }

private:
  struct Source {
    bool listed = false, unknown = false;
    bool has_listed_blocks = false, has_other_blocks = false;
    uint64_t not_listed = 0; // launches
  };
  std::unordered_map<uint32_t, Source> sources_; // that have or used device memory
  bool all_unknown_ = false;
};

} // namespace msleaks::analysis
