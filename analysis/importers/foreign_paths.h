// Defines the calls of foreign stacks in a trace: images, Python code, and the tree of paths.
#pragma once

#include "analysis/importers/foreign_rows.h"
#include "analysis/trace/trace_writer.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline importers {

// The definitions of one process.
class ForeignPaths {
public:
  // Returns the number of a text that an event names.
  uint64_t labelOf(std::string_view text);
  // Returns the site number of the stacks in a row; 0 = they have no call.
  uint32_t siteOf(std::string_view python_stack, std::string_view c_stack);
  // Writes everything. Call it before the events.
  Result<void> write(TraceWriter &, uint32_t process) const;

private:
  struct Frame {
    uint32_t image = 0;
    uint64_t address = 0;
    auto operator<=>(const Frame &) const = default;
  };
  Frame pythonFrameOf(std::string_view line);
  Frame nativeFrameOf(std::string_view line);
  Frame frameOf(std::string_view line, bool is_python);
  uint32_t nodeOf(uint32_t parent, Frame);

  std::map<std::string, uint64_t, std::less<>> labels_;
  std::map<std::string, uint32_t, std::less<>> images_, codes_; // codes: by file and function
  std::map<std::pair<bool, std::string>, Frame> frames_;        // by the line of a stack
  std::map<std::string, std::vector<NamedAddress>> names_;      // by image
  std::set<uint64_t> addresses_;
  std::map<std::pair<uint32_t, Frame>, uint32_t> nodes_;
  std::vector<PathEntry> entries_;
  std::unordered_map<std::string, uint32_t> sites_; // by both stacks
  std::string records_;
};

} // namespace msleaks::analysis::inline importers
