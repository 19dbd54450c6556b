// The fields of a live set in a checkpoint, in the order of the file. Each list is for writing and reading.
#pragma once

#include "analysis/base/tables.h"
#include "analysis/live/device_ranges.h"
#include "analysis/live/live_set.h"
#include "analysis/live/shared_objects.h"
#include "analysis/live/skew_window.h"
#include "analysis/trace/bytes.h"

#include <cstdint>
#include <type_traits>
#include <vector>

namespace msleaks::analysis::inline live {

// A change of the fields needs a new version. A reader that does not know the version reads the events instead. In
// version 4, each thread has cohorts of its own. Only version 6 has Cohort::forward. The oldest version that can
// contain the state is written, since older readers know it.
inline constexpr uint64_t kOldestCheckpoint = 4, kSharedCohorts = 5, kCheckpointVersion = 6;

class SavedFieldWriter {
public:
  explicit SavedFieldWriter(ByteWriter &to) : to_(to) {}
  template <class T> void operator()(const T &value) { to_.varint(static_cast<uint64_t>(value)); }
  // An enumeration value. The last argument is the number of values.
  template <class T> void choice(const T &value, T) { (*this)(value); }

private:
  ByteWriter &to_;
};

class SavedFieldReader {
public:
  explicit SavedFieldReader(ByteReader &from) : from_(from) {}
  template <class T> void operator()(T &value) {
    const uint64_t number = from_.varint();
    value = static_cast<T>(number);
    if (static_cast<uint64_t>(value) != number)
      from_.fail();
  }
  template <class T> void choice(T &value, T count) {
    const uint64_t number = from_.varint();
    if (number >= static_cast<uint64_t>(count))
      return from_.fail();
    value = static_cast<T>(number);
  }

private:
  ByteReader &from_;
};

template <class Visitor>
void visitFields(Visitor &visit, auto &counts)
  requires std::is_same_v<std::remove_cvref_t<decltype(counts)>, LiveSetCounts>
{
  visit(counts.allocs);
  visit(counts.frees);
  visit(counts.failed_allocs);
  visit(counts.unmatched_frees);
  visit(counts.frees_before_start);
  visit(counts.freed_unseen);
  visit(counts.unmatched_retargets);
  visit(counts.implicit_frees);
  visit(counts.late_frees);
  visit(counts.early_frees);
  visit(counts.unknown_heaps);
}

template <class Visitor>
void visitFields(Visitor &visit, auto &epoch)
  requires std::is_same_v<std::remove_cvref_t<decltype(epoch)>, abi::EpochEvent>
{
  visit(epoch.header.time);
  visit(epoch.number);
  visit(epoch.enabled);
}

template <class Visitor>
void visitFields(Visitor &visit, auto &entry)
  requires std::is_same_v<std::remove_cvref_t<decltype(entry)>, SkewWindow::Entry>
{
  visit(entry.address);
  visit(entry.time_ns);
  visit(entry.bytes);
  visit.choice(entry.space, AddressSpace::Count);
  visit(entry.stream);
  visit.choice(entry.what, SkewWindow::What::Count);
}

template <class Visitor>
void visitFields(Visitor &visit, auto &shared)
  requires std::is_same_v<std::remove_cvref_t<decltype(shared)>, abi::SharedEvent>
{
  visit(shared.address);
  visit(shared.size);
  visit(shared.file_system);
  visit(shared.object);
  visit(shared.offset);
}

template <class Visitor>
void visitFields(Visitor &visit, auto &range)
  requires std::is_same_v<std::remove_cvref_t<decltype(range)>, DeviceRange>
{
  visit(range.address);
  visit(range.size);
  visit(range.block);
  visit(range.offset);
  visit(range.device);
  visit(range.owners);
}

template <class Visitor>
void visitFields(Visitor &visit, auto &key)
  requires std::is_same_v<std::remove_cvref_t<decltype(key)>, ObjectKey>
{
  visit(key.file_system);
  visit(key.inode);
}

template <class Visitor>
void visitFields(Visitor &visit, auto &holder)
  requires std::is_same_v<std::remove_cvref_t<decltype(holder)>, SharedObjects::Holder>
{
  visit(holder.process);
  visit(holder.address);
}

// Numbers for things that a checkpoint names: from 1, in the order in which they are first named. 0 = none.
template <class Id> class Named {
public:
  uint64_t numberOf(Id id) {
    if (id == Id{})
      return 0;
    uint32_t &number = elementAt(numbers_, id.index);
    if (number == 0) {
      list_.push_back(id);
      number = static_cast<uint32_t>(list_.size());
    }
    return number;
  }
  const std::vector<Id> &list() const { return list_; }

private:
  std::vector<uint32_t> numbers_; // by index
  std::vector<Id> list_;
};

} // namespace msleaks::analysis::inline live
