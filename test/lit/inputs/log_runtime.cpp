// A runtime for the tests. It arms each unit, so that callbacks run, and prints each callback as a line
// on standard error. The line ends with the site and its inline chain, from the unit's own table:
//
//   on_alloc heap alloc block size=40 | malloc at site.c:7 in make variable=l.output type=float < main:12
#include "msleaks/abi/callbacks.h"
#include "msleaks/abi/site_table.h"
#include "msleaks/abi/symbols.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

using namespace msleaks::abi;

namespace {

constexpr unsigned kMaxUnits = 64;
constexpr uint32_t kSitesOfUnit = 1000;
Unit *units[kMaxUnits];
unsigned unitCount = 0;

const char *fileName(const char *path) {
  const char *slash = std::strrchr(path, '/');
  return slash ? slash + 1 : path;
}

void printSite(uint32_t site) {
  const Unit *unit = units[site / kSitesOfUnit - 1];
  const auto *table = reinterpret_cast<const unsigned char *>(unit->table);
  const UnitHeader &header = *unit->table;
  const auto *rows = reinterpret_cast<const SiteRow *>(table + header.header_bytes);
  const auto *frames = reinterpret_cast<const FrameRow *>(rows + header.row_count);
  const auto *strings = reinterpret_cast<const char *>(frames + header.frame_count);
  const SiteRow &row = rows[site % kSitesOfUnit];
  std::fprintf(stderr, " | %s at %s:%u in %s", strings + row.callee, fileName(strings + row.file), row.line,
               strings + row.function);
  if (row.variable)
    std::fprintf(stderr, " variable=%s", strings + row.variable);
  if (row.type)
    std::fprintf(stderr, " type=%s", strings + row.type);
  for (uint32_t i = row.first_frame; i < row.first_frame + row.frame_count; ++i)
    std::fprintf(stderr, " < %s:%u", strings + frames[i].function, frames[i].line);
  std::fputc('\n', stderr);
}

[[gnu::format(printf, 4, 5)]] void log(const char *callback, uint32_t site, uint32_t packed, const char *format, ...) {
  const Traits traits(packed);
  std::fprintf(stderr, "%s %s %s", callback, nameOf(traits.family()), nameOf(traits.verb()));
  if (traits.flags())
    std::fprintf(stderr, " flags=%#x", traits.flags());
  std::va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  printSite(site);
}

const char *blockOrNull(const void *address) { return address ? "block" : "null"; }
unsigned long number(const void *handle) { return reinterpret_cast<unsigned long>(handle); }
unsigned low(uint64_t pair) { return static_cast<unsigned>(pair); }
unsigned high(uint64_t pair) { return static_cast<unsigned>(pair >> 32); }

} // namespace

extern "C" {

void __msl_arm_v2(Unit *begin, Unit *end) noexcept {
  for (Unit *unit = begin; unit != end; ++unit)
    if (!unit->base && unit->version == kObjectVersion && unit->bytes == sizeof *unit && unitCount < kMaxUnits) {
      units[unitCount++] = unit;
      unit->base = unitCount * kSitesOfUnit;
    }
  std::fprintf(stderr, "arm %u units\n", static_cast<unsigned>(end - begin));
}

void __msl_disarm_v2(Unit *begin, Unit *end) noexcept {
  for (Unit *unit = begin; unit != end; ++unit)
    unit->base = 0;
  std::fprintf(stderr, "disarm %u units\n", static_cast<unsigned>(end - begin));
}

void __msl_before(uint32_t site, uint32_t traits) noexcept { log("before", site, traits, "%s", ""); }

void __msl_announce(uint32_t site, uint32_t traits) noexcept { log("announce", site, traits, "%s", ""); }

void __msl_cancel(uint32_t site) noexcept { log("cancel", site, 0, "%s", ""); }

void __msl_on_alloc(uint32_t site, uint32_t traits, const void *address, uint64_t size) noexcept {
  log("on_alloc", site, traits, " %s size=%lu", blockOrNull(address), size);
}

void __msl_on_alloc_out(uint32_t site, uint32_t traits, const void *const *where, uint64_t size,
                        int64_t status) noexcept {
  log("on_alloc_out", site, traits, " %s size=%lu status=%ld", blockOrNull(*where), size, status);
}

void __msl_on_alloc_status(uint32_t site, uint32_t traits, const void *address, uint64_t size,
                           const int32_t *status) noexcept {
  log("on_alloc_status", site, traits, " %s size=%lu status=%d", blockOrNull(address), size, status ? *status : 0);
}

void __msl_on_map(uint32_t site, uint32_t traits, const void *address, uint64_t size, int32_t protection,
                  int32_t flags) noexcept {
  log("on_map", site, traits, " %s size=%lu protection=%d flags=%#x", blockOrNull(address), size, protection, flags);
}

void __msl_on_free(uint32_t site, uint32_t traits, const void *address, uint64_t size) noexcept {
  log("on_free", site, traits, " %s size=%lu", blockOrNull(address), size);
}

void __msl_on_inner_free(uint32_t site, uint32_t traits, const void *address, uint64_t size) noexcept {
  log("on_inner_free", site, traits, " %s size=%lu", blockOrNull(address), size);
}

void __msl_on_freed(uint32_t site, uint32_t traits, const void *address, uint64_t size, int64_t status) noexcept {
  log("on_freed", site, traits, " %s size=%lu status=%ld", blockOrNull(address), size, status);
}

void __msl_on_failed(uint32_t site, uint32_t traits, const void *handle, int64_t status) noexcept {
  log("on_failed", site, traits, " %#lx status=%ld", number(handle), status);
}

void __msl_on_protect(uint32_t site, uint32_t traits, const void *address, uint64_t size, int32_t protection,
                      int64_t status) noexcept {
  log("on_protect", site, traits, " %s size=%lu protection=%d status=%ld", blockOrNull(address), size, protection,
      status);
}

void __msl_on_remap(uint32_t site, uint32_t traits, const void *address, uint64_t old_size, uint64_t size,
                    int32_t flags) noexcept {
  log("on_remap", site, traits, " %s old_size=%lu size=%lu flags=%d", blockOrNull(address), old_size, size, flags);
}

void __msl_on_retain(uint32_t site, uint32_t traits, const void *address) noexcept {
  log("on_retain", site, traits, " %s", blockOrNull(address));
}

void __msl_on_launch(uint32_t site, uint32_t traits, const void *kernel, const void *stream, uint64_t grid_xy,
                     uint32_t grid_z, uint64_t block_xy, uint32_t block_z, uint32_t shared_bytes) noexcept {
  log("on_launch", site, traits, " %s stream=%#lx grid=%u,%u,%u block=%u,%u,%u shared=%u", blockOrNull(kernel),
      number(stream), low(grid_xy), high(grid_xy), grid_z, low(block_xy), high(block_xy), block_z, shared_bytes);
}

void __msl_on_launch_range(uint32_t site, uint32_t traits, const void *kernel, const void *queue, uint32_t dimensions,
                           const uint64_t *global, const uint64_t *local) noexcept {
  log("on_launch_range", site, traits, " kernel=%#lx queue=%#lx dimensions=%u global=%lu local=%lu", number(kernel),
      number(queue), dimensions, global[dimensions - 1], local ? local[dimensions - 1] : 0);
}

void __msl_on_copy(uint32_t site, uint32_t traits, const void *destination, const void *source, uint64_t size,
                   const void *stream, uint64_t direction) noexcept {
  log("on_copy", site, traits, " to=%#lx from=%#lx size=%lu stream=%#lx direction=%lu", number(destination),
      number(source), size, number(stream), direction);
}

void __msl_on_set(uint32_t site, uint32_t traits, const void *destination, uint64_t value, uint64_t size,
                  const void *stream) noexcept {
  log("on_set", site, traits, " to=%#lx value=%lu size=%lu stream=%#lx", number(destination), value, size,
      number(stream));
}
}
