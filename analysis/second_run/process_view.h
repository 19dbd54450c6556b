// Describes a process that stands still: its images, and the words that its dynamic linker has filled.
#pragma once

#include "analysis/second_run/library_file.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace msleaks::analysis::inline second_run {

// A mapped executable or library.
struct Image {
  std::string path;
  uint64_t begin = 0, end = 0;
  uint64_t bias = 0;                       // the difference between addresses in memory and in the file
  std::shared_ptr<const LibraryFile> file; // null: cannot be read. `why` has the reason
  std::string why = {};
  bool is_program = false;
  bool holds(uint64_t address) const { return address >= begin && address < end; }
};

struct ProcessView {
  std::vector<Image> images; // by address
  bool has_hooks = false;
  std::string preload; // LD_PRELOAD in the process's first environment
  std::function<std::optional<uint64_t>(uint64_t address)> word;

  const Image *at(uint64_t address) const;
  const Image *program() const;
};

// Reads each file once, even if several processes have mapped it.
class LibraryFiles {
public:
  explicit LibraryFiles(NameFilter wanted) : wanted_(std::move(wanted)) {}
  void addTo(Image &image, pid_t thread);

private:
  struct Known {
    std::shared_ptr<const LibraryFile> file;
    std::string why;
  };
  NameFilter wanted_;
  std::map<std::string, Known> known_; // by the path, the device and the inode
};

// Whether the first byte of an executable or a library is mapped at the address.
bool isImage(pid_t thread, uint64_t address);

// Returns the view of a thread's process. The thread must stand still.
ProcessView viewOf(pid_t thread, LibraryFiles &);

} // namespace msleaks::analysis::inline second_run
