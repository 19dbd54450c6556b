#include "analysis/compare/common_factor.h"

#include "analysis/base/text.h"

#include <cmath>
#include <fmt/format.h>
#include <vector>

namespace msleaks::analysis::inline compare {
namespace {

double factorOf(const ComparedPlace &place) {
  return static_cast<double>(place.after->bytes) / static_cast<double>(place.before->bytes);
}

// Returns a text like "twice", "2.5 times" or "half".
std::string factorWords(double factor) {
  const auto isAbout = [&](double other) { return std::abs(factor / other - 1) < 0.0025; };
  if (isAbout(2))
    return "twice";
  return isAbout(0.5) ? "half" : fmt::format("{:.3g} times", factor);
}

} // namespace

std::optional<CommonFactor> commonFactorOf(const ComparedMemory &memory, PlaceState state) {
  std::vector<const ComparedPlace *> places;
  uint64_t change = 0;
  for (const ComparedPlace &place : memory.places)
    if (place.state == state && place.changeBytes() != 0 && place.before && place.before->bytes != 0 && place.after) {
      places.push_back(&place);
      change += sizeOf(place.changeBytes());
    }
  std::erase_if(places, [&](const ComparedPlace *place) { return sizeOf(place->changeBytes()) < change / 1000; });
  if (places.size() < 2)
    return {};
  const double factor = factorOf(*places.front());
  for (const ComparedPlace *place : places)
    if (std::abs(factorOf(*place) / factor - 1) > 0.01)
      return {};
  return CommonFactor{factor, places.size()};
}

std::string factorText(const ComparedMemory &memory) {
  std::string text;
  for (const PlaceState state : {PlaceState::Grown, PlaceState::Shrunk})
    if (const auto common = commonFactorOf(memory, state))
      text +=
          fmt::format("{}All {} {} places have {} their bytes: their sizes may follow one parameter, such as the "
                      "batch size.",
                      text.empty() ? "" : " ", countText(common->places), nameOf(state), factorWords(common->factor));
  return text;
}

} // namespace msleaks::analysis::inline compare
