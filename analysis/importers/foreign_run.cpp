#include "analysis/importers/foreign_run.h"

#include <algorithm>
#include <fmt/format.h>
#include <span>

namespace msleaks::analysis::inline importers {

Result<ForeignRun> ForeignRun::create(const RunFolder &folder, std::string file) {
  return ForeignRun(folder, std::move(file), MSL_TRY(TraceWriter::create(folder.trace())));
}

ForeignRun::Process &ForeignRun::process(uint32_t pid) {
  std::unique_ptr<Process> &process = processes_[pid];
  if (!process)
    process = std::make_unique<Process>(static_cast<uint32_t>(processes_.size()), pid);
  return *process;
}

void ForeignRun::add(Process &process, uint32_t tid, abi::AnyEvent event) {
  constexpr size_t kMostSlots = 4096;
  const uint64_t time_ns = event.header().time;
  if (process.streams.empty()) {
    process.first_ns = time_ns;
    if (written_)
      written_ = writer_.processStart({process.number, process.pid, 0, time_ns, time_ns, command()});
  }
  process.first_ns = std::min(process.first_ns, time_ns);
  process.last_ns = std::max(process.last_ns, time_ns);
  const auto [found, is_new] = process.streams.try_emplace(tid);
  Stream &stream = found->second;
  if (is_new)
    stream.number = static_cast<uint32_t>(process.streams.size() - 1);
  const auto slots = std::span(event.slots).first(abi::slotsOf(event.header().kind));
  stream.slots.insert(stream.slots.end(), slots.begin(), slots.end());
  ++stream.events;
  if (stream.slots.size() >= kMostSlots)
    flush(process, stream);
}

void ForeignRun::flush(const Process &process, Stream &stream) {
  if (written_ && !stream.slots.empty())
    written_ = writer_.events({process.number, stream.number, stream.position, stream.slots});
  stream.position += stream.slots.size();
  stream.slots.clear();
}

Result<void> ForeignRun::end(Process &process) {
  MSL_TRY(process.paths.write(writer_));
  for (auto &[tid, stream] : process.streams) {
    flush(process, stream);
    MSL_TRY(Result<void>(written_));
    MSL_TRY(writer_.streamAccount({process.number, stream.number, tid, "", stream.events, 0, 0}));
  }
  return writer_.processEnd({process.number, process.last_ns + 1, process.status, 0, process.end});
}

void ForeignRun::markCut() {
  if (!is_cut_)
    facts.notes.emplace_back("the file was cut: the report has only the part before");
  is_cut_ = true;
  for (auto &[pid, process] : processes_)
    process->end = EndReason::Running;
}

Result<void> ForeignRun::finish() {
  Manifest manifest;
  manifest.state = "complete";
  manifest.source = facts.source;
  manifest.start_ns = UINT64_MAX;
  manifest.start_realtime_ns = facts.start_realtime_ns;
  manifest.command = command();
  manifest.notes = {fmt::format("imported from {}: {}. {}", facts.kind, file_, facts.loss)};
  manifest.notes.insert(manifest.notes.end(), facts.notes.begin(), facts.notes.end());
  std::erase_if(processes_, [](const auto &entry) { return entry.second->streams.empty(); });
  if (processes_.empty())
    return fail(fmt::format("'{}': it has nothing that msleaks can use", file_));
  for (auto &[pid, process] : processes_) {
    manifest.start_ns = std::min(manifest.start_ns, process->first_ns);
    manifest.end_ns = std::max(manifest.end_ns, process->last_ns + 1);
    MSL_TRY(end(*process));
  }
  MSL_TRY(writer_.close());
  return folder_->writeManifest(manifest);
}

} // namespace msleaks::analysis::inline importers
