#include "analysis/page/flame_tree.h"

#include "analysis/text/paths.h"

#include <algorithm>
#include <ranges>

namespace msleaks::analysis::inline page {
namespace {

constexpr uint64_t kShownPart = 2000; // calls with less than 1/2000 of all bytes are shown as one
constexpr int kSmallCalls = -1;

} // namespace

void FlameTree::add(const SiteLine &line) {
  std::vector<uint32_t> frames;
  for (const PathBlocks &blocks : blocksByPath(line)) {
    frames.clear();
    for (const SiteText *call : blocks.calls)
      frames_.numbersOf(*call, frames);
    addPath(frames, blocks.bytes, blocks.count);
  }
}

void FlameTree::addPath(const std::vector<uint32_t> &from_innermost, uint64_t bytes, uint64_t count) {
  uint32_t call = 0;
  const auto addTo = [&](uint32_t to) {
    calls_[to].bytes += bytes;
    calls_[to].count += count;
  };
  addTo(call);
  for (const uint32_t frame : std::views::reverse(from_innermost))
    addTo(call = below(call, frame));
}

uint32_t FlameTree::below(uint32_t call, uint32_t frame) {
  const auto [at, is_new] = number_.try_emplace({call, frame}, static_cast<uint32_t>(calls_.size()));
  if (is_new) {
    calls_[call].below.push_back(at->second);
    calls_.push_back({.frame = frame});
  }
  return at->second;
}

Json FlameTree::jsonOf(uint32_t number, uint64_t least_bytes) const {
  const Call &call = calls_[number];
  Json shown = Json::array();
  uint64_t small_bytes = 0, small_count = 0;
  for (const uint32_t below : call.below) {
    if (calls_[below].bytes >= least_bytes) {
      shown.push_back(jsonOf(below, least_bytes));
      continue;
    }
    small_bytes += calls_[below].bytes;
    small_count += calls_[below].count;
  }
  if (small_count != 0)
    shown.push_back({kSmallCalls, small_bytes, small_count, Json::array()});
  const Json frame = number == 0 ? Json(kSmallCalls) : Json(frames_.shownNumber(call.frame));
  return {frame, call.bytes, call.count, std::move(shown)};
}

Json FlameTree::json() const {
  const Call &root = calls_.front();
  return {{"bytes", root.bytes},
          {"count", root.count},
          {"root", jsonOf(0, std::max<uint64_t>(root.bytes / kShownPart, 1))}};
}

} // namespace msleaks::analysis::inline page
