// The payload of chunks that are not events. The fields of each struct are listed once, for writing and reading.
// Process, stream and time are in the chunk's header. Newer fields are `added` after the others: an older trace ends
// before them, and an older reader ignores them.
#pragma once

#include "analysis/trace/bytes.h"
#include "analysis/trace/format.h"
#include "analysis/trace/trace_writer.h"

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

namespace msleaks::analysis::inline trace {

class MetadataWriter {
public:
  explicit MetadataWriter(ByteWriter &out) : out_(out) {}
  void operator()(const std::string &text) { out_.text(text); }
  void operator()(const std::vector<std::string> &texts) {
    const size_t count = std::min<size_t>(texts.size(), kMaxArguments);
    out_.varint(count);
    for (size_t i = 0; i < count; ++i)
      out_.text(texts[i]);
  }
  template <class T>
    requires std::is_integral_v<T>
  void operator()(const T &value) {
    out_.varint(zigzag(static_cast<uint64_t>(static_cast<int64_t>(value))));
  }
  void operator()(const EndReason &reason) { (*this)(static_cast<uint8_t>(reason)); }
  template <class T> void added(const T &value) { (*this)(value); }

private:
  ByteWriter &out_;
};

class MetadataReader {
public:
  explicit MetadataReader(ByteReader &in) : in_(in) {}
  void operator()(std::string &text) { text = in_.text(); }
  void operator()(std::vector<std::string> &texts) {
    const uint64_t count = in_.varint();
    if (count > kMaxArguments)
      in_.fail();
    for (uint64_t i = 0; i < count && !in_.failed(); ++i)
      texts.push_back(in_.text());
  }
  template <class T>
    requires std::is_integral_v<T>
  void operator()(T &value) {
    value = static_cast<T>(unzigzag(in_.varint()));
  }
  void operator()(EndReason &reason) {
    uint8_t number = 0;
    (*this)(number);
    if (number <= static_cast<uint8_t>(EndReason::Replaced)) // treats a reason of a later version like EndReason::Ended
      reason = static_cast<EndReason>(number);
  }
  template <class T> void added(T &value) {
    if (in_.left() > 0)
      (*this)(value);
  }

private:
  ByteReader &in_;
};

template <class Visitor, class Start>
  requires std::is_same_v<std::remove_const_t<Start>, ProcessStart>
void visitMetadata(Visitor &&visit, Start &start) {
  visit(start.pid);
  visit(start.parent_pid);
  visit(start.realtime_ns);
  visit(start.command);
  visit.added(start.pid_namespace);
  visit.added(start.exec_id);
  visit.added(start.page_bytes);
  visit.added(start.process_birth);
  visit.added(start.ancestor.pid);
  visit.added(start.ancestor.attach_ns);
}

template <class Visitor, class End>
  requires std::is_same_v<std::remove_const_t<End>, ProcessEnd>
void visitMetadata(Visitor &&visit, End &end) {
  visit(end.status);
  visit(end.dropped_no_ring);
  visit.added(end.reason);
}

template <class Visitor, class Account>
  requires std::is_same_v<std::remove_const_t<Account>, StreamAccount>
void visitMetadata(Visitor &&visit, Account &account) {
  visit(account.tid);
  visit(account.thread_name);
  visit(account.produced);
  visit(account.dropped);
  visit(account.stalled_ns);
}

template <class Visitor, class Entry>
  requires std::is_same_v<std::remove_const_t<Entry>, TraceWriter::CallerEntry>
void visitMetadata(Visitor &&visit, Entry &entry) {
  visit(entry.index);
  visit(entry.image);
  visit(entry.address);
}

// In the file, `time_ns` is the difference to the entry before in the chunk.
template <class Visitor, class Sample>
  requires std::is_same_v<std::remove_const_t<Sample>, ResidentSample>
void visitMetadata(Visitor &&visit, Sample &sample) {
  visit(sample.process);
  visit(sample.time_ns);
  visit(sample.resident_bytes);
  visit(sample.file_bytes);
  visit(sample.shared_bytes);
  visit(sample.recorder_bytes);
}

// The same for `time_ns`.
template <class Visitor, class Sample>
  requires std::is_same_v<std::remove_const_t<Sample>, SharingSample>
void visitMetadata(Visitor &&visit, Sample &sample) {
  visit(sample.process);
  visit(sample.time_ns);
  visit(sample.pss_bytes);
  visit(sample.private_bytes);
  visit(sample.shared_bytes);
}

// A sample in older traces.
struct ResidentOfFiles : ResidentSample {};
template <class Visitor, class Sample>
  requires std::is_same_v<std::remove_const_t<Sample>, ResidentOfFiles>
void visitMetadata(Visitor &&visit, Sample &sample) {
  visit(sample.process);
  visit(sample.time_ns);
  visit(sample.resident_bytes);
  visit(sample.file_bytes);
}

// The numbers of entries are consecutive. The first one is stored before them. In the file, `parent` is a distance.
template <class Visitor, class Entry>
  requires std::is_same_v<std::remove_const_t<Entry>, PathEntry>
void visitMetadata(Visitor &&visit, Entry &entry) {
  visit(entry.parent);
  visit(entry.image);
  visit(entry.address);
}

} // namespace msleaks::analysis::inline trace
