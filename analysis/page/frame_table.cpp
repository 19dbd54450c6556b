#include "analysis/page/frame_table.h"

#include "analysis/text/paths.h"

namespace msleaks::analysis::inline page {
namespace {

Json nullIfEmpty(const std::string &text) { return text.empty() ? Json() : Json(text); }

} // namespace

void FrameTable::numbersOf(const SiteText &call, std::vector<uint32_t> &to) {
  to.push_back(numberOf(call, call));
  for (const FrameText &inlined : call.inlined_at)
    to.push_back(numberOf(call, inlined));
}

uint32_t FrameTable::numberOf(const SiteText &call, const FrameText &frame) {
  const auto [at, is_new] = numbers_.try_emplace(
      {functionOf(call, frame), frame.file, call.library, frame.line, call.origin == SiteOrigin::Python},
      static_cast<uint32_t>(frames_.size()));
  if (is_new)
    frames_.push_back(&at->first);
  return at->second;
}

size_t FrameTable::shownNumber(uint32_t number) {
  const auto [at, is_new] = shown_numbers_.try_emplace(number, shown_.size());
  if (is_new) {
    const Frame &frame = *frames_[number];
    shown_.push_back({{"text", frame.text},
                      {"file", nullIfEmpty(frame.file)},
                      {"line", frame.line == 0 ? Json() : Json(frame.line)},
                      {"library", nullIfEmpty(frame.library)},
                      {"python", frame.is_python}});
  }
  return at->second;
}

} // namespace msleaks::analysis::inline page
