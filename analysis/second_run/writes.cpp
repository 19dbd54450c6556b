#include "analysis/second_run/writes.h"

#include "analysis/second_run/allocation_place.h"

#include <algorithm>
#include <fmt/format.h>

namespace msleaks::analysis::inline second_run {
namespace {

constexpr size_t kMostKeptPaths = 64;

// Returns the name of a watch that has no name.
std::string nameOfAddress(uint64_t address) { return fmt::format("{:#x}", address); }

int rankOf(const WritePath &path) { return !path.is_within ? 2 : path.given ? 1 : 0; }

// Returns the lines from the user's own code outwards. One line, or a library function that it calls, may have many
// instructions that write.
std::vector<CallLine> linesFrom(const std::vector<SiteText> &calls) {
  return linesOf(std::span(calls).subspan(ownCallOf(calls)));
}

bool isSame(const WritePath &path, const Write &write) {
  return path.by_call == write.by_call && path.given == write.given && path.is_within == write.is_within &&
         path.operation == write.operation;
}

std::string textOf(const WritePath &path) {
  const std::string bytes = path.end - path.begin == 1 ? fmt::format("byte {}", path.begin)
                                                       : fmt::format("bytes {} to {}", path.begin, path.end - 1);
  return fmt::format("{} write{} changed {} of the block", path.writes, path.writes == 1 ? "" : "s", bytes);
}

std::string within(const std::string &operation) {
  return operation.empty() ? "outside of all ranges" : fmt::format("in {}", operation);
}

} // namespace

void Writes::add(const Write &write, std::vector<SiteText> calls) {
  const std::vector<CallLine> lines = linesFrom(calls);
  auto path = std::ranges::find_if(
      paths_, [&](const WritePath &known) { return isSame(known, write) && linesFrom(known.calls) == lines; });
  if (path == paths_.end()) {
    if (paths_.size() == kMostKeptPaths)
      return;
    paths_.push_back({std::move(calls), 0, write.bytes.begin, write.bytes.end, write.by_call, write.given,
                      write.is_within, write.operation, write.step});
    path = paths_.end() - 1;
  }
  ++path->writes;
  path->begin = std::min(path->begin, write.bytes.begin);
  path->end = std::max(path->end, write.bytes.end);
}

std::vector<WritePath> Writes::paths(size_t most) const {
  std::vector<WritePath> paths = paths_;
  std::ranges::stable_sort(paths, {}, rankOf);
  paths.resize(std::min(paths.size(), most));
  return paths;
}

WriteQuestion questionOf(const Finding &finding, const abi::WatchWish &wish) {
  const std::string block = evidenceOf<std::string>(finding, "block");
  WriteQuestion question;
  question.bytes = evidenceOf<uint64_t>(finding, "block_bytes");
  question.most_bytes = wish.bytes;
  question.operation = evidenceOf<std::string>(finding, "operation");
  question.is_told = !(wish.kind == abi::WatchKind::Line && block == wish.what) &&
                     !(wish.kind == abi::WatchKind::Address && block == nameOfAddress(wish.address));
  if (!block.starts_with("0x"))
    question.name = block;
  return question;
}

std::string toldBytes(const WriteQuestion &question) {
  if (question.is_told)
    return "0";
  const bool is_whole = question.most_bytes == 0 || question.bytes < question.most_bytes;
  return fmt::format("{}-{}", question.bytes, is_whole ? question.bytes : UINT64_MAX);
}

Judgement judgeWrites(const Finding &finding, const WriteSum &sum) {
  const std::string operation = evidenceOf<std::string>(finding, "operation");
  if (sum.blocks == 0)
    return {Outcome::Unknown, "no such block was watched"};
  if (!operation.empty() && sum.operations == 0)
    return {Outcome::Unknown, fmt::format("the program was in no range {}", operation)};
  const WritePath *first = sum.paths.empty() ? nullptr : &sum.paths.front();
  if (first != nullptr && first->is_within && !first->given)
    return {Outcome::Proved, fmt::format("{}, {}", textOf(*first), within(operation))};
  if (sum.incomplete)
    return {Outcome::Unknown, "not all of its pages could be made inaccessible, or not all the time"};
  if (first != nullptr && first->is_within)
    return {Outcome::Unknown,
            fmt::format("{}, only system calls that got it as an argument changed it", within(operation))};
  if (first != nullptr)
    return {Outcome::Refuted,
            fmt::format("it was not changed {}, but {}", within(operation), within(first->operation))};
  return {Outcome::Refuted, fmt::format("nothing changed it {}", within(operation))};
}

} // namespace msleaks::analysis::inline second_run
