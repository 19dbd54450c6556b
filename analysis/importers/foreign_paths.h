// Defines the calls of foreign stacks in a trace: images, Python code, and the tree of paths.
#pragma once

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

// A call of a foreign stack. An empty text, or 0: it is not known.
struct ForeignCall {
  bool is_python = false;
  std::string_view function, file, library;
  uint32_t line = 0;
  uint64_t offset = 0; // of the call's end in the library
};

// The definitions of one process.
class ForeignPaths {
public:
  // The number of the process keeps made-up addresses of processes apart: names of addresses belong to no process.
  explicit ForeignPaths(uint32_t process) : process_(process) {}

  // The address of a call. Equal calls have equal frames.
  struct Frame {
    uint32_t image = 0;
    uint64_t address = 0;
    auto operator<=>(const Frame &) const = default;
  };

  // Returns the number of a text that an event names.
  uint64_t labelOf(std::string_view text);
  Frame frameOf(const ForeignCall &);
  // Returns the number of a path: that of the calls around it (abi::kPathBegin: none), and one more call.
  uint32_t nodeOf(uint32_t parent, Frame);
  // Returns the site number of a path; 0 = it has no call.
  static uint32_t siteOf(uint32_t node);
  // The same for the stacks in a row of a dump.
  uint32_t siteOf(std::string_view python_stack, std::string_view c_stack);
  Result<void> write(TraceWriter &) const;

private:
  using CallKey = std::tuple<bool, std::string, std::string, std::string, uint32_t, uint64_t>;
  Frame pythonFrameOf(const ForeignCall &);
  Frame nativeFrameOf(const ForeignCall &);
  Frame frameOfLine(std::string_view line, bool is_python);

  uint32_t process_;
  std::map<std::string, uint64_t, std::less<>> labels_;
  std::map<std::string, uint32_t, std::less<>> images_, codes_; // codes: by file and function
  std::map<CallKey, Frame> frames_;
  std::map<std::pair<bool, std::string>, Frame> frames_of_lines_; // by the line of a stack
  std::map<std::string, std::vector<NamedAddress>> names_;        // by image
  std::set<Frame> taken_;
  std::map<std::pair<uint32_t, Frame>, uint32_t> nodes_;
  std::vector<PathEntry> entries_;
  std::unordered_map<std::string, uint32_t> sites_; // by both stacks
  std::string records_;
};

} // namespace msleaks::analysis::inline importers
