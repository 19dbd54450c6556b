// Memory that several processes have mapped, or one process several times: a memfd, or a file of tmpfs or hugetlbfs.
// It counts only once. So each object is split into pieces, and each mapping shows whole pieces. The first mapping of
// a piece owns its bytes; the other mappings have no bytes. If the owner is removed, the next mapping becomes the
// owner.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <vector>

namespace msleaks::analysis::inline live {

struct ObjectKey {
  uint64_t file_system = 0, inode = 0;
  bool known() const { return inode != 0; }
  auto operator<=>(const ObjectKey &) const = default;
};

class SharedObjects {
public:
  // A mapping of exactly one piece.
  struct Holder {
    uint32_t process;
    uint64_t address;
    bool operator==(const Holder &) const = default;
  };
  struct Piece {
    uint64_t end;
    std::vector<Holder> holders; // never empty; the first is the owner
  };
  using Pieces = std::map<uint64_t, Piece>; // by their start; there may be gaps between them

  // Mappings beyond these limits are not shared: otherwise an event of a hostile trace could cost a million others.
  static constexpr size_t kMostHolders = 1024, kMostPiecesOfOne = 256;

  const std::map<ObjectKey, Pieces> &objects() const { return objects_; }
  Pieces &operator[](const ObjectKey &key) { return objects_[key]; }

  // Whether the limits allow a mapping of [begin, end).
  bool hasRoom(const ObjectKey &key, uint64_t begin, uint64_t end) const {
    const auto object = objects_.find(key);
    if (object == objects_.end())
      return true;
    auto at = object->second.upper_bound(begin);
    if (at != object->second.begin())
      --at;
    for (size_t count = 0; at != object->second.end() && at->first < end; ++at)
      if (at->second.holders.size() >= kMostHolders || ++count > kMostPiecesOfOne)
        return false;
    return true;
  }

  // Removes the holder. Returns the new owner of the piece, if the owner has changed.
  const Holder *leave(const ObjectKey &key, uint64_t begin, const Holder &holder) {
    const auto object = objects_.find(key);
    if (object == objects_.end())
      return nullptr;
    const auto piece = object->second.find(begin);
    if (piece == object->second.end())
      return nullptr;
    std::vector<Holder> &holders = piece->second.holders;
    const auto found = std::find(holders.begin(), holders.end(), holder);
    if (found == holders.end())
      return nullptr;
    const bool owned = found == holders.begin();
    holders.erase(found);
    if (!holders.empty())
      return owned ? &holders.front() : nullptr;
    object->second.erase(piece);
    if (object->second.empty())
      objects_.erase(object);
    return nullptr;
  }

private:
  std::map<ObjectKey, Pieces> objects_;
};

} // namespace msleaks::analysis::inline live
