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
  const Json json{{"text", functionOf(call, frame)},
                  {"file", nullIfEmpty(frame.file)},
                  {"line", frame.line == 0 ? Json() : Json(frame.line)},
                  {"library", nullIfEmpty(call.library)},
                  {"python", call.origin == SiteOrigin::Python}};
  const auto [at, is_new] = numbers_.try_emplace(json.dump(-1, ' ', false, Json::error_handler_t::replace),
                                                 static_cast<uint32_t>(texts_.size()));
  if (is_new)
    texts_.push_back(&at->first);
  return at->second;
}

size_t FrameTable::shownNumber(uint32_t number) {
  const auto [at, is_new] = shown_numbers_.try_emplace(number, shown_.size());
  if (is_new)
    shown_.push_back(Json::parse(*texts_[number]));
  return at->second;
}

} // namespace msleaks::analysis::inline page
