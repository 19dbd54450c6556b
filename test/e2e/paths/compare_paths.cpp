// Usage: compare_paths RUN FOLDER. Compares call paths of the recorded RUN with those in FOLDER, which libunwind found
// for a sample of allocations (witness.c). Writes the number of results of each kind, and examples, as JSON.
#include "witnessed.h"

#include "analysis/base/run_folder.h"
#include "analysis/places/site_catalog.h"
#include "analysis/places/symbolizer.h"
#include "analysis/trace/trace_reader.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

namespace {

using namespace msleaks;
using test::Call;
using test::Witnessed;

// Returns whether the call is in a library between the allocation and the program's code, such as the hooks. msleaks
// leaves these calls out of its paths.
bool isBetween(const Call &call) {
  constexpr std::string_view kNames[] = {"libwitness.so", "libmsleaks_hooks.so", "libmsleaks_rt.so", "libstdc++.so"};
  return std::ranges::any_of(kNames, [&](std::string_view name) { return call.image.starts_with(name); });
}

struct Recorded {
  std::vector<Call> calls;
  bool complete = false;
};

enum class Verdict {
  Equal,      // all calls are equal, up to the thread's first call
  Unfinished, // all calls of our path are equal, and our path is marked as incomplete
  Beyond,     // our path is complete, and libunwind's path is equal but ends earlier
  Different,
};
constexpr const char *kNames[] = {"equal", "unfinished", "beyond", "different"};

Verdict compare(const Recorded &ours, const Witnessed &theirs) {
  if (ours.calls.empty())
    return ours.complete ? Verdict::Different : Verdict::Unfinished;
  // libunwind's path begins inside the hook. Skips its calls up to the first call of our path.
  auto begin = theirs.calls.begin();
  const auto end = begin + static_cast<ptrdiff_t>(theirs.known);
  while (begin != end && isBetween(*begin) && *begin != ours.calls.front())
    ++begin;
  const auto [our_end, their_end] = std::mismatch(ours.calls.begin(), ours.calls.end(), begin, end);
  if (our_end != ours.calls.end() && their_end != end)
    return Verdict::Different;
  const bool all_known = theirs.ended && theirs.known == theirs.calls.size();
  if (!ours.complete)
    return our_end == ours.calls.end() ? Verdict::Unfinished : Verdict::Different;
  if (our_end == ours.calls.end() && their_end == end && all_known)
    return Verdict::Equal;
  return their_end == end && !all_known ? Verdict::Beyond : Verdict::Different;
}

class Comparison {
public:
  Comparison(const analysis::TraceReader &trace, const std::string &folder) : trace_(trace), catalog_(symbolizer_) {
    for (const analysis::ProcessStart &process : trace.processes())
      for (Witnessed &seen : test::WitnessFile(folder + "/" + std::to_string(process.pid)).samples()) {
        ++samples_;
        waiting_[{process.process, seen.address}].push_back(std::move(seen));
      }
    trace.forEachAccount(
        [&](const analysis::StreamAccount &stream) { threads_[{stream.process, stream.stream}] = stream.tid; });
  }

  Result<void> run() {
    MSL_TRY(catalog_.load(trace_));
    MSL_TRY(trace_.forEachEvent([this](const analysis::StreamEvent &event) {
      if (event.event.header().kind == abi::EventKind::Alloc)
        take(event);
      return true;
    }));
    return {};
  }

  nlohmann::json result() const {
    uint64_t compared = 0;
    nlohmann::json result{{"samples", samples_}, {"examples", examples_}, {"ends", ends_}};
    for (size_t i = 0; i < std::size(kNames); ++i) {
      result[kNames[i]] = counts_[i];
      compared += counts_[i];
    }
    result["compared"] = compared;
    return result;
  }

private:
  // Compares the event with the last sample at its address before the event, if both have the same size and thread.
  void take(const analysis::StreamEvent &event) {
    const auto &alloc = event.event.as<abi::AllocEvent>();
    const auto found = waiting_.find({event.process, alloc.address});
    if (found == waiting_.end())
      return;
    std::optional<Witnessed> seen;
    for (auto &samples = found->second; !samples.empty() && samples.front().time_ns <= alloc.header.time;
         samples.erase(samples.begin()))
      seen = std::move(samples.front());
    if (!seen || seen->size != alloc.size || seen->thread != threads_[{event.process, event.stream}])
      return;
    const Recorded ours = recordedOf(event.process, alloc.header.site);
    const Verdict verdict = compare(ours, *seen);
    ++counts_[static_cast<size_t>(verdict)];
    if (verdict == Verdict::Unfinished || verdict == Verdict::Beyond)
      ++ends_[ours.calls.empty() ? "" : textOf(ours.calls.back())];
    constexpr size_t kMostExamples = 5;
    if (verdict == Verdict::Different && examples_.size() < kMostExamples)
      examples_.push_back(difference(ours, *seen));
  }

  Recorded recordedOf(uint32_t process, uint32_t number) {
    const analysis::CallPath path = catalog_.callPathOf(catalog_.find(process, number));
    Recorded recorded{{}, path.complete};
    for (const analysis::SiteId id : path.calls) {
      const analysis::Site &site = siteOf(id);
      // A path of instrumented code begins with the allocation site, followed by the call at this site. Skips the site.
      if (site.origin == analysis::SiteOrigin::Hook)
        recorded.calls.push_back({test::nameOf(site.library), site.offset});
    }
    return recorded;
  }

  // describe() looks up the function's name at each call, so this function caches the results.
  const analysis::Site &siteOf(analysis::SiteId id) {
    const analysis::Site *&site = sites_[id];
    return *(site != nullptr ? site : site = &catalog_.describe(id));
  }

  static std::string textOf(const Call &call) { return fmt::format("{}+{:#x}", call.image, call.offset); }

  static std::string difference(const Recorded &ours, const Witnessed &theirs) {
    std::string text = fmt::format("{} bytes; msleaks, {}:", theirs.size, ours.complete ? "finished" : "unfinished");
    for (const Call &call : ours.calls)
      text += " " + textOf(call);
    text += fmt::format("; libunwind, {}, {} known:", theirs.ended ? "finished" : "unfinished", theirs.known);
    for (const Call &call : theirs.calls)
      text += " " + textOf(call);
    return text;
  }

  const analysis::TraceReader &trace_;
  analysis::Symbolizer symbolizer_;
  analysis::SiteCatalog catalog_;
  std::map<std::pair<uint32_t, uint64_t>, std::vector<Witnessed>> waiting_; // samples in order of time
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> threads_;
  std::unordered_map<analysis::SiteId, const analysis::Site *> sites_;
  uint64_t samples_ = 0;
  uint64_t counts_[std::size(kNames)] = {};
  std::vector<std::string> examples_;
  std::map<std::string, uint64_t> ends_; // {last call: number of paths that end there, if Unfinished or Beyond}
};

Result<nlohmann::json> comparePaths(const char *run, const char *folder) {
  const auto opened = MSL_TRY(analysis::RunFolder::open(run));
  const auto trace = MSL_TRY(analysis::TraceReader::open(opened.trace()));
  Comparison comparison(trace, folder);
  MSL_TRY(comparison.run());
  return comparison.result();
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: compare_paths RUN FOLDER\n");
    return 2;
  }
  const auto result = comparePaths(argv[1], argv[2]);
  if (!result) {
    fmt::print(stderr, "{}\n", result.error().message);
    return 3;
  }
  fmt::print("{}\n", result->dump());
  return 0;
}
