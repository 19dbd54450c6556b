// The parts that a report in text is put together of.
#pragma once

#include "analysis/text/table.h"

#include <string>

namespace msleaks::analysis::inline text {

// Of a function, whatever room there is: parameters are left out beyond it.
inline constexpr size_t kWidestName = 120;

// Command, time and end of the program.
void writeSession(TextTable &, const Report &);
// The figures of the run, a line each: peak, leaks, events, cost.
void writeEntries(TextTable &, const Report &);
void writeNotes(TextTable &, const Report &);
void writeFindings(TextTable &, const Report &);
// Tables by what the user asked to group by.
bool hasGroups(const Report &);
void writeGroups(TextTable &, const Report &);
void writeGroup(TextTable &, const Section &);
// The places of the blocks that were alive at the peak.
void writePeak(TextTable &, const Report &);
// Writes the ledger: the sources of the memory at the peak.
void writeLedger(TextTable &, const Ledger &);
// Whether that says more than the places of the peak do.
bool saysMore(const Ledger &);
void writeRemains(TextTable &, const RemainsReport &, const std::string &what);
// What was never given back and has no bytes.
void writeHandles(TextTable &, const std::vector<HandleLine> &);
// Place and what it is for, in a line; below it who called. `room`: columns of a line.
TableRow rowOf(const SiteLine &, size_t room);
// Any table of a result: numbers first, at the right of their columns, then names.
void writeSection(TextTable &, const Section &);
// Whether it is in the whole text.
bool isInText(const Section &);

// At most `room` columns of a place or a text.
std::string cellText(const Cell &, Unit, size_t room);
std::string exitText(const ReportProcess &); // "exit 0", "killed by signal 9"
std::string blocksText(uint64_t count);      // "1 block", "1,234 blocks"
// Place and name in one line, the user's own place if there is one; the name as far as there is room.
std::string wholePlaceOf(const SiteText &, size_t columns);

// The figures of the run, each in words on one line. Empty: not known, or there is none.
std::string textOfCommand(const Report &);
std::string textOfEnd(const Report &); // how long it ran, and how it ended
std::string textOfPeak(const Report &);
std::string headingOfPeak(const Report &); // "At the peak", or the moment that the report is about
std::string textOfFloor(const Report &);
std::string textOfLeaks(const Report &);
std::string textOfRemains(const RemainsReport &);
std::string textOfEvents(const Report &);

} // namespace msleaks::analysis::inline text
