#include "text_parts.h"

#include "text_format.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

namespace msleaks::analysis {
namespace {

bool isBlocks(const LedgerLine &line) {
  return line.source == LedgerSource::Blocks || line.source == LedgerSource::ClosedLibrary;
}

bool isPool(const LedgerLine &line) {
  return line.source == LedgerSource::PoolUsed || line.source == LedgerSource::PoolFree;
}

} // namespace

// Blocks alone are what the places of the peak say. The others are worth a table where they are a part of some size,
// not the few MiB that any program has.
bool saysMore(const Ledger &ledger) {
  constexpr int64_t kLeastBytes = 8 << 20, kOneIn = 10;
  int64_t blocks = 0, others = 0;
  for (const LedgerLine &line : ledger)
    (isBlocks(line) ? blocks : others) += std::abs(line.at_peak_bytes);
  return std::any_of(ledger.begin(), ledger.end(), isPool) || (others >= kLeastBytes && others * kOneIn >= blocks);
}

namespace {

std::string signedText(int64_t bytes) {
  const std::string text = bytesText(static_cast<uint64_t>(std::abs(bytes)));
  return bytes < 0 ? "-" + text : text;
}

std::string memoryText(const LedgerLine &line) {
  return line.device ? fmt::format("device {}", *line.device) : std::string("host");
}

} // namespace

void writeLedger(TextTable &table, const Ledger &ledger) {
  if (ledger.empty())
    return;
  table.heading("Ledger: what the memory is made of");
  table.line(fmt::format("{:>12}{:>12}  source", "at peak", "at end"));
  for (auto line = ledger.begin(); line != ledger.end();) {
    const auto next = std::find_if(line, ledger.end(), [&](const auto &other) { return other.device != line->device; });
    int64_t at_peak = 0, at_end = 0;
    std::for_each(line, next, [&](const LedgerLine &of) {
      at_peak += of.at_peak_bytes;
      at_end += of.bytes;
    });
    table.line(fmt::format("{:>12}{:>12}  {}", signedText(at_peak), signedText(at_end), memoryText(*line)));
    for (; line != next; ++line)
      table.line(cutEnd(fmt::format("{:>12}{:>12}    {}: {}", signedText(line->at_peak_bytes), signedText(line->bytes),
                                    nameOf(line->source), meaningOf(line->source)),
                        table.columns()));
  }
}

} // namespace msleaks::analysis
