// Memory that several processes have mapped, or one of them several times: a memfd, a file of tmpfs or hugetlbfs. It
// counts once. So each object is cut into pieces that are mapped as a whole by all who map any of them. The first of
// those, the owner, has its bytes; the others' mappings have no bytes of their own. When the owner goes, the bytes move
// to the next one.
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
  using Pieces = std::map<uint64_t, Piece>; // by their begin, side by side or apart

  // More are not followed, so that no trace can make each of its events cost a million others.
  static constexpr size_t kMostHolders = 1024, kMostPiecesOfOne = 256;

  const std::map<ObjectKey, Pieces> &objects() const { return objects_; }
  Pieces &operator[](const ObjectKey &key) { return objects_[key]; }

  // Whether a mapping of [begin, end) can be followed.
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

  // The holder has gone; the new owner, if there is another one than before.
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
