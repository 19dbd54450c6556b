// The images that are mapped into one process, by address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

namespace msleaks::analysis::profiles {

struct MappedImage {
  uint64_t begin = 0, end = 0;
  uint64_t offset = 0; // the place in the file that is mapped at `begin`
  uint32_t image = 0;
};

class AddressSpace {
public:
  // Maps `fresh`. It replaces older images in its range. If an older image reaches out of the range, the rest of the
  // older image stays.
  void map(const MappedImage &fresh) {
    if (fresh.begin >= fresh.end)
      return;
    auto at = images_.upper_bound(fresh.begin);
    if (at != images_.begin() && std::prev(at)->second.end > fresh.begin)
      --at;
    while (at != images_.end() && at->first < fresh.end) {
      const MappedImage old = at->second;
      at = images_.erase(at);
      if (old.begin < fresh.begin)
        images_[old.begin] = {old.begin, fresh.begin, old.offset, old.image};
      if (old.end > fresh.end)
        images_[fresh.end] = {fresh.end, old.end, old.offset + (fresh.end - old.begin), old.image};
    }
    images_[fresh.begin] = fresh;
  }

  const MappedImage *at(uint64_t address) const {
    auto found = images_.upper_bound(address);
    if (found == images_.begin() || address >= (--found)->second.end)
      return nullptr;
    return &found->second;
  }

  size_t size() const { return images_.size(); }

private:
  std::map<uint64_t, MappedImage> images_; // by begin; the images do not overlap
};

} // namespace msleaks::analysis::profiles
