#include "analysis/compare/launch_recorder.h"

#include "analysis/base/tables.h"
#include "analysis/places/function_name.h"

#include <algorithm>
#include <tuple>

namespace msleaks::analysis::inline compare {
namespace {

constexpr uint32_t kRefused = UINT32_MAX; // marks a launch that failed, in place of its name

uint64_t accountKey(uint32_t process, std::optional<uint8_t> device) {
  return keyOfThread(process, device ? *device + 1u : 0u);
}

bool isOnHost(abi::Heap heap) {
  return heap == abi::Heap::Host || heap == abi::Heap::Mapping || heap == abi::Heap::Pinned;
}
bool isOnDevice(abi::Heap heap) { return heap == abi::Heap::Device || heap == abi::Heap::Managed; }

} // namespace

// Returns the account of a process and device. If ranges are open when the account is new, it had no memory when they
// began.
LaunchRecorder::Slot LaunchRecorder::accountOf(uint32_t process, std::optional<uint8_t> device) {
  Slot &slot = slots_[accountKey(process, device)];
  if (slot != 0)
    return slot;
  if (free_slots_.empty()) {
    accounts_.emplace_back();
    slot = static_cast<Slot>(accounts_.size());
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  Account &account = at(slot);
  account.process = process;
  account.device = device;
  Process &of = processes_[process];
  of.accounts.push_back(slot);
  for (Range &range : of.ranges)
    range.entries.emplace_back(slot, begin(account, range.name, true));
  return slot;
}

size_t LaunchRecorder::begin(Account &account, uint32_t name, bool is_range) {
  Launch launch;
  launch.name = name;
  launch.is_range = is_range;
  launch.before_bytes = account.bytes;
  account.launches.push_back(launch);
  account.open.push_back({account.launches.size() - 1, account.bytes});
  return account.launches.size() - 1;
}

// Ends a launch or range. Its peak is the highest one since its begin, also among launches and ranges that began later.
void LaunchRecorder::end(Account &account, size_t index) {
  const auto open = std::find_if(account.open.rbegin(), account.open.rend(),
                                 [&](const Open &candidate) { return candidate.index == index; });
  if (open == account.open.rend())
    return;
  const auto place = std::prev(open.base());
  Launch &launch = account.launches[index];
  launch.after_bytes = account.bytes;
  for (auto later = place; later != account.open.end(); ++later)
    launch.peak_bytes = std::max(launch.peak_bytes, later->peak_bytes);
  if (place != account.open.begin()) {
    Open &earlier = *std::prev(place);
    earlier.peak_bytes = std::max(earlier.peak_bytes, place->peak_bytes);
  }
  account.open.erase(place);
}

void LaunchRecorder::add(Account &account, int64_t bytes) {
  account.bytes += static_cast<uint64_t>(bytes);
  for (; account.waiting < account.launches.size(); ++account.waiting)
    account.launches[account.waiting].next_bytes = bytes;
  if (!account.open.empty())
    account.open.back().peak_bytes = std::max(account.open.back().peak_bytes, account.bytes);
}

void LaunchRecorder::countPending() {
  if (pending_.account == 0)
    return;
  const Pending block = std::exchange(pending_, {});
  elementAt(counted_in_, block.block) = block.account;
  add(at(block.account), static_cast<int64_t>(block.bytes));
}

void LaunchRecorder::onAlloc(const Block &block, AllocCause, uint64_t) {
  if (block.heap == abi::Heap::Pool || block.bytes() == 0)
    return; // onPart() is called next, if the block is a part of a known block.
  countPending();
  if (isOnHost(block.heap))
    add(at(accountOf(block.process, std::nullopt)), static_cast<int64_t>(block.bytes()));
  else if (isOnDevice(block.heap))
    pending_ = {accountOf(block.process, block.device), block.id.index, block.bytes()};
}

void LaunchRecorder::onPart(const Block &part, const Block &whole, uint64_t) {
  if (!isOnDevice(whole.heap) || part.bytes() == 0)
    return;
  const Slot slot = accountOf(whole.process, whole.device);
  if (pending_.account != 0 && pending_.block == whole.id.index)
    pending_ = {};
  countPending();
  if (const Slot counted = valueAt(counted_in_, whole.id.index); counted != 0) {
    at(counted).bytes -= whole.bytes();
    counted_in_[whole.id.index] = 0;
  }
  elementAt(counted_in_, part.id.index) = slot;
  add(at(slot), static_cast<int64_t>(part.bytes()));
}

void LaunchRecorder::onFree(const Block &block, FreeCause cause, uint64_t) {
  countPending();
  const Slot counted = valueAt(counted_in_, block.id.index);
  if (counted != 0)
    counted_in_[block.id.index] = 0;
  if (isEnd(cause))
    return endProcess(block.process); // All memory of the process is alive at the end of its last launch.
  if (counted != 0)
    add(at(counted), -static_cast<int64_t>(block.bytes()));
  else if (isOnHost(block.heap) && block.bytes() != 0)
    add(at(accountOf(block.process, std::nullopt)), -static_cast<int64_t>(block.bytes()));
}

void LaunchRecorder::onEvent(const StreamEvent &event, SiteId site) {
  countPending();
  kernels_.onEvent(event, catalog_.labels());
  switch (event.event.header().kind) {
  case abi::EventKind::Launch:
    return onLaunch(event, site);
  case abi::EventKind::Failed:
    return onFailed(event, site);
  case abi::EventKind::RangeBegin:
    return onRangeBegin(event);
  case abi::EventKind::RangeEnd:
    return onRangeEnd(event);
  default:
    return;
  }
}

// Returns the number of the launch's name. A kernel without a name gets the name of the function that launches it.
uint32_t LaunchRecorder::nameOf(const StreamEvent &launch, SiteId site) {
  const LabelId label = kernels_.lastOf(launch.process, launch.stream);
  if (label.known()) {
    const auto [known, is_new] = label_names_.try_emplace(label);
    if (is_new)
      known->second = names_.numberOf(catalog_.labels().textOf(label));
    return known->second;
  }
  const auto [known, is_new] = nameless_.try_emplace(site);
  if (is_new) {
    const std::string function = site.known() ? briefName(catalog_.describe(site).function) : "";
    known->second = names_.numberOf(function.empty() ? "(no name)" : "(launched by " + function + ")");
  }
  return known->second;
}

void LaunchRecorder::onLaunch(const StreamEvent &event, SiteId site) {
  const Slot slot = accountOf(event.process, event.event.header().device);
  Account &account = at(slot);
  if (account.last_launch)
    end(account, *account.last_launch);
  account.last_launch = begin(account, nameOf(event, site), false);
  last_[keyOfThread(event.process, event.stream)] = {slot, *account.last_launch,
                                                     event.event.as<abi::LaunchEvent>().kernel, site};
}

// Leaves out the launch that failed. Its memory belongs to the launch before, but that launch has already ended.
void LaunchRecorder::onFailed(const StreamEvent &event, SiteId site) {
  const auto last = last_.find(keyOfThread(event.process, event.stream));
  if (last == last_.end() || last->second.site != site ||
      last->second.kernel != event.event.as<abi::FailedEvent>().handle)
    return;
  at(last->second.account).launches[last->second.index].name = kRefused;
  last_.erase(last);
}

void LaunchRecorder::onRangeBegin(const StreamEvent &event) {
  const auto range = event.event.as<abi::RangeBeginEvent>();
  accountOf(event.process, std::nullopt); // Each range is at least on the host.
  Process &process = processes_[event.process];
  Range &open = process.ranges.emplace_back(
      Range{event.stream, range.id, names_.numberOf(catalog_.labels().textOf(event.process, range.label)), {}});
  for (const Slot slot : process.accounts)
    open.entries.emplace_back(slot, begin(at(slot), open.name, true));
}

// Ends a range. A range with an id may end in another thread.
void LaunchRecorder::onRangeEnd(const StreamEvent &event) {
  const uint64_t id = event.event.as<abi::RangeEndEvent>().id;
  std::vector<Range> &ranges = processes_[event.process].ranges;
  const auto isIt = [&](const Range &range) { return range.id == id; };
  const auto isOwn = [&](const Range &range) { return range.id == id && range.stream == event.stream; };
  auto found = std::find_if(ranges.rbegin(), ranges.rend(), isOwn);
  if (found == ranges.rend() && id != 0)
    found = std::find_if(ranges.rbegin(), ranges.rend(), isIt);
  if (found == ranges.rend())
    return;
  for (const auto &[slot, index] : found->entries)
    end(at(slot), index);
  ranges.erase(std::prev(found.base()));
}

void LaunchRecorder::endProcess(uint32_t process) {
  countPending();
  const auto found = processes_.find(process);
  if (found == processes_.end())
    return;
  for (const Slot slot : found->second.accounts) {
    Account &account = at(slot);
    while (!account.open.empty())
      end(account, account.open.back().index);
    std::erase_if(account.launches, [](const Launch &launch) { return launch.name == kRefused; });
    if (!account.launches.empty())
      ended_.emplace_back(process, LaunchSequence{account.device, 0, std::move(account.launches)});
    slots_.erase(accountKey(process, account.device));
    account = {};
    free_slots_.push_back(slot);
  }
  processes_.erase(found);
  std::erase_if(last_, [&](const auto &last) { return last.first >> 32 == process; });
}

std::vector<LaunchSequence> LaunchRecorder::take() {
  while (!processes_.empty())
    endProcess(processes_.begin()->first);
  std::stable_sort(ended_.begin(), ended_.end(), [](const auto &a, const auto &b) {
    return std::tie(a.second.device, a.first) < std::tie(b.second.device, b.first);
  });
  std::vector<LaunchSequence> sequences;
  for (auto &[process, sequence] : ended_) {
    const bool follows = !sequences.empty() && sequences.back().device == sequence.device;
    sequence.process = follows ? sequences.back().process + 1 : 0;
    sequences.push_back(std::move(sequence));
  }
  return sequences;
}

} // namespace msleaks::analysis::inline compare
