#include "analysis/second_run/watched_process.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace msleaks::analysis::inline second_run {
namespace {

constexpr size_t kMostTextBytes = 4096; // the runtime's limit for a name

} // namespace

// Reads page by page, since the page after the text may not be mapped.
std::string textAt(pid_t process, uint64_t address) {
  std::string text;
  while (address != 0 && text.size() < kMostTextBytes) {
    char piece[256];
    const uint64_t most = std::min<uint64_t>(sizeof piece, systemPageBytes() - address % systemPageBytes());
    const uint64_t got = readMemory(process, address, std::as_writable_bytes(std::span(piece, most)));
    const size_t length = strnlen(piece, got);
    text.append(piece, length);
    if (length < got || got == 0)
      break;
    address += got;
  }
  return text.substr(0, kMostTextBytes);
}

WatchedBlock::Read memoryOf(const TracedThread &thread) {
  return [process = thread.space->pid](uint64_t address, std::span<std::byte> to) {
    return readMemory(process, address, to);
  };
}

bool anyOfProcess(const TracedThread &thread, const std::function<bool(const WatchingThread &)> &isSo) {
  return std::ranges::any_of(thread.tracer->threads(), [&](auto &entry) {
    return entry.second.space == thread.space && isSo(watchingOf(entry.second));
  });
}

void setPages(const TracedThread &thread, bool closed) {
  WatchingProcess &process = processOf(thread);
  if (process.is_closed == closed)
    return;
  for (const WatchedBlock &block : process.blocks)
    for (const ClosablePages &pages : block.pages())
      thread.call(pages.setting(closed), thread.space->instruction);
  process.is_closed = closed;
}

namespace {

bool overlap(PageRange left, PageRange right) { return left.begin < right.end && right.begin < left.end; }

PageRange common(PageRange left, PageRange right) {
  const uint64_t begin = std::max(left.begin, right.begin);
  return {begin, std::max(begin, std::min(left.end, right.end))};
}

int protectionOf(const MappedRange &range) {
  return (range.readable ? PROT_READ : 0) | PROT_WRITE | (range.executable ? PROT_EXEC : 0);
}

void appendPage(PageRange page, int protection, std::vector<ClosablePages> &pages) {
  if (!pages.empty() && pages.back().range.end == page.begin && pages.back().protection == protection)
    pages.back().range.end = page.end;
  else
    pages.push_back({page, protection});
}

} // namespace

int ClosablePages::closed() const { return protection & ~PROT_WRITE; }

SystemCall ClosablePages::setting(bool closed) const {
  return {SYS_mprotect,
          {range.begin, range.end - range.begin, static_cast<uint64_t>(closed ? this->closed() : protection)}};
}

std::vector<ClosablePages> pagesOf(std::span<const MappedRange> mapped, PageRange block, uint64_t page_bytes,
                                   std::span<const PageRange> untouchable) {
  const PageRange whole{block.begin / page_bytes * page_bytes, (block.end + page_bytes - 1) / page_bytes * page_bytes};
  std::vector<ClosablePages> pages;
  for (const MappedRange &range : mapped) {
    const PageRange part = common(whole, {range.begin, range.end});
    for (uint64_t at = part.begin; range.writable && at < part.end; at += page_bytes)
      if (const PageRange page{at, at + page_bytes};
          std::ranges::none_of(untouchable, [&](PageRange other) { return overlap(page, other); }))
        appendPage(page, protectionOf(range), pages);
  }
  return pages;
}

bool WatchedBlock::liesOn(const Buffer &buffer) const {
  const uint64_t bytes = std::min(std::max<uint64_t>(buffer.bytes, 1), UINT64_MAX - buffer.address);
  return std::ranges::any_of(pages_, [&](const ClosablePages &pages) {
    return overlap(pages.range, {buffer.address, buffer.address + bytes});
  });
}

void WatchedBlock::keep(const Read &read) {
  content_.resize(bytes_.end - bytes_.begin);
  read(bytes_.begin, content_);
}

std::optional<ChangedBytes> WatchedBlock::change(PageRange within, const Read &read) {
  const PageRange part = common(bytes_, within);
  if (part.empty() || content_.empty())
    return std::nullopt;
  std::vector<std::byte> now(part.end - part.begin);
  now.resize(read(part.begin, now));
  const auto kept = content_.begin() + static_cast<ptrdiff_t>(part.begin - bytes_.begin);
  const auto first = std::mismatch(now.begin(), now.end(), kept).first;
  if (first == now.end())
    return std::nullopt;
  const auto begin = static_cast<uint64_t>(first - now.begin());
  uint64_t end = now.size();
  while (now[end - 1] == kept[static_cast<ptrdiff_t>(end - 1)])
    --end;
  std::ranges::copy(now, kept);
  const uint64_t offset = part.begin - bytes_.begin;
  return ChangedBytes{offset + begin, offset + end};
}

} // namespace msleaks::analysis::inline second_run
