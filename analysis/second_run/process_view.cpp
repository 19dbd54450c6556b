#include "analysis/second_run/process_view.h"

#include "analysis/base/environment.h"
#include "analysis/base/files.h"
#include "analysis/base/ranges.h"
#include "analysis/base/text.h"
#include "analysis/reach/process_memory.h"
#include "analysis/second_run/vocabulary.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>

namespace msleaks::analysis::inline second_run {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

// Returns the ELF class of the image that begins at the address, or ELFCLASSNONE.
unsigned char classOf(const ProcessMemory &memory, uint64_t begin) {
  unsigned char ident[EI_NIDENT];
  return memory.read(begin, ident) && std::memcmp(ident, ELFMAG, SELFMAG) == 0 ? ident[EI_CLASS] : ELFCLASSNONE;
}

// The image's header says where the image ends. The image contains at least its first mapping.
Image imageAt(const ProcessMemory &memory, const MappedRange &range, unsigned char elf_class) {
  const LoadedImage loaded = elf_class == ELFCLASS64 ? readImage(memory, range.begin) : LoadedImage{};
  return {range.path, range.begin, std::max(loaded.end, range.end), loaded.load_bias, nullptr};
}

// Skips files that are mapped only for reading: they have no executable part.
std::vector<Image> imagesOf(const ProcessMemory &memory) {
  const std::vector<MappedRange> ranges = memory.maps();
  std::vector<Image> images;
  for (const MappedRange &range : ranges) {
    const bool begins = range.file_offset == 0 && range.readable && range.path.starts_with('/') &&
                        (images.empty() || range.path != images.back().path || range.begin >= images.back().end);
    const unsigned char elf_class = begins ? classOf(memory, range.begin) : ELFCLASSNONE;
    if (elf_class == ELFCLASSNONE)
      continue;
    Image image = imageAt(memory, range, elf_class);
    const bool is_loaded = std::ranges::any_of(ranges, [&image, elf_class](const MappedRange &other) {
      return other.executable && other.path == image.path && (image.holds(other.begin) || elf_class == ELFCLASS32);
    });
    if (is_loaded)
      images.push_back(std::move(image));
  }
  return images;
}

std::string variableOf(pid_t thread, std::string_view name) {
  return std::string(variableIn(readText(fmt::format("/proc/{}/environ", thread)), name));
}

} // namespace

bool isImage(pid_t thread, uint64_t address) {
  return classOf(ProcessMemory(static_cast<uint32_t>(thread)), address) != ELFCLASSNONE;
}

const Image *ProcessView::at(uint64_t address) const { return rangeAt(images, address); }

// Skips the dynamic linker: the program may have been started by a call of the dynamic linker.
const Image *ProcessView::program() const {
  const auto found = std::ranges::find_if(
      images, [](const Image &image) { return image.is_program && roleOf(image.path) != Role::System; });
  return found != images.end() ? &*found : nullptr;
}

// The process may have another root directory than we.
void LibraryFiles::addTo(Image &image, pid_t thread) {
  const std::string path = fmt::format("/proc/{}/root{}", thread, image.path);
  struct stat status{};
  if (image.path.ends_with(kDeleted) || stat(path.c_str(), &status) != 0) {
    image.why = "it was deleted";
    return;
  }
  auto [entry, is_new] = known_.try_emplace(fmt::format("{} {} {}", image.path, status.st_dev, status.st_ino));
  Known &known = entry->second;
  if (is_new) {
    auto file = readLibraryFile(path, wanted_);
    if (file)
      known.file = std::make_shared<const LibraryFile>(std::move(*file));
    else
      known.why = file.error().message.substr(std::min(path.size() + 2, file.error().message.size()));
  }
  image.file = known.file;
  image.why = known.why;
}

ProcessView viewOf(pid_t thread, LibraryFiles &files) {
  const auto memory = std::make_shared<ProcessMemory>(static_cast<uint32_t>(thread));
  ProcessView view;
  view.images = imagesOf(*memory);
  view.preload = variableOf(thread, "LD_PRELOAD");
  view.word = [memory](uint64_t address) -> std::optional<uint64_t> {
    uint64_t value = 0;
    return memory->read(address, value) ? std::optional(value) : std::nullopt;
  };
  std::error_code error;
  const std::string program = std::filesystem::read_symlink(fmt::format("/proc/{}/exe", thread), error).string();
  for (Image &image : view.images) {
    files.addTo(image, thread);
    view.has_hooks |= roleOf(image.path) == Role::Own;
    image.is_program = image.path == program || (image.file && image.file->is_program);
  }
  return view;
}

} // namespace msleaks::analysis::inline second_run
