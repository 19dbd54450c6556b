// Tests the options of msleaks-run that have msMemScope's names: their effects, and each line that refuses a value.
#include "run/options.h"

#include <gtest/gtest.h>

namespace msleaks::driver {
namespace {

RunOptions parsed(std::vector<std::string> arguments) {
  arguments.emplace_back("program");
  auto parsed = parseRun(arguments);
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
  return parsed ? parsed->options : RunOptions();
}

std::string refusalOf(std::vector<std::string> arguments) {
  arguments.emplace_back("program");
  const auto parsed = parseRun(arguments);
  EXPECT_FALSE(parsed);
  EXPECT_TRUE(parsed || parsed.error().status == ExitStatus::Usage);
  return parsed ? std::string() : parsed.error().message;
}

std::string notesOf(const RunOptions &options) {
  std::string text;
  for (const std::string &note : options.notes)
    text += note + "\n";
  return text;
}

uint32_t bits(std::initializer_list<abi::EventKind> kinds) {
  uint32_t word = 0;
  for (const abi::EventKind kind : kinds)
    word |= abi::enabledBit(kind);
  return word;
}

using enum abi::EventKind;

TEST(MemscopeOptions, CollectMode) {
  EXPECT_FALSE(parsed({"--collect-mode", "immediate"}).start_paused);
  EXPECT_TRUE(parsed({"--collect-mode", "deferred"}).start_paused);
  EXPECT_TRUE(parsed({"--collect-mode=deferred"}).start_paused);
  EXPECT_EQ(refusalOf({"--collect-mode", "late"}),
            "--collect-mode: 'late' is none of immediate, deferred; see msleaks-run --help");
}

TEST(MemscopeOptions, CallStack) {
  const struct {
    std::string value;
    abi::CallStack call_stack;
    uint32_t depth;
  } rows[] = {
      {"c", abi::CallStack::All, 50},
      {"python", abi::CallStack::All, 50},
      {"python:20", abi::CallStack::All, 20},
      {"python:20,c:30", abi::CallStack::All, 30},
      {"c:7,python", abi::CallStack::All, 50},
      {"c:0", abi::CallStack::None, 256},
      {"c:0,python:5", abi::CallStack::All, 5},
      {"", abi::CallStack::None, 256},
      {"c:7\uff0cpython:9", abi::CallStack::All, 9},
      {"all:20", abi::CallStack::All, 20},
      {"auto", abi::CallStack::Auto, 256},
      {"none", abi::CallStack::None, 256},
  };
  for (const auto &row : rows) {
    const RunOptions options = parsed({"--call-stack", row.value});
    EXPECT_EQ(options.flags.call_stack, row.call_stack) << row.value;
    EXPECT_EQ(options.flags.call_stack_depth, row.depth) << row.value;
  }
  EXPECT_EQ(refusalOf({"--call-stack", "python:1001"}),
            "--call-stack: 'python:1001' is none of c[:0..1000], python[:0..1000]; see msleaks-run --help");
  EXPECT_EQ(refusalOf({"--call-stack", "c:x"}),
            "--call-stack: 'c:x' is none of c[:0..1000], python[:0..1000]; see msleaks-run --help");
  EXPECT_EQ(refusalOf({"--call-stack", "java"}),
            "--call-stack: java is none of none, auto, all, c, python; see msleaks-run --help");
}

TEST(MemscopeOptions, AnalysisAddsItsEvents) {
  EXPECT_EQ(parsed({"--events", "mark", "--analysis", "leaks"}).enabled, bits({Mark, Alloc, Free}));
  EXPECT_EQ(parsed({"--analysis", "oom:5", "--events", "mark"}).enabled, bits({Mark, Alloc, Free}));
  EXPECT_EQ(parsed({"--events", "mark", "--analysis", "decompose"}).enabled,
            bits({Mark, Alloc, Free, Access, Copy, Set}));
  EXPECT_EQ(parsed({"--events", "mark", "--analysis", "oom,,inefficient"}).enabled,
            bits({Mark, Alloc, Free, Access, Copy, Set, Launch}));
  EXPECT_EQ(parsed({"--analysis", "leaks"}).enabled, UINT32_MAX);
  EXPECT_FALSE(parsed({"--analysis", "leaks"}).no_report);
}

TEST(MemscopeOptions, AnalysisNone) {
  EXPECT_TRUE(parsed({"--analysis", "none"}).no_report);
  const RunOptions mixed = parsed({"--events", "mark", "--analysis", "leaks,none"});
  EXPECT_TRUE(mixed.no_report);
  EXPECT_EQ(mixed.enabled, bits({Mark}));
  EXPECT_EQ(notesOf(mixed), "--analysis leaks,none: only none counts\n");
}

TEST(MemscopeOptions, AnalysisRefuses) {
  for (const std::string value : {"oom:0", "oom:1001", "oomXYZ", "leaks:3", "leaks, decompose", "leak"})
    EXPECT_EQ(refusalOf({"--analysis", value}),
              "--analysis: '" + value.substr(value.find(',') + 1) +
                  "' is none of leaks, decompose, inefficient, oom[:1..1000], none; see msleaks-run --help");
  EXPECT_EQ(refusalOf({"--analysis", ","}), "--analysis: ',' names nothing; allowed are leaks, decompose, "
                                            "inefficient, oom[:1..1000], none; see msleaks-run --help");
}

TEST(MemscopeOptions, Level) {
  EXPECT_EQ(parsed({"--level", "op"}).enabled, ~bits({Launch, Kernel}));
  EXPECT_EQ(parsed({"--level", "kernel"}).enabled, ~bits({RangeBegin, RangeEnd}));
  EXPECT_EQ(parsed({"--level", "op,kernel"}).enabled, UINT32_MAX);
  EXPECT_EQ(parsed({"--level", "op", "--events", "launch,mark"}).enabled, bits({Mark}));
  EXPECT_TRUE(parsed({"--level", "op", "--analysis", "inefficient"}).enabled & bits({Launch}))
      << "the analysis needs the launches";
  EXPECT_EQ(notesOf(parsed({"--level", "0,1"})),
            "--level 0 is deprecated: write op\n--level 1 is deprecated: write kernel\n");
  EXPECT_EQ(refusalOf({"--level", "2"}), "--level: '2' is none of op, kernel; see msleaks-run --help");
}

TEST(MemscopeOptions, Device) {
  EXPECT_FALSE(parsed({}).devices.isRestricted());
  const analysis::DeviceChoice two = parsed({"--device", "npu:31,cpu,gpu:0"}).devices;
  EXPECT_EQ(two.accelerators, 0x8000'0001u);
  EXPECT_TRUE(two.host);
  const analysis::DeviceChoice all = parsed({"--device", "npu"}).devices;
  EXPECT_EQ(all.accelerators, UINT32_MAX);
  EXPECT_FALSE(all.host);
  for (const std::string value : {"npu:32", "tpu", "cpu:1", "npu:"})
    EXPECT_EQ(refusalOf({"--device", value}),
              "--device: '" + value + "' is none of npu[:0..31], gpu[:0..31], cpu; see msleaks-run --help");
}

TEST(MemscopeOptions, Steps) {
  EXPECT_EQ(parsed({"--steps", "3"}).steps, (std::vector<uint64_t>{3}));
  EXPECT_EQ(parsed({"--steps", "0,,2\uff0c18446744073709551614,4,5"}).steps,
            (std::vector<uint64_t>{0, 2, 18446744073709551614u, 4, 5}));
  for (const std::string value : {"x", "-1", "03", "3-4", "18446744073709551616", "3 "})
    EXPECT_EQ(refusalOf({"--steps", value}),
              "--steps: '" + value + "' is no number of a step, such as 3; see msleaks-run --help");
  EXPECT_EQ(refusalOf({"--steps", ","}), "--steps: ',' names 0 steps; allowed are 1 to 5; see msleaks-run --help");
  EXPECT_EQ(refusalOf({"--steps", "1,2,3,4,5,6"}),
            "--steps: '1,2,3,4,5,6' names 6 steps; allowed are 1 to 5; see msleaks-run --help");
}

TEST(MemscopeOptions, OutputPath) { EXPECT_EQ(parsed({"--output-path", "folder"}).output, "folder"); }

TEST(MemscopeOptions, LogLevelWarn) {
  const RunOptions options = parsed({"--log-level", "warn"});
  EXPECT_EQ(options.log_level, "warning");
  EXPECT_EQ(notesOf(options), "--log-level warn is deprecated: write warning\n");
}

TEST(MemscopeOptions, AProgramKeepsItsOwnOptions) {
  const RunOptions options = parsed({"--collect-mode", "deferred", "--", "train", "--device", "gpu", "--level", "9"});
  EXPECT_EQ(options.command, (std::vector<std::string>{"train", "--device", "gpu", "--level", "9", "program"}));
}

} // namespace
} // namespace msleaks::driver
