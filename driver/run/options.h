// Parses the command line of msleaks-run.
#pragma once

#include "analysis/base/result.h"
#include "analysis/collect/session_dir.h"
#include "analysis/collect/watch_option.h"
#include "kernel/kernel_session.h"
#include "msleaks/abi/session.h"

#include <cstdint>
#include <string>
#include <vector>

namespace msleaks::driver {

enum class Progress {
  IfHarmless, // shown unless stdin and stdout are the terminal, too
  Shown,
  Hidden
};

struct RunOptions {
  std::string output; // the run folder; empty: the name is made from program, date and pid
  abi::Flags flags;
  std::vector<kernel::Request> kernel; // collectors of kernel evidence
  uint64_t kernel_ring_kib = 16384;    // size of each of their rings
  uint32_t enabled = UINT32_MAX;       // one bit for each EventKind
  uint32_t needed = 0;                 // these events are recorded in any case
  uint32_t left_out = 0;               // these events are not recorded, unless they are needed
  analysis::DeviceChoice devices;
  std::vector<uint64_t> steps; // only blocks of these steps are recorded; empty = all
  analysis::WatchOption watch;
  bool start_paused = false; // recording begins only with `msleaks ctl RUN start`
  int toggle_signal = 0;     // this signal to msleaks-run starts and stops recording; 0 = none
  std::string log_level;
  int error_exitcode = 0;         // 0 = findings do not change the exit status
  std::vector<std::string> hooks; // hook libraries of the user
  bool count_sources = false;     // counts OpenCL kernels that programs pass to the driver as source
  bool no_report = false;
  bool analyze_at_end = false;
  Progress progress = Progress::IfHarmless;
  std::vector<std::string> notes; // what the user should know about the options
  std::vector<std::string> given; // the options as the user wrote them
  std::vector<std::string> command;

  bool wantsReport() const { return !no_report || error_exitcode != 0; }
};

// The parsed command line. If `text` is not empty, main prints this text (help, version) and exits, else it runs the
// program.
struct ParsedRun {
  RunOptions options;
  std::string text;
};

// Parses the arguments of msleaks-run, without its name. Options end at `--`, or before the first word that is no
// option.
Result<ParsedRun> parseRun(const std::vector<std::string> &arguments);

} // namespace msleaks::driver
