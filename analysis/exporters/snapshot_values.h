// The values of a memory snapshot of PyTorch that occur often: words, frames and metadata of blocks. Each is written
// once, and later fetched by its number in the pickle.
#pragma once

#include "analysis/base/tables.h"
#include "analysis/exporters/path_exporter.h"
#include "analysis/exporters/pickle.h"
#include "analysis/live/owners.h"
#include "analysis/places/place.h"
#include "analysis/report/block_reader.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline exporters {

// clang-format off
#define MSL_SNAPSHOT_WORDS(WORD)                                                                                       \
  WORD(action) WORD(active_allocated) WORD(active_size) WORD(activation) WORD(addr) WORD(address) WORD(alloc)          \
  WORD(allocated_size) WORD(blocks) WORD(category) WORD(device) WORD(device_free) WORD(filename) WORD(frames)          \
  WORD(free_completed) WORD(free_requested) WORD(gradient) WORD(inactive) WORD(input) WORD(large) WORD(library)        \
  WORD(line) WORD(name) WORD(none) WORD(oom) WORD(optimizer_state) WORD(parameter) WORD(requested_size)                \
  WORD(segment_alloc) WORD(segment_free) WORD(segment_type) WORD(size) WORD(snapshot) WORD(stage) WORD(state)          \
  WORD(stream) WORD(temporary) WORD(time_us) WORD(total_size) WORD(unknown) WORD(user_metadata) WORD(version)          \
  WORD(START) WORD(END)
// clang-format on

enum class Word : uint8_t {
#define MSL_WORD(name) name,
  MSL_SNAPSHOT_WORDS(MSL_WORD)
#undef MSL_WORD
      Count
};
inline constexpr std::array<const char *, static_cast<size_t>(Word::Count)> kWordTexts = {
#define MSL_WORD(name) #name,
    MSL_SNAPSHOT_WORDS(MSL_WORD)
#undef MSL_WORD
};

class SnapshotValues {
public:
  // Numbers are even. The caller may give odd numbers to values of its own, and take even ones by takeNumber().
  uint32_t takeNumber() { return last_number_ += 2; }

  void push(Word word) {
    uint32_t &number = words_[static_cast<size_t>(word)];
    if (number != 0)
      return pickle.get(number);
    pickle.text(kWordTexts[static_cast<size_t>(word)]);
    pickle.put(number = takeNumber());
  }
  void item(Word key, uint64_t value) {
    push(key);
    pickle.number(value);
  }
  void item(Word key, Word value) {
    push(key);
    push(value);
  }
  // An item with a value that has a number, or else an empty list.
  void itemOf(Word key, uint32_t number) {
    push(key);
    number != 0 ? pickle.get(number) : pickle.emptyList();
  }

  // Pushes the frames of the site's path, the innermost first. Returns their number.
  uint32_t pushFrames(SiteCatalog &catalog, SiteId site) {
    uint32_t &number = elementAt(frames_, site.index);
    if (number != 0) {
      pickle.get(number);
      return number;
    }
    pickle.emptyList();
    pickle.put(number = takeNumber());
    for (const SiteId call : shownPath(catalog, site).calls)
      pushCall(catalog, call);
    return number;
  }

  // Pushes a text with the facts about the block that have no field of their own.
  void pushMetadata(ReadRun &run, const Block &block) {
    uint32_t &number = elementAt(metadata_, block.cohort.index);
    if (number == 0)
      number = numberOf(metadataOf(run, run.cohorts[block.cohort]));
    else
      pickle.get(number);
  }

  Pickle pickle;

private:
  // Adds each frame of the call to the list on top of the stack.
  void pushCall(SiteCatalog &catalog, SiteId call) {
    std::vector<uint32_t> &numbers = calls_[call.index];
    if (numbers.empty())
      for (const SiteText text = analysis::textOf(catalog.describe(call)); const PathFrame &frame : framesOf(text)) {
        pushFrame(frame, text.library);
        pickle.put(numbers.emplace_back(takeNumber()));
        pickle.append();
      }
    else
      for (const uint32_t number : numbers) {
        pickle.get(number);
        pickle.append();
      }
  }
  // PyTorch has no libraries. A reader ignores keys that it does not know.
  void pushFrame(const PathFrame &frame, const std::string &library) {
    pickle.emptyDict();
    pickle.mark();
    push(Word::filename);
    numberOf(frame.file);
    item(Word::line, frame.line);
    push(Word::name);
    numberOf(frame.function);
    if (!frame.is_python && !library.empty()) {
      push(Word::library);
      numberOf(library);
    }
    pickle.setItems();
  }
  // Pushes the text, and returns its number.
  uint32_t numberOf(const std::string &text) {
    const auto [known, is_new] = texts_.try_emplace(text, 0);
    if (!is_new) {
      pickle.get(known->second);
      return known->second;
    }
    pickle.text(text);
    pickle.put(known->second = takeNumber());
    return known->second;
  }
  static std::string metadataOf(ReadRun &run, const Cohort &cohort) {
    std::string text;
    const auto add = [&](const char *what, std::string_view value) {
      if (!value.empty())
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", what, value);
    };
    add("owner", ownerOf(cohort, run.catalog));
    add("module", moduleOf(cohort, run.catalog));
    if (cohort.heap != abi::Heap::Device && cohort.heap != abi::Heap::Pool)
      add("heap", abi::nameOf(cohort.heap));
    return text;
  }

  uint32_t last_number_ = 0;
  std::array<uint32_t, static_cast<size_t>(Word::Count)> words_{}; // numbers in the pickle; 0 = not yet written
  std::unordered_map<std::string, uint32_t> texts_;
  std::vector<uint32_t> frames_, metadata_;                   // by site, by cohort
  std::unordered_map<uint32_t, std::vector<uint32_t>> calls_; // frames of each call
};

} // namespace msleaks::analysis::inline exporters
