// Which processes' uses of device memory are all seen. Where they are not, nobody can say what is used no more.
#pragma once

#include <cstdint>
#include <unordered_map>

namespace msleaks::analysis {

class UseSources {
public:
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

  // A process that launches nothing, as far as anybody sees, has another way to use its device.
  bool seesAll(uint32_t process) const {
    const auto found = sources_.find(process);
    return !all_unknown_ && found != sources_.end() && found->second.listed && !found->second.unknown &&
           found->second.not_listed == 0;
  }

private:
  struct Source {
    bool listed = false, unknown = false;
    uint64_t not_listed = 0; // launches
  };
  std::unordered_map<uint32_t, Source> sources_; // that launched something
  bool all_unknown_ = false;
};

} // namespace msleaks::analysis
