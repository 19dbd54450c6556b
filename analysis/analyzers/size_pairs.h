// Pairs live blocks that have the same size: a block that the program could free with the block that it needs.
#pragma once

#include "analysis/live/live_set.h"

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline analyzers {

class SizePairs {
public:
  enum class Role : uint8_t { Spare, Needed };
  // Why a block ends: the program has dropped it, or its process ends.
  enum class End : uint8_t { Dropped, OfProcess };

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
  // The block ends, and so does its pair. The other block may become one of a new pair. But if the program has dropped
  // a spare block, one needed block rests: the other spare blocks may be in use themselves.
  std::optional<Pair> remove(const Block &block, End end) {
    auto found = members_.extract(block.id.index);
    if (found.empty())
      return std::nullopt;
    Member &member = found.mapped();
    Group &group = groupOf(member.block);
    if (member.partner == 0) {
      std::erase(group.alone[static_cast<size_t>(member.role)], block.id.index);
      std::erase(group.resting, block.id.index);
      std::erase(group.in_use, block.id.index);
      if (member.role == Role::Needed || end != End::Dropped || group.paired.empty())
        return std::nullopt;
      member.partner = group.paired.back();
      uint32_t &in_use = members_.at(member.partner).partner;
      members_.at(in_use).partner = 0;
      group.in_use.push_back(std::exchange(in_use, 0));
    }
    Member &other = members_.at(member.partner);
    other.partner = 0;
    std::erase(group.paired, member.role == Role::Needed ? block.id.index : member.partner);
    const Block theirs = other.block;
    if (end == End::Dropped && member.role == Role::Spare)
      rest(member.partner, group);
    else if (end != End::OfProcess)
      match(member.partner);
    return member.role == Role::Spare ? Pair{block, theirs} : Pair{theirs, block};
  }
  // More spare blocks follow, so a needed block that rests may get a partner. If they come from elsewhere, the earlier
  // spare blocks of its size get none. Else the blocks that ended were only temporary.
  void expectSpares(bool from_elsewhere) {
    for (Group *group : with_rest_) {
      Numbers &alone = group->alone[static_cast<size_t>(Role::Spare)];
      if (from_elsewhere)
        alone.clear();
      else
        alone.insert(alone.end(), group->in_use.begin(), group->in_use.end());
      group->in_use.clear();
      for (const uint32_t number : std::exchange(group->resting, {}))
        match(number);
    }
    with_rest_.clear();
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
  using Numbers = std::vector<uint32_t>; // of blocks
  struct Group {
    std::array<Numbers, 2> alone; // by role
    Numbers paired, resting;      // needed blocks
    Numbers in_use;               // spare blocks that lost their partner
  };

  Group &groupOf(const Block &block) { return groups_[{block.size, block.process, block.heap, block.device}]; }

  void rest(uint32_t number, Group &group) {
    if (group.resting.empty())
      with_rest_.insert(&group);
    group.resting.push_back(number);
  }

  void match(uint32_t number) {
    Member &member = members_.at(number);
    Group &group = groupOf(member.block);
    Numbers &others = group.alone[1 - static_cast<size_t>(member.role)];
    if (others.empty()) {
      group.alone[static_cast<size_t>(member.role)].push_back(number);
      return;
    }
    member.partner = others.back();
    others.pop_back();
    members_.at(member.partner).partner = number;
    group.paired.push_back(member.role == Role::Needed ? number : member.partner);
  }

  std::unordered_map<uint32_t, Member> members_; // by the block's number
  std::map<Key, Group> groups_;
  std::set<Group *> with_rest_; // the groups whose `resting` is not empty
};

} // namespace msleaks::analysis::inline analyzers
