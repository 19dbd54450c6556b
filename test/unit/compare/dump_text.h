// Builds the text of a dump of msMemScope for tests, row by row.
#pragma once

#include <fmt/format.h>
#include <string>

namespace msleaks::analysis::compare {

class DumpText {
public:
  DumpText &launch(uint64_t time, const std::string &device, const std::string &name = "N/A") {
    return add("KERNEL_LAUNCH,KERNEL_LAUNCH", name, time, device, "{streamId:2,taskId:1}");
  }
  DumpText &operatorEnd(uint64_t time, const std::string &device, const std::string &name) {
    return add("OP_LAUNCH,ATEN_END", name, time, device, "{}");
  }
  DumpText &alloc(uint64_t time, const std::string &device, const std::string &size, const std::string &pool = "PTA") {
    return add("MALLOC," + pool, "N/A", time, device, "{addr:4096,size:" + size + ",owner:,total:8,used:8}");
  }
  DumpText &free(uint64_t time, const std::string &device, const std::string &size) {
    return add("FREE,PTA", "N/A", time, device, "{addr:4096,size:" + size + ",owner:,total:8,used:8}");
  }
  DumpText &add(const std::string &event, const std::string &name, uint64_t time, const std::string &device,
                const std::string &attributes) {
    text += fmt::format("{},{},{},{},7,7,{},N/A,\"{}\",{}\n", ++rows_, event, name, time, device, attributes, stacks);
    return *this;
  }

  std::string stacks = ","; // the last two cells
  std::string text = "ID,Event,Event Type,Name,Timestamp(ns),Process Id,Thread Id,Device Id,Ptr,Attr,"
                     "Call Stack(Python),Call Stack(C)\n";

private:
  unsigned rows_ = 0;
};

// sixLaunches() returns a dump with six launches on each of two devices. The dump of fiveLaunches() lacks one launch on
// each device: the fifth one on device 0, and the sixth one on device 1.
inline DumpText sixLaunches() {
  DumpText dump;
  dump.add("SYSTEM,acl init", "N/A", 1, "N/A", "").alloc(2, "host", "6356992", "HAL").alloc(3, "0", "2097152", "HAL");
  dump.launch(10, "0").alloc(11, "0", "7168").launch(20, "0").launch(21, "0").alloc(22, "0", "3584");
  dump.launch(30, "0").alloc(31, "0", "1024").launch(40, "0").alloc(41, "0", "512");
  dump.launch(50, "0").alloc(51, "0", "18944");
  dump.launch(10, "1").alloc(11, "1", "7168").launch(20, "1").launch(21, "1").alloc(22, "1", "3584");
  dump.launch(30, "1").free(31, "1", "-18944").launch(40, "1").launch(41, "1").alloc(42, "1", "512");
  return dump;
}
inline DumpText fiveLaunches() {
  DumpText dump;
  dump.launch(10, "0").alloc(11, "0", "7168").launch(20, "0").launch(21, "0").alloc(22, "0", "3584");
  dump.launch(30, "0").alloc(31, "0", "1024").alloc(41, "0", "512");
  dump.launch(50, "0").alloc(51, "0", "18944");
  dump.launch(10, "1").alloc(11, "1", "7168").launch(20, "1").launch(21, "1").alloc(22, "1", "3584");
  dump.launch(30, "1").free(31, "1", "-18944").launch(40, "1").alloc(42, "1", "512");
  return dump;
}

} // namespace msleaks::analysis::compare
