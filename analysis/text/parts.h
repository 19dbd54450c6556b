// Writes the parts of a text report.
#pragma once

#include "analysis/text/table.h"

#include <string>

namespace msleaks::analysis::inline text {

// Largest width of a function's name, even if there is more room. From a longer name, parameters are left out.
inline constexpr size_t kWidestName = 120;

// Writes the command, the time and the end of the program.
void writeSession(TextTable &, const Report &);
// Writes the figures of the run, one on each line: peak, leaks, events, cost.
void writeEntries(TextTable &, const Report &);
void writeNotes(TextTable &, const Report &);
void writeFindings(TextTable &, const Report &);
// The tables for the groups that the user has asked for.
bool hasGroups(const Report &);
void writeGroups(TextTable &, const Report &);
void writeGroup(TextTable &, const Section &);
// Writes the places of the blocks that were alive at the peak.
void writePeak(TextTable &, const Report &);
// Writes the ledger: the sources of the memory at the peak.
void writeLedger(TextTable &, const Ledger &);
// Whether the ledger shows more than the places of the peak.
bool saysMore(const Ledger &);
void writeRemains(TextTable &, const RemainsReport &, const std::string &what);
// Writes the handles that were never closed.
void writeHandles(TextTable &, const std::vector<HandleLine> &);
// Returns a row: one line with the place and what the blocks are for, and lines with the callers below it. `room`:
// columns of a line.
TableRow rowOf(const SiteLine &, size_t room);
// Writes any table of a result: first the numbers, aligned at the right, and then the names.
void writeSection(TextTable &, const Section &);
// Whether the section is in the whole text.
bool isInText(const Section &);

// Returns the text of a cell. A place or a text has at most `room` columns.
std::string cellText(const Cell &, Unit, size_t room);
std::string exitText(const ReportProcess &); // "exit 0", "killed by signal 9"
std::string blocksText(uint64_t count);      // "1 block", "1,234 blocks"
// Returns the place and the name in one line. If there is a place in the user's own code, returns that one. The name is
// cut to the room that is left.
std::string wholePlaceOf(const SiteText &, size_t columns);

// Return a figure of the run in words, on one line. Empty: not known, or there is none.
std::string textOfCommand(const Report &);
std::string textOfEnd(const Report &); // how long the program ran, and how it ended
std::string textOfPeak(const Report &);
std::string headingOfPeak(const Report &); // "At the peak", or the moment that the report is about
// The peak of one heap on all devices. Null: the heap was not used.
const HeapPeak *peakOf(const Report &, abi::Heap);
// The parts that pools had handed out when the bytes of all parts were at their peak. Null: there are none.
const HeapPeak *peakOfPools(const Report &);
std::string headingOfPools(const Report &);
// The kinds of PyTorch's tensors at the peak, the largest first.
std::string textOfTensors(const Report &);
std::string textOfFloor(const Report &);
std::string textOfLeaks(const Report &);
std::string textOfRemains(const RemainsReport &);
std::string textOfEvents(const Report &);
std::string textOfKernel(const Report &); // the accounts of the collectors of kernel evidence

} // namespace msleaks::analysis::inline text
