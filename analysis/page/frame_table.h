// The calls of all paths of a page. Equal calls have one number.
#pragma once

#include "analysis/places/site_text.h"
#include "analysis/result/json_tree.h"

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline page {

class FrameTable {
public:
  // Appends the number of the call, and of each function where it was inlined, the innermost first.
  void numbersOf(const SiteText &call, std::vector<uint32_t> &to);
  // Returns the number of the call in frames(). Only calls that were asked for are in frames().
  size_t shownNumber(uint32_t number);
  // A JSON list: the function's name, its file and line, its library, and whether it is Python's.
  const Json &frames() const { return shown_; }

private:
  struct Frame {
    std::string text, file, library;
    uint32_t line = 0;
    bool is_python = false;
    auto operator<=>(const Frame &) const = default;
  };
  uint32_t numberOf(const SiteText &call, const FrameText &frame);

  std::map<Frame, uint32_t> numbers_;
  std::vector<const Frame *> frames_; // by number
  std::unordered_map<uint32_t, size_t> shown_numbers_;
  Json shown_ = Json::array();
};

} // namespace msleaks::analysis::inline page
