#include "run/memscope_options.h"

#include "msleaks/abi/chosen_steps.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <vector>

namespace msleaks::driver {
namespace {

using abi::EventKind;

constexpr uint32_t kBlocks = abi::enabledBit(EventKind::Alloc) | abi::enabledBit(EventKind::Free);
constexpr uint32_t kUses =
    abi::enabledBit(EventKind::Access) | abi::enabledBit(EventKind::Copy) | abi::enabledBit(EventKind::Set);
constexpr uint32_t kLaunches = abi::enabledBit(EventKind::Launch);
constexpr uint32_t kKernels = kLaunches | abi::enabledBit(EventKind::Kernel);
constexpr uint32_t kRanges = abi::enabledBit(EventKind::RangeBegin) | abi::enabledBit(EventKind::RangeEnd);

void takeAccelerator(RunOptions &run, std::optional<uint32_t> number) {
  run.devices.accelerators |= number ? 1u << *number : UINT32_MAX;
}

// A word that may stand in the list of an option, and its effect.
struct Word {
  std::string_view option, name;
  uint32_t least = 0, most = 0;  // bounds of the number in "oom:10"; most 0 = the word has no number
  std::string_view instead = {}; // the word is deprecated: the word to use
  uint32_t needs = 0;            // these events are recorded, also if --events does not name them
  uint32_t of_level = 0;         // these events are recorded only if --level names the word
  void (*take)(RunOptions &, std::optional<uint32_t> number) = nullptr;
};

constexpr Word kWords[] = {
    {.option = "--collect-mode", .name = "immediate", .take = [](RunOptions &run, auto) { run.start_paused = false; }},
    {.option = "--collect-mode", .name = "deferred", .take = [](RunOptions &run, auto) { run.start_paused = true; }},
    {.option = "--analysis", .name = "leaks", .needs = kBlocks},
    {.option = "--analysis", .name = "decompose", .needs = kBlocks | kUses},
    {.option = "--analysis", .name = "inefficient", .needs = kBlocks | kUses | kLaunches},
    {.option = "--analysis", .name = "oom", .least = 1, .most = 1000, .needs = kBlocks},
    {.option = "--analysis", .name = "none", .take = [](RunOptions &run, auto) { run.no_report = true; }},
    {.option = "--level", .name = "op", .of_level = kRanges},
    {.option = "--level", .name = "kernel", .of_level = kKernels},
    {.option = "--level", .name = "0", .instead = "op", .of_level = kRanges},
    {.option = "--level", .name = "1", .instead = "kernel", .of_level = kKernels},
    {.option = "--device", .name = "npu", .most = 31, .take = takeAccelerator},
    {.option = "--device", .name = "gpu", .most = 31, .take = takeAccelerator},
    {.option = "--device", .name = "cpu", .take = [](RunOptions &run, auto) { run.devices.host = true; }},
    {.option = "--call-stack", .name = "c", .most = 1000},
    {.option = "--call-stack", .name = "python", .most = 1000},
};

struct DeclaredList {
  const char *option, *value_name, *doc;
};
constexpr DeclaredList kLists[] = {
    {"--collect-mode", "MODE", "immediate: records from the beginning; deferred: as --start-paused"},
    {"--analysis", "NAMES",
     "leaks, decompose, inefficient or oom[:K]: also records the events that these analyses need; none: as "
     "--no-report"},
    {"--level", "NAMES", "op: records no launches of kernels; kernel: records no ranges. Both by default"},
    {"--device", "NAMES", "npu[:N], gpu[:N], cpu: records only blocks of these devices. All by default"},
};

constexpr uint32_t kUsualDepth = 50; // msMemScope's depth of a path

std::string allowedOf(std::string_view option) {
  std::string text;
  for (const Word &word : kWords)
    if (word.option == option && word.instead.empty())
      text += fmt::format("{}{}{}", text.empty() ? "" : ", ", word.name,
                          word.most != 0 ? fmt::format("[:{}..{}]", word.least, word.most) : std::string());
  return text;
}

struct Found {
  const Word *word;
  std::optional<uint32_t> number;
};

std::optional<Found> find(std::string_view option, std::string_view text) {
  const size_t colon = text.find(':');
  const auto word = std::ranges::find_if(
      kWords, [&](const Word &known) { return known.option == option && known.name == text.substr(0, colon); });
  if (word == std::end(kWords))
    return std::nullopt;
  if (colon == std::string_view::npos)
    return Found{word, std::nullopt};
  const std::string_view digits = text.substr(colon + 1);
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (word->most == 0 || error != std::errc() || end != digits.data() + digits.size() || number < word->least ||
      number > word->most)
    return std::nullopt;
  return Found{word, number};
}

// Splits at commas, also at the full-width comma. Empty words are left out.
std::vector<std::string_view> split(std::string_view list) {
  constexpr std::string_view kSeparators[] = {",", "\uff0c"};
  std::vector<std::string_view> words;
  while (!list.empty()) {
    size_t at = list.size(), length = 0;
    for (const std::string_view separator : kSeparators)
      if (const size_t found = list.find(separator); found < at) {
        at = found;
        length = separator.size();
      }
    if (at != 0)
      words.push_back(list.substr(0, at));
    list.remove_prefix(at + length);
  }
  return words;
}

// Reads a list of words. Returns an error message, or an empty text.
std::string read(std::string_view option, std::string_view list, std::vector<Found> &found) {
  for (const std::string_view text : split(list)) {
    const auto word = find(option, text);
    if (!word)
      return fmt::format("'{}' is none of {}", text, allowedOf(option));
    found.push_back(*word);
  }
  return {};
}

std::string take(const DeclaredList &list, const std::string &text, RunOptions &options) {
  std::vector<Found> found;
  if (std::string wrong = read(list.option, text, found); !wrong.empty())
    return wrong;
  if (found.empty())
    return fmt::format("'{}' names nothing; allowed are {}", text, allowedOf(list.option));
  uint32_t level = 0;
  const bool is_none = std::ranges::any_of(found, [](const Found &one) { return one.word->name == "none"; });
  if (is_none && found.size() > 1)
    options.notes.push_back(fmt::format("{} {}: only none counts", list.option, text));
  for (const Found &one : found) {
    if (!one.word->instead.empty())
      options.notes.push_back(
          fmt::format("{} {} is deprecated: write {}", list.option, one.word->name, one.word->instead));
    if (is_none && one.word->name != "none")
      continue;
    options.needed |= one.word->needs;
    level |= one.word->of_level;
    if (one.word->take != nullptr)
      one.word->take(options, one.number);
  }
  if (level != 0)
    options.left_out = (kRanges | kKernels) & ~level;
  return {};
}

// Reads the numbers of steps, as in "3,4". The number of a program's first step may be 0.
std::string takeSteps(const std::string &text, std::vector<uint64_t> &steps) {
  steps.clear();
  for (const std::string_view word : split(text)) {
    uint64_t step = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), step);
    if (error != std::errc() || end != word.data() + word.size() || (word[0] == '0' && word.size() > 1))
      return fmt::format("'{}' is no number of a step, such as 3", word);
    steps.push_back(step);
  }
  if (steps.empty() || steps.size() > abi::ChosenSteps::kMost)
    return fmt::format("'{}' names {} steps; allowed are 1 to {}", text, steps.size(), abi::ChosenSteps::kMost);
  return {};
}

} // namespace

void declareMemscope(analysis::CommandLine &line, RunOptions &options) {
  line.group("As msMemScope names them", analysis::Shown::InFullHelp);
  for (const DeclaredList &list : kLists)
    line.optionWith(
            list.option, [&list, &options](const std::string &text) { return take(list, text, options); }, list.doc)
        .valueName(list.value_name);
  line.optionWith(
          "--steps", [&options](const std::string &text) { return takeSteps(text, options.steps); },
          "records only blocks that are allocated in these steps of the program, at most five numbers")
      .valueName("NUMBERS");
}

std::string translateCallStack(std::string &value) {
  constexpr std::string_view kOption = "--call-stack";
  const std::vector<std::string_view> words = split(value);
  const auto isOurs = [](std::string_view text) { return !text.starts_with("c") && !text.starts_with("python"); };
  if (std::ranges::any_of(words, isOurs))
    return {};
  std::vector<Found> found;
  if (std::string wrong = read(kOption, value, found); !wrong.empty())
    return wrong;
  uint32_t depth = 0;
  for (const Found &one : found)
    depth = std::max(depth, one.number.value_or(kUsualDepth));
  value = depth == 0 ? "none" : fmt::format("all:{}", depth);
  return {};
}

} // namespace msleaks::driver
