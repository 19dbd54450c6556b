#include "analysis/result/ledger.h"

namespace msleaks::analysis::inline result {
namespace {

struct Words {
  const char *name, *meaning;
};
constexpr Words kWords[kLedgerSources] = {
    {"blocks", "blocks of the program and of libraries that it called"},
    {"closed-library", "blocks that closed libraries keep for themselves"},
    {"pool-used", "parts of blocks that pools have handed out"},
    {"pool-free", "parts of the pools' blocks that are not handed out"},
    {"driver", "other memory that the driver has in use: contexts, code, closed libraries, other processes"},
    {"manager", "memory that only NVML counts: reserved by the driver and the firmware"},
    {"allocator", "headers and rounding of malloc, estimated"},
    {"allocator-free", "free memory that malloc keeps"},
    {"file-backed", "pages of files: code and data of programs and libraries"},
    {"image-data", "changed data of programs and libraries"},
    {"recorder", "rings and tables of msleaks itself"},
    {"not-resident", "bytes of the lines above that are not in memory: never touched, or swapped out"},
    {"unattributed", "stacks, and unrecorded memory"},
};

} // namespace

// Null for a number that is no source.
const char *nameOf(LedgerSource source) {
  return static_cast<size_t>(source) < kLedgerSources ? kWords[static_cast<size_t>(source)].name : nullptr;
}
const char *meaningOf(LedgerSource source) { return kWords[static_cast<size_t>(source)].meaning; }

} // namespace msleaks::analysis::inline result
