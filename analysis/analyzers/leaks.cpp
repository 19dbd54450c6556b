#include "analysis/analyzers/leaks.h"

#include "analysis/analyzers/registry.h"
#include "analysis/findings/advice.h"
#include "analysis/findings/harmless.h"
#include "analysis/findings/keeper.h"
#include "analysis/places/place.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace msleaks::analysis::inline analyzers {
namespace {

template <class ByCohort> std::vector<CohortRemains> sorted(const ByCohort &by_cohort) {
  std::vector<CohortRemains> list;
  for (const auto &[cohort, sum] : by_cohort)
    list.push_back(sum);
  std::sort(list.begin(), list.end(), [](const auto &a, const auto &b) { return a.cohort < b.cohort; });
  return list;
}

// Adds the block. Returns whether it is larger than all earlier blocks of its cohort.
bool addTo(std::unordered_map<uint32_t, CohortRemains> &by_cohort, const Block &block, uint64_t age_ns) {
  const uint64_t bytes = block.bytes();
  CohortRemains &remains =
      by_cohort.try_emplace(block.cohort.index, CohortRemains{{block.heap}, block.cohort}).first->second;
  const bool is_largest = remains.count == 0 || bytes > remains.largest_bytes;
  remains += {block.heap, bytes, 1, bytes, age_ns, age_ns, byteNsOf(bytes, age_ns)};
  return is_largest;
}

struct Leak {
  Place place; // of the most bytes
  Keeper keeper;
  Reach reach = Reach::Unknown; // for a closed library: the reach of the most bytes
  bool is_first = true;         // the place has no leak of an earlier reach
  BlockSum leads_to;            // blocks that this leak leads to
  uint32_t family = 0;          // Finding::family
  uint64_t family_bytes = 0;    // Finding::family_bytes
  Remains remains;
  std::vector<CohortShare> cohorts;
  std::vector<Reach> reaches; // one for each element of `cohorts`
  CohortId largest;           // the cohort with the most bytes
  uint64_t most_bytes = 0;
};

// Shares of the blocks in physical heaps, whose sum the report shows as leaked.
std::vector<CohortShare> sharesOf(const std::vector<CohortRemains> &not_harmless) {
  std::vector<CohortShare> shares;
  for (const CohortRemains &remains : not_harmless)
    if (abi::isPhysical(remains.heap))
      shares.push_back({remains.cohort, remains.bytes, remains.count});
  return shares;
}

// Leaks of the user's own places: one for each place and reach, and one for each closed library.
class LeakList {
public:
  LeakList(const std::vector<CohortRemains> &not_harmless, Conclusion &conclusion)
      : counts_(conclusion.cohorts.size()), conclusion_(conclusion) {
    for (const CohortRemains &remains : not_harmless)
      counts_[remains.cohort.index] = true;
  }

  void add(const std::vector<CohortRemains> &leaked, Reach reach) {
    for (const CohortRemains &remains : leaked)
      add(remains, reach);
  }
  std::vector<Leak> take() {
    std::vector<Leak> list;
    for (auto &[key, leak] : leaks_) {
      leak.is_first = list.empty() || list.back().keeper < leak.keeper;
      list.push_back(std::move(leak));
    }
    return list;
  }

private:
  void add(const CohortRemains &remains, Reach reach) {
    const Cohort &cohort = conclusion_.cohorts[remains.cohort];
    const Place place = conclusion_.lines.places().of(cohort.site);
    if (!place.own || !counts_[remains.cohort.index])
      return;
    // A library, such as libtorch, may keep a cache after Python has freed its objects. The cache is no leak of the
    // line that called the library. A leak of Python code grows while the program runs.
    if (reach != Reach::Lost && isOfPython(conclusion_.catalog, place))
      return;
    const Keeper keeper = keeperOf(cohort.site, place, {cohort.heap, cohort.device}, conclusion_.catalog);
    Leak &leak = leaks_[{keeper, keeper.closed_library.empty() ? reach : Reach::Unknown}];
    leak.keeper = keeper;
    if (remains.bytes >= leak.most_bytes) {
      leak.place = place;
      leak.reach = reach;
      leak.largest = remains.cohort;
      leak.most_bytes = remains.bytes;
    }
    leak.remains += remains;
    leak.cohorts.push_back({remains.cohort, remains.bytes, remains.count});
    leak.reaches.push_back(reach);
  }

  CohortSet counts_;
  Conclusion &conclusion_;
  std::map<std::pair<Keeper, Reach>, Leak> leaks_;
};

// Numbers the families, the largest first. A family is a lost place, and the places whose blocks it mostly leads to.
void findFamilies(std::vector<Leak> &leaks, const std::map<std::pair<CohortId, CohortId>, BlockSum> &under) {
  std::map<std::pair<Reach, CohortId>, size_t> leak_of;
  for (size_t i = 0; i < leaks.size(); ++i)
    for (size_t part = 0; part < leaks[i].cohorts.size(); ++part)
      leak_of[{leaks[i].reaches[part], leaks[i].cohorts[part].cohort}] = i;
  std::map<size_t, std::map<size_t, uint64_t>> heads; // bytes of each indirect place, by the place of the head
  for (const auto &[cohorts, sum] : under) {
    const auto head = leak_of.find({Reach::Lost, cohorts.first}), led = leak_of.find({Reach::Indirect, cohorts.second});
    if (head == leak_of.end())
      continue;
    leaks[head->second].leads_to += sum;
    if (led != leak_of.end())
      heads[led->second][head->second] += sum.bytes;
  }
  std::vector<size_t> lost;
  for (size_t i = 0; i < leaks.size(); ++i) {
    if (leaks[i].reach == Reach::Lost)
      lost.push_back(i);
    else if (leaks[i].reach == Reach::Indirect)
      leaks[i].family = UINT32_MAX; // until its head is found among these leaks
  }
  const auto bytesOf = [&](size_t i) { return leaks[i].remains.bytes + leaks[i].leads_to.bytes; };
  std::stable_sort(lost.begin(), lost.end(), [&](size_t a, size_t b) { return bytesOf(a) > bytesOf(b); });
  for (size_t i = 0; i < lost.size(); ++i)
    leaks[lost[i]].family = static_cast<uint32_t>(i + 1);
  for (const size_t head : lost)
    leaks[head].family_bytes = bytesOf(head);
  for (const auto &[led, bytes] : heads) {
    const auto most =
        std::max_element(bytes.begin(), bytes.end(), [](const auto &a, const auto &b) { return a.second < b.second; });
    if (leaks[led].reach != Reach::Indirect)
      continue;
    leaks[led].family = leaks[most->first].family;
    leaks[led].family_bytes = leaks[most->first].family_bytes;
  }
}

// The advice for a block that is held. `by` names the start of the path to it.
std::string adviceOfHeld(const Holders &holders, const std::string &by, const Finding &finding) {
  const std::string function = functionIn(finding.site), it = pronounOf(finding);
  const bool is_list =
      std::any_of(holders.links.begin(), holders.links.end(), [](const auto &link) { return link.count > 1; });
  if (is_list)
    return fmt::format("If the list at {} should stay small, remove old entries in {}.", by, function);
  const RegionUse use = holders.root ? holders.root->region.use : RegionUse::Globals;
  if (use == RegionUse::Stack || use == RegionUse::Registers)
    return fmt::format("A variable on {} still points to {}: free {} before that variable goes out of scope.", by, it,
                       it);
  return fmt::format("Free {} through {} when {} {} no longer needed.", it, by, it == "it" ? "it" : "they",
                     it == "it" ? "is" : "are");
}

// A member, an element or a dereferenced pointer was probably overwritten. Any other variable just ended.
std::string adviceOfLost(const Finding &finding) {
  const std::string function = functionIn(finding.site), &variable = finding.site.variable;
  if (variable.find_first_of(".*[-") != std::string::npos)
    return fmt::format("Free the old block of `{}` before {} stores another one there.", variable, function);
  return fmt::format("Free the block{} of {}{} before the last pointer to {} is lost.", finding.count == 1 ? "" : "s",
                     function, variable.empty() ? "" : " (`" + variable + "`)", pronounOf(finding));
}

std::string adviceOf(const Leak &leak, const Finding &finding, const Holders *holders, Conclusion &conclusion) {
  const std::string function = functionIn(finding.site), it = pronounOf(finding);
  if (!leak.keeper.closed_library.empty())
    return fmt::format("{} makes the library allocate: look for the call that lets it release {}.", function, it);
  const std::string by = holders ? beginOf(*holders, conclusion) : std::string(), &type = finding.allocator.type;
  if (type == "FILE" || type == "DIR")
    return fmt::format("Call {} for {} {} that {} opens.", type == "FILE" ? "fclose" : "closedir",
                       finding.count == 1 ? "the" : "each", type, function);
  switch (leak.reach) {
  case Reach::Lost:
    return adviceOfLost(finding);
  case Reach::Indirect:
    return by.empty() ? fmt::format("Free {} together with the block that leads to {}.", it, it)
                      : fmt::format("Free {} together with {}, which leads to {}.", it, by, it);
  default:
    return by.empty() ? fmt::format("Free {} of {} after {} last use.", thingOf(finding), function,
                                    finding.count == 1 ? "its" : "their")
                      : adviceOfHeld(*holders, by, finding);
  }
}

Draft<Finding> findingOf(const Leak &leak, Conclusion &conclusion) {
  auto draft = draftOf(finding_kinds::kLeak, leak.keeper, leak.place, leak.cohorts, conclusion);
  Finding &finding = draft.line;
  const bool is_lost = leak.reach == Reach::Lost || leak.reach == Reach::Indirect;
  if (is_lost && leak.keeper.closed_library.empty())
    finding.confidence = Confidence::Proved;
  if (!leak.is_first)
    finding.part = nameOf(leak.reach);
  finding.byte_seconds = byteSecondsOf(leak.remains.byte_ns);
  finding.evidence = {{"largest_bytes", leak.remains.largest_bytes},
                      {"oldest_age_ns", leak.remains.oldest_age_ns},
                      {"newest_age_ns", leak.remains.newest_age_ns},
                      {"reach", nameOf(leak.reach)}};
  finding.family = leak.family;
  finding.family_bytes = leak.family_bytes;
  if (leak.leads_to.count != 0) {
    finding.evidence.emplace_back("leads_to_bytes", leak.leads_to.bytes);
    finding.evidence.emplace_back("leads_to_blocks", leak.leads_to.count);
  }
  return draft;
}

FoundLeaks sumOf(const std::vector<Leak> &leaks) {
  FoundLeaks found;
  for (const Leak &leak : leaks) {
    if (!leak.keeper.closed_library.empty())
      continue;
    (abi::isPhysical(leak.remains.heap) ? found.sum : found.pool_sum) += {leak.remains.bytes, leak.remains.count};
    found.places += leak.is_first;
  }
  return found;
}

} // namespace

BlockSum physicalSum(const std::vector<CohortRemains> &list) {
  BlockSum sum;
  for (const CohortRemains &remains : list)
    if (abi::isPhysical(remains.heap))
      sum += {remains.bytes, remains.count};
  return sum;
}

void Births::addTo(Absence &absence, CohortId cohort) const {
  for (const Birth &birth : births_)
    absence.blocks.push_back({cohort, static_cast<int64_t>(birth.bytes), birth.time_ns});
}

void Births::halve() {
  std::sort(births_.begin(), births_.end(), [](const Birth &a, const Birth &b) { return a.time_ns < b.time_ns; });
  for (size_t i = 0; i + 1 < births_.size(); i += 2)
    births_[i / 2] = {births_[i + 1].time_ns, births_[i].bytes + births_[i + 1].bytes};
  if (births_.size() % 2 != 0)
    births_[births_.size() / 2] = births_.back();
  births_.resize((births_.size() + 1) / 2);
}

void AllBirths::halve() {
  count_ = 0;
  for (auto &[key, births] : of_) {
    if (births.size() > kFew)
      births.halve();
    count_ += births.size();
  }
  most_ = std::max(kMostInAll, 2 * count_); // more if very many cohorts have a few births each
}

void LeakAnalyzer::onFree(const Block &block, FreeCause cause, uint64_t time_ns) {
  if (!isEnd(cause) || cause == FreeCause::ProcessExec || block.reserve)
    return;
  const uint64_t age_ns = time_ns > block.time_ns ? time_ns - block.time_ns : 0;
  const bool may_be_freed = pauses_.mayHaveBeenFreed(block.time_ns), exited = cause == FreeCause::ProcessExited;
  if (!may_be_freed && (exited || isLost(block)))
    addLeaked(block, age_ns);
  else
    addTo(exited ? unsure_ : alive_, block, age_ns);
}

// Lost blocks count even if the process was killed or still runs, because it could not free them any more.
bool LeakAnalyzer::isLost(const Block &block) const {
  const auto known = reachabilities_.find(block.process);
  const Reach reach = known == reachabilities_.end() ? Reach::Unknown : known->second->of(block);
  return reach == Reach::Lost || reach == Reach::Indirect;
}

void LeakAnalyzer::addLeaked(const Block &block, uint64_t age_ns) {
  const auto known = reachabilities_.find(block.process);
  const Reach reach = known == reachabilities_.end() ? Reach::Unknown : known->second->of(block);
  Leaked &leaked = leaked_[static_cast<size_t>(reach)];
  const bool is_libcs = reach == Reach::Held && known->second->isHeldByLibc(block);
  const bool is_largest = addTo(is_libcs ? libcs_ : leaked.by_cohort, block, age_ns);
  births_.add(reach, block.cohort, block.time_ns, block.bytes());
  if (const Block *head = reach == Reach::Indirect ? known->second->headOf(block) : nullptr)
    under_[{head->cohort, block.cohort}] += {block.bytes(), 1};
  if (known != reachabilities_.end() && block.time_ns > known->second->timeNs())
    later_.insert(block.cohort.index);
  if (is_largest && (reach == Reach::Held || reach == Reach::Indirect))
    leaked.holders[block.cohort.index] = known->second->holdersOf(block);
}

void LeakAnalyzer::onReach(uint32_t process, const std::shared_ptr<const Reachability> &reachability) {
  reachabilities_[process] = reachability;
  why_not_.erase(process);
  if (!reachability->whyNot().empty())
    why_not_[process] = reachability->whyNot();
}

void LeakAnalyzer::onProcessEnd(uint32_t process, const ProcessFate &) { reachabilities_.erase(process); }

void LeakAnalyzer::onEvent(const StreamEvent &event, SiteId) { pauses_.apply(event.event.as<abi::EpochEvent>()); }

void LeakAnalyzer::conclude(Conclusion &conclusion) const {
  const LeakResult found = result();
  AnalysisResult &result = conclusion.result;
  Lines &lines = conclusion.lines;
  Libcs of_libc;
  const ByCohort libcs = takeHarmless(conclusion, of_libc);
  SortedRemains sorted =
      withoutHarmless(conclusion.catalog, conclusion.cohorts, leakedWith(libcs), conclusion.question.suppressions);
  for (const auto &[reason, list] : of_libc)
    sorted.harmless[reason].insert(sorted.harmless[reason].end(), list.begin(), list.end());
  lines.addRemains(bySite(sorted.leaks, conclusion.cohorts), nullptr, result.leaks);
  for (const auto &[reason, list] : sorted.harmless)
    lines.addRemains(bySite(list, conclusion.cohorts), reason.c_str(), result.suppressed);
  lines.addRemains(bySite(found.alive, conclusion.cohorts), nullptr, result.alive);
  lines.addRemains(bySite(found.unsure, conclusion.cohorts), nullptr, result.unsure);

  conclusion.addGroups("leaks", "Leaked", sharesOf(sorted.leaks));
  addFindings(sorted.leaks, libcs, conclusion);
}

// Removes blocks that libc keeps for itself according to the table of suppressions, such as the buffer of stdout. The
// number of such blocks does not matter. Other blocks that libc holds are leaks.
LeakAnalyzer::ByCohort LeakAnalyzer::takeHarmless(Conclusion &conclusion, Libcs &harmless) const {
  ByCohort left;
  for (const auto &[index, remains] : libcs_) {
    if (const Suppression *row = suppressionOf(conclusion.catalog, conclusion.cohorts[remains.cohort].site, remains))
      harmless[row->reason].push_back(remains);
    else
      left.emplace(index, remains);
  }
  return left;
}

void LeakAnalyzer::addFindings(const std::vector<CohortRemains> &not_harmless, const ByCohort &libcs,
                               Conclusion &conclusion) const {
  LeakList list(not_harmless, conclusion);
  for (size_t reach = 0; reach < kReaches; ++reach) {
    ByCohort by_cohort = leaked_[reach].by_cohort;
    if (static_cast<Reach>(reach) == Reach::Held)
      for (const auto &[cohort, remains] : libcs)
        by_cohort.try_emplace(cohort, CohortRemains{{remains.heap}, remains.cohort}).first->second += remains;
    list.add(analysis::sorted(by_cohort), static_cast<Reach>(reach));
  }
  std::vector<Leak> leaks = list.take();
  conclusion.result.found_leaks = sumOf(leaks);
  Conclusion::keepLargest(leaks, [](const Leak &leak) { return leak.remains.bytes; });
  findFamilies(leaks, under_);
  for (const Leak &leak : leaks) {
    Absence absence;
    for (size_t i = 0; i < leak.cohorts.size(); ++i)
      births_.addTo(absence, leak.reaches[i], leak.cohorts[i].cohort);
    auto draft = findingOf(leak, conclusion);
    addReachOf(leak.reach, leak.largest, draft.line.evidence, conclusion);
    if (const Holders *holders = holdersOf(leak.reach, leak.largest); holders && !holders->links.empty())
      draft.line.holder = textOf(conclusion.catalog, conclusion.lines.places().of(holders->links.back().site));
    draft.line.advice = adviceOf(leak, draft.line, holdersOf(leak.reach, leak.largest), conclusion);
    conclusion.add(std::move(draft), std::move(absence));
  }
}

const Holders *LeakAnalyzer::holdersOf(Reach reach, CohortId cohort) const {
  const auto &holders = leaked_[static_cast<size_t>(reach)].holders;
  const auto found = holders.find(cohort.index);
  return found == holders.end() ? nullptr : &found->second;
}

// Adds what holds the largest block, or why this is not known.
void LeakAnalyzer::addReachOf(Reach reach, CohortId cohort, Evidence &evidence, Conclusion &conclusion) const {
  if (const Holders *holders = holdersOf(reach, cohort))
    evidence.emplace_back("holders", std::vector<std::string>{textOf(*holders, conclusion)});
  if (const auto why = why_not_.find(conclusion.cohorts[cohort].process);
      why != why_not_.end() && reach == Reach::Unknown)
    evidence.emplace_back("why_unknown", why->second);
  else if (reach == Reach::Unknown && later_.contains(cohort.index))
    evidence.emplace_back("why_unknown", "allocated after the memory of its process was last read");
}

std::vector<CohortRemains> LeakAnalyzer::leakedWith(const ByCohort &libcs) const {
  ByCohort leaked;
  const auto add = [&](const ByCohort &list) {
    for (const auto &[cohort, remains] : list)
      leaked.try_emplace(cohort, CohortRemains{{remains.heap}, remains.cohort}).first->second += remains;
  };
  for (const Leaked &of_reach : leaked_)
    add(of_reach.by_cohort);
  add(libcs);
  return sorted(leaked);
}

LeakResult LeakAnalyzer::result() const { return {leakedWith(libcs_), sorted(alive_), sorted(unsure_)}; }

MSL_REGISTER_ANALYZER(leaks, LeakAnalyzer)

} // namespace msleaks::analysis::inline analyzers
