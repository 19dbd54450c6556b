// A process that stands still: its images, and where the words lead that its dynamic linker has filled.
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

// An executable or library that is mapped.
struct Image {
  std::string path;
  uint64_t begin = 0, end = 0;
  uint64_t bias = 0;                       // what its own addresses are off by
  std::shared_ptr<const LibraryFile> file; // null: cannot be read, `why` says so
  std::string why = {};
  bool is_program = false;
  bool holds(uint64_t address) const { return address >= begin && address < end; }
};

struct ProcessView {
  std::vector<Image> images; // by address
  bool has_hooks = false;
  std::string preload; // LD_PRELOAD, as the process was given it
  std::function<std::optional<uint64_t>(uint64_t address)> word;

  const Image *at(uint64_t address) const;
  const Image *program() const;
};

// Reads each file once, however many processes have it.
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
  std::map<std::string, Known> known_; // by path and what the file system calls the file
};

// Whether the first byte of an executable's or library's file is mapped there.
bool isImage(pid_t thread, uint64_t address);

// Of the process of a thread that stands still.
ProcessView viewOf(pid_t thread, LibraryFiles &);

} // namespace msleaks::analysis::inline second_run
