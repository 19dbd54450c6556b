#include "analysis/launch/sanitizer.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <optional>

namespace msleaks::analysis {
namespace {

constexpr const char *kRuntimes[] = {"libasan.so",       "libtsan.so",         "liblsan.so",
                                     "libhwasan.so",     "libclang_rt.asan",   "libclang_rt.tsan",
                                     "libclang_rt.lsan", "libclang_rt.hwasan", "libclang_rt.memprof"};
// More than any program has; a damaged file names what it likes.
constexpr uint64_t kMostEntries = 4096;
constexpr size_t kLongestName = 4096;

// Reads of the file what it describes; whatever is not there is nothing.
class Program {
public:
  explicit Program(const std::filesystem::path &path) : file_(path, std::ios::binary) {}

  template <class T> std::optional<T> at(uint64_t offset) {
    T value;
    file_.clear();
    if (offset > INT64_MAX || !file_.seekg(static_cast<std::streamoff>(offset)) ||
        !file_.read(reinterpret_cast<char *>(&value), sizeof value))
      return std::nullopt;
    return value;
  }

  std::string textAt(uint64_t offset) {
    std::string text;
    file_.clear();
    if (offset > INT64_MAX || !file_.seekg(static_cast<std::streamoff>(offset)))
      return text;
    for (char c; text.size() < kLongestName && file_.get(c) && c != 0;)
      text += c;
    return text;
  }

  bool open() {
    header_ = at<Elf64_Ehdr>(0);
    return header_ && std::memcmp(header_->e_ident, ELFMAG, SELFMAG) == 0 && header_->e_ident[EI_CLASS] == ELFCLASS64 &&
           header_->e_phentsize == sizeof(Elf64_Phdr);
  }

  // The first segment of which `wanted` says so.
  template <class F> std::optional<Elf64_Phdr> segment(F wanted) {
    for (unsigned i = 0; i < header_->e_phnum; ++i)
      if (const auto segment = at<Elf64_Phdr>(header_->e_phoff + i * sizeof(Elf64_Phdr)); segment && wanted(*segment))
        return segment;
    return std::nullopt;
  }

private:
  std::ifstream file_;
  std::optional<Elf64_Ehdr> header_;
};

bool isSanitizer(const std::string &library) {
  const std::string name = std::filesystem::path(library).filename();
  return std::any_of(std::begin(kRuntimes), std::end(kRuntimes),
                     [&](const char *runtime) { return name.starts_with(runtime); });
}

} // namespace

std::vector<std::string> sanitizersOf(const std::filesystem::path &path) {
  Program program(path);
  if (!program.open())
    return {};
  const auto dynamic = program.segment([](const Elf64_Phdr &segment) { return segment.p_type == PT_DYNAMIC; });
  if (!dynamic)
    return {};
  std::vector<uint64_t> needed;
  uint64_t strings = 0;
  for (uint64_t i = 0; i < std::min(dynamic->p_filesz / sizeof(Elf64_Dyn), kMostEntries); ++i) {
    const auto entry = program.at<Elf64_Dyn>(dynamic->p_offset + i * sizeof(Elf64_Dyn));
    if (!entry || entry->d_tag == DT_NULL)
      break;
    if (entry->d_tag == DT_NEEDED)
      needed.push_back(entry->d_un.d_val);
    else if (entry->d_tag == DT_STRTAB)
      strings = entry->d_un.d_ptr;
  }
  const auto holder = program.segment([&](const Elf64_Phdr &segment) {
    return segment.p_type == PT_LOAD && strings - segment.p_vaddr < segment.p_filesz;
  });
  std::vector<std::string> found;
  for (const uint64_t name : needed)
    if (std::string library = holder ? program.textAt(holder->p_offset + (strings - holder->p_vaddr) + name) : "";
        isSanitizer(library))
      found.push_back(std::move(library));
  return found;
}

} // namespace msleaks::analysis
