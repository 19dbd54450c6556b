// Pairs live blocks that have the same size: a block that the program could free with the block that it needs.
#pragma once

#include "analysis/live/live_set.h"

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline analyzers {

class SizePairs {
public:
  enum class Role : uint8_t { Spare, Needed };

  // The two blocks were alive at the same time, since the younger one was allocated.
  struct Pair {
    Block spare, needed;
  };

  // The block is alive now. It becomes one of a pair if a block of the other role is alone.
  void add(Role role, const Block &block) {
    members_[block.id.index] = {block, role, 0};
    match(block.id.index);
  }
  // The block belongs to another site.
  void change(const Block &block) {
    if (const auto found = members_.find(block.id.index); found != members_.end())
      found->second.block = block;
  }
  // The block ends, and so does its pair. The other block may become one of a new pair.
  std::optional<Pair> remove(const Block &block) {
    const auto found = members_.find(block.id.index);
    if (found == members_.end())
      return std::nullopt;
    const Member member = found->second;
    members_.erase(found);
    if (member.partner == 0) {
      std::erase(aloneOf(member), block.id.index);
      return std::nullopt;
    }
    Member &other = members_.at(member.partner);
    other.partner = 0;
    const Block theirs = other.block;
    match(member.partner);
    return member.role == Role::Spare ? Pair{block, theirs} : Pair{theirs, block};
  }

private:
  struct Member {
    Block block;
    Role role;
    uint32_t partner; // number of a block; 0: it is alone
  };
  struct Key {
    uint64_t size;
    uint32_t process;
    abi::Heap heap;
    uint8_t device;
    auto operator<=>(const Key &) const = default;
  };
  using Alone = std::vector<uint32_t>; // numbers of blocks

  std::array<Alone, 2> &ofSize(const Block &block) {
    return alone_[{block.size, block.process, block.heap, block.device}];
  }
  Alone &aloneOf(const Member &member) { return ofSize(member.block)[static_cast<size_t>(member.role)]; }

  void match(uint32_t number) {
    Member &member = members_.at(number);
    Alone &others = ofSize(member.block)[1 - static_cast<size_t>(member.role)];
    if (others.empty()) {
      aloneOf(member).push_back(number);
      return;
    }
    member.partner = others.back();
    others.pop_back();
    members_.at(member.partner).partner = number;
  }

  std::unordered_map<uint32_t, Member> members_; // by the block's number
  std::map<Key, std::array<Alone, 2>> alone_;    // by role
};

} // namespace msleaks::analysis::inline analyzers
