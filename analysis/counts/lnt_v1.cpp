#include "analysis/counts/lnt_v1.h"

#include "analysis/counts/compression.h"
#include "analysis/counts/escaped.h"
#include "analysis/counts/pickle.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace msleaks::analysis::profiles {
namespace {

using Ref = Pickle::Ref;
using Kind = Pickle::Kind;

class V1Reader {
public:
  explicit V1Reader(const Pickle &pickle) : pickle_(pickle) {}
  Result<Profile> read();

private:
  // Calls f(name, value) for each entry. An error that f returns ends the calls.
  template <class F> Result<void> forEachEntry(Ref dictionary, std::string_view what, F &&f);
  Result<void> readTopLevel(Ref);
  Result<void> readFunction(std::string_view name, Ref);
  Result<ProfiledLine> readLine(std::string_view name, const ProfiledFunction &, Ref);

  const Pickle &pickle_;
  uint64_t weight_ = 0, text_bytes_ = 0;
  Profile profile_;
};

template <class F> Result<void> V1Reader::forEachEntry(Ref dictionary, std::string_view what, F &&f) {
  if (pickle_.kindOf(dictionary) != Kind::Dictionary)
    return fail(fmt::format("its {} are no dictionary", what));
  const std::vector<Ref> &items = pickle_.itemsOf(dictionary);
  for (size_t i = 0; i < items.size(); i += 2) {
    if (pickle_.kindOf(items[i]) != Kind::Text)
      return fail(fmt::format("one of its {} has no name", what));
    MSL_TRY(f(pickle_.textOf(items[i]), items[i + 1]));
  }
  return {};
}

// Cuts fractions off, as LNT does when it converts the profile to the next format.
Result<void> V1Reader::readTopLevel(Ref counters) {
  return forEachEntry(counters, "counters", [&](std::string_view name, Ref value) -> Result<void> {
    uint64_t &count = profile_.counters[std::string(name)];
    if (pickle_.kindOf(value) == Kind::Integer) { // exact, unlike a floating-point number
      count = pickle_.integerOf(value);
      return {};
    }
    const double number = pickle_.isNumber(value) ? pickle_.numberOf(value) : -1;
    if (!(number >= 0 && number < 0x1p64))
      return fail(fmt::format("its counter '{}' is no count", shown(name)));
    count = static_cast<uint64_t>(number);
    return {};
  });
}

Result<ProfiledLine> V1Reader::readLine(std::string_view name, const ProfiledFunction &function, Ref ref) {
  const auto broken = [&](const char *why) {
    return fail(fmt::format("a line of function '{}' {}", shown(name), why));
  };
  if (pickle_.kindOf(ref) != Kind::List || pickle_.itemsOf(ref).size() < 3)
    return broken("is no list of three");
  const std::vector<Ref> &items = pickle_.itemsOf(ref);
  const size_t counters = pickle_.kindOf(items[0]) == Kind::Dictionary ? 0 : 1;
  const Ref address = items[1 - counters];
  if (pickle_.kindOf(address) != Kind::Integer || pickle_.kindOf(items[2]) != Kind::Text)
    return broken("has no address, or no text");
  ProfiledLine line{std::vector<double>(function.counters.size()), pickle_.integerOf(address),
                    std::string(pickle_.textOf(items[2]))};
  text_bytes_ += line.text.size();
  MSL_TRY(forEachEntry(items[counters], "counters of a line", [&](std::string_view counter, Ref value) -> Result<void> {
    const auto known = function.counters.find(counter);
    if (known == function.counters.end())
      return broken("has a counter that the function has not");
    line.shares[static_cast<size_t>(std::distance(function.counters.begin(), known))] =
        pickle_.isNumber(value) ? pickle_.numberOf(value) : NAN;
    return {};
  }));
  return line;
}

Result<void> V1Reader::readFunction(std::string_view name, Ref ref) {
  if (pickle_.kindOf(ref) != Kind::Dictionary)
    return fail(fmt::format("its function '{}' is no dictionary", shown(name)));
  ProfiledFunction function;
  if (const Ref *counters = pickle_.find(ref, "counters"))
    MSL_TRY(forEachEntry(*counters, "counters of a function", [&](std::string_view counter, Ref value) -> Result<void> {
      function.counters[std::string(counter)] = pickle_.isNumber(value) ? pickle_.numberOf(value) : NAN;
      return {};
    }));
  if (const Ref *lines = pickle_.find(ref, "data")) {
    if (pickle_.kindOf(*lines) != Kind::List)
      return fail(fmt::format("the lines of function '{}' are no list", shown(name)));
    for (const Ref line : pickle_.itemsOf(*lines)) {
      // A pickle may contain the same list many times.
      if ((weight_ += 1 + function.counters.size() / 8) > kMostLines || text_bytes_ > kMostUnpackedBytes)
        return fail(fmt::format("has more than {} lines, or {} MiB of text", kMostLines, kMostUnpackedBytes >> 20));
      function.lines.push_back(MSL_TRY(readLine(name, function, line)));
    }
  }
  // LNT's import of perf.data writes addresses that fall if it reads past the end of a symbol.
  std::stable_sort(function.lines.begin(), function.lines.end(),
                   [](const ProfiledLine &left, const ProfiledLine &right) { return left.address < right.address; });
  profile_.functions.insert_or_assign(std::string(name), std::move(function));
  return {};
}

Result<Profile> V1Reader::read() {
  const Ref root = pickle_.root();
  const Ref *counters = pickle_.find(root, "counters"), *functions = pickle_.find(root, "functions");
  if (!counters || !functions)
    return fail("is a pickle, but no profile: it has no counters, or no functions");
  if (const Ref *format = pickle_.find(root, "disassembly-format"); format && pickle_.kindOf(*format) == Kind::Text)
    profile_.disassembly_format = pickle_.textOf(*format);
  MSL_TRY(readTopLevel(*counters));
  MSL_TRY(forEachEntry(*functions, "functions",
                       [&](std::string_view name, Ref function) { return readFunction(name, function); }));
  return std::move(profile_);
}

} // namespace

Result<Profile> readLntV1(std::span<const uint8_t> file) {
  const std::string content = MSL_TRY(unpackZlib(file, kMostUnpackedBytes));
  const Pickle pickle = MSL_TRY(Pickle::parse(content));
  Profile profile = MSL_TRY(V1Reader(pickle).read());
  MSL_TRY(checkProfile(profile));
  return profile;
}

} // namespace msleaks::analysis::profiles
