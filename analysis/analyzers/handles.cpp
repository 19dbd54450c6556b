// Handles that are never closed: streams, events, files, threads, … (docs/analyses.md).
#include "analysis/analyzers/registry.h"
#include "analysis/findings/advice.h"
#include "analysis/findings/keeper.h"
#include "analysis/live/open_handles.h"
#include "analysis/result/finding_kinds.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline analyzers {
namespace {

// A correct program may end with a few open handles of a place: a log, a pool of threads. A faulty program leaves
// one open each time. If steps are known, fewer suffice. One open context suffices: it holds device memory.
constexpr uint64_t kForgotten = 10;
uint64_t leastOf(abi::HandleKind kind) {
  return kind == abi::HandleKind::Context || kind == abi::HandleKind::ClContext ? 1 : kForgotten;
}

std::string_view giveBackOf(abi::HandleKind kind) {
  switch (kind) {
#define MSL_HANDLE(name, number, text, back, doc)                                                                      \
  case abi::HandleKind::name:                                                                                          \
    return back;
#include "msleaks/abi/handles.def"
  default:
    return {};
  }
}

// "Call cudaStreamDestroy or aclrtDestroyStream for each stream that `open_part` makes."
std::string adviceOf(abi::HandleKind kind, const Finding &finding) {
  std::string back(giveBackOf(kind));
  if (const size_t comma = back.find(", "); comma != std::string::npos)
    back.replace(comma, 2, " or ");
  const bool is_opened =
      kind == abi::HandleKind::File || kind == abi::HandleKind::Folder || kind == abi::HandleKind::Descriptor;
  return fmt::format("Call {} for {} {} that {} {}.", back, finding.count == 1 ? "the" : "each", abi::nameOf(kind),
                     functionIn(finding.site), is_opened ? "opens" : "makes");
}

// A FILE that was open when its process exited, and to which libc's own list of FILEs led. The path to it shows whether
// anything else led to it.
struct ListedFile {
  SiteId site;
  Holders holders;
};

class HandleAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "handles"; }
  uint32_t eventKinds() const override {
    return abi::enabledBit(abi::EventKind::Opened) | abi::enabledBit(abi::EventKind::Closed) |
           abi::enabledBit(abi::EventKind::Step) | abi::enabledBit(abi::EventKind::Epoch);
  }

  void onEvent(const StreamEvent &event, SiteId site) override {
    if (event.event.header().kind != abi::EventKind::Epoch)
      open_.apply(event, site);
    else if ((event.event.as<abi::EpochEvent>().enabled & abi::enabledBit(abi::EventKind::Closed)) == 0)
      open_.forgetAll();
  }
  // After an exec, the next image may use handles that are left open. The kernel closes the others.
  void onProcessEnd(uint32_t process, const ProcessFate &fate) override {
    const uint32_t steps = open_.stepsOf(process);
    const OpenHandles::OfProcess left = open_.endProcess(process);
    reachabilities_.erase(process);
    if (fate.cause == FreeCause::ProcessExec)
      return;
    add(left, fate.cause == FreeCause::ProcessExited, ended_);
    if (fate.cause == FreeCause::ProcessExited)
      addGrowth(left, steps);
  }
  // A FILE is a block of libc. The pointers to it, when the process' memory was read, show whether it was forgotten.
  void onFree(const Block &block, FreeCause cause, uint64_t) override {
    if (cause != FreeCause::ProcessExited || block.heap != abi::Heap::Host)
      return;
    const OpenHandles::Open *file = open_.find(block.process, {abi::HandleKind::File, block.address});
    if (!file)
      return;
    ++blocks_of_files_[{file->site, block.site}];
    const auto read = reachabilities_.find(block.process);
    if (read == reachabilities_.end())
      return;
    const Reach reach = read->second->of(block);
    if (reach == Reach::Lost || reach == Reach::Indirect)
      ++lost_files_[file->site];
    else if (reach == Reach::Held && held_files_.size() < kMostHeldFiles)
      held_files_.push_back({file->site, read->second->holdersOf(block)});
  }
  void onDeviceReset(uint32_t process, uint8_t device) override { open_.endDevice(process, device); }
  bool wantsReach() const override { return true; }
  void onReach(uint32_t process, const std::shared_ptr<const Reachability> &reachability) override {
    reachabilities_[process] = reachability;
  }
  void conclude(Conclusion &) const override;

private:
  static constexpr size_t kMostHeldFiles = 10'000;
  struct Sum {
    uint64_t count = 0;
    uint64_t forgotten = 0; // those of processes that exited
  };
  using KindAndSite = std::pair<abi::HandleKind, SiteId>;
  using Sums = std::map<KindAndSite, Sum>;

  static void add(const OpenHandles::OfProcess &handles, bool exited, Sums &to) {
    for (const auto &[handle, open] : handles) {
      Sum &sum = to[{handle.kind, open.site}];
      ++sum.count;
      sum.forgotten += exited;
    }
  }

  // Finds places that left handles open in nearly every step. Ignores the first step, which is the warm-up, and the
  // last one, whose handles may still be in use (docs/analyses.md, growth).
  void addGrowth(const OpenHandles::OfProcess &handles, uint32_t steps) {
    constexpr size_t kLeastSteps = 3;
    std::map<KindAndSite, std::set<uint32_t>> left_in;
    for (const auto &[handle, open] : handles)
      if (open.step > 1 && open.step < steps)
        left_in[{handle.kind, open.site}].insert(open.step);
    for (const auto &[of, in] : left_in)
      if (in.size() >= kLeastSteps && 4 * in.size() >= size_t{3} * (steps - *in.begin()))
        grown_[of] = std::max<uint64_t>(grown_[of], in.size());
  }
  // The number of steps in which the place left handles open; 0 = it does not grow.
  uint64_t growthOf(abi::HandleKind kind, const PlaceGroup &group) const {
    uint64_t steps = 0;
    for (const SiteShare &share : group.shares)
      if (const auto grown = grown_.find({kind, share.site}); grown != grown_.end())
        steps = std::max(steps, grown->second);
    return steps;
  }

  std::map<SiteId, uint64_t> forgottenFiles(Conclusion &) const;
  std::vector<ReopenedFiles> reopenedIn(const PlaceGroup &, const FrameText &place, Conclusion &) const;

  OpenHandles open_;
  Sums ended_;
  std::map<uint32_t, std::shared_ptr<const Reachability>> reachabilities_; // of processes that will end soon
  std::map<std::pair<SiteId, SiteId>, uint64_t> blocks_of_files_; // by the sites of the open FILE and of its block
  std::map<SiteId, uint64_t> lost_files_;
  std::vector<ListedFile> held_files_;
  std::map<KindAndSite, uint64_t> grown_; // number of steps
};

using Shares = std::map<abi::HandleKind, std::vector<SiteShare>>;

// A place with fewer handles than usual is only a hint, unless it is known that nothing points to them.
Draft<Finding> findingOf(abi::HandleKind kind, const PlaceGroup &forgotten, uint64_t steps, uint64_t known,
                         Conclusion &conclusion) {
  auto draft = conclusion.lines.lineOf<Finding>(forgotten, Lines::Paths::Shown);
  Finding &finding = draft.line;
  const bool many = finding.count >= kForgotten || steps != 0;
  if (!many && known != 0)
    finding.count = known;
  setKind(finding, finding_kinds::kHandles);
  finding.part = abi::nameOf(kind);
  finding.confidence = kind == abi::HandleKind::Thread || !(many || known != 0) ? Confidence::Hint : Confidence::Likely;
  finding.owner = finding.site.library;
  finding.evidence = {{"handle", std::string(abi::nameOf(kind))}};
  if (steps != 0)
    finding.evidence.emplace_back("steps", steps);
  finding.advice = adviceOf(kind, finding);
  finding.bytes = 0;
  for (PathLine &path : finding.paths)
    path.bytes = 0;
  return draft;
}

// Uses the count as bytes, because lists are sorted by bytes.
std::vector<HandleLine> linesOf(const Shares &shares, Conclusion &conclusion) {
  std::vector<Draft<HandleLine>> drafts;
  for (const auto &[kind, of_kind] : shares)
    for (const PlaceGroup &group : conclusion.lines.byPlace(of_kind))
      drafts.emplace_back(conclusion.lines.lineOf<HandleLine>(group, Lines::Paths::Shown)).line.kind = kind;
  std::vector<HandleLine> lines = conclusion.lines.sorted(std::move(drafts));
  for (HandleLine &line : lines) {
    line.bytes = 0;
    for (PathLine &path : line.paths)
      path.bytes = 0;
  }
  return lines;
}

// Whether only libc's list of all FILEs leads to it: from the start of the list, or from the FILE before.
bool isOnlyListed(const Holders &holders, Conclusion &conclusion) {
  if (!holders.links.empty())
    return conclusion.lines.typeOf(holders.links.back().site) == "FILE";
  return beginOf(holders, conclusion) == "`_IO_list_all`" || beginOf(holders, conclusion).starts_with("`_IO_2_1_");
}

// By site: the number of FILEs to which nothing except this list leads.
std::map<SiteId, uint64_t> HandleAnalyzer::forgottenFiles(Conclusion &conclusion) const {
  std::map<SiteId, uint64_t> files = lost_files_;
  for (const ListedFile &file : held_files_)
    if (isOnlyListed(file.holders, conclusion))
      ++files[file.site];
  return files;
}

// A FILE that freopen() opened again is a handle of freopen()'s call. Its block still belongs to the first call.
std::vector<ReopenedFiles> HandleAnalyzer::reopenedIn(const PlaceGroup &group, const FrameText &place,
                                                      Conclusion &conclusion) const {
  std::vector<ReopenedFiles> reopened;
  for (const SiteShare &share : group.shares)
    for (auto files = blocks_of_files_.lower_bound({share.site, {}});
         files != blocks_of_files_.end() && files->first.first == share.site; ++files) {
      const FrameText allocated_at = textOf(conclusion.catalog, conclusion.lines.places().of(files->first.second));
      const auto known = std::find_if(reopened.begin(), reopened.end(),
                                      [&](const auto &other) { return other.allocated_at == allocated_at; });
      if (known != reopened.end())
        known->count += files->second;
      else if (allocated_at != place)
        reopened.push_back({allocated_at, files->second});
    }
  return reopened;
}

void HandleAnalyzer::conclude(Conclusion &conclusion) const {
  Sums sums = ended_;
  open_.forEachProcess([&](uint32_t, const OpenHandles::OfProcess &open) { add(open, false, sums); });
  Shares all, forgotten;
  for (const auto &[of, sum] : sums) {
    all[of.first].push_back({of.second, sum.count, sum.count});
    // The user cannot close handles that a library keeps for itself, for example a driver's thread for each processor.
    if (sum.forgotten != 0 && closedLibraryOf(of.second, conclusion.catalog).empty() &&
        !ruleFor(conclusion.catalog, of.second, conclusion.question.suppressions))
      forgotten[of.first].push_back({of.second, sum.forgotten, sum.forgotten});
  }
  conclusion.result.handles = linesOf(all, conclusion);
  const std::map<SiteId, uint64_t> files = forgottenFiles(conclusion);
  for (const auto &[kind, shares] : forgotten)
    for (const PlaceGroup &group : conclusion.lines.byPlace(shares)) {
      const uint64_t steps = growthOf(kind, group);
      uint64_t known = 0;
      for (const SiteShare &share : group.shares)
        if (const auto file = files.find(share.site); kind == abi::HandleKind::File && file != files.end())
          known += file->second;
      if (!group.place.own || (group.sum().count < leastOf(kind) && steps == 0 && known == 0))
        continue;
      auto draft = findingOf(kind, group, steps, known, conclusion);
      if (kind == abi::HandleKind::File)
        draft.line.reopened = reopenedIn(group, draft.line.site, conclusion);
      conclusion.add(std::move(draft), {});
    }
}

} // namespace

MSL_REGISTER_ANALYZER(handles, HandleAnalyzer)

} // namespace msleaks::analysis::inline analyzers
