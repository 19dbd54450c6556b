// Reads the tree of call paths of this process from its files, as a collector does.
#pragma once

#include "session_fixture.h"

namespace msleaks::test {

struct Path {
  std::vector<uint64_t> calls; // innermost first
  uint32_t site = 0;
  bool complete = false;
};

class Nodes {
public:
  explicit Nodes(const SessionDirectory &session) : session_(session) {}

  // Returns an empty path if this process has no node with this number.
  Path pathOf(uint32_t number) {
    Path path;
    uint32_t at = number & ~abi::kPathSite;
    for (; at >= abi::kFirstPath && isNode(at); at = node(at).parent) {
      if (node(at).image == abi::kImageOfSite)
        path.site = static_cast<uint32_t>(node(at).address);
      else
        path.calls.push_back(node(at).address);
    }
    path.complete = at == abi::kPathBegin;
    return path;
  }

  uint32_t imageOf(uint32_t number) { return node(number & ~abi::kPathSite).image; }

private:
  bool isNode(uint32_t number) {
    if (number >= count_) {
      map();
      count_ = arenas_.empty() ? 0 : arenas_.front()->header().path_count.load();
      map(); // a handler may have added nodes, so the file may have grown
    }
    return number < count_;
  }
  const abi::PathNode &node(uint32_t number) {
    if (!isNode(number))
      std::abort();
    return arenas_.front()->pathNode(number);
  }
  void map() {
    arenas_ = session_.arenas();
    std::erase_if(arenas_, [](const auto &arena) { return arena->header().pid != static_cast<uint32_t>(::getpid()); });
  }
  const SessionDirectory &session_;
  std::vector<std::unique_ptr<ArenaFile>> arenas_;
  uint32_t count_ = 0;
};

} // namespace msleaks::test
