#include "analysis/base/preload.h"

#include "analysis/base/program.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <unistd.h>

namespace msleaks::analysis::inline base {

namespace fs = std::filesystem;

namespace {
constexpr char kHooksLibrary[] = "libmsleaks_hooks.so";
constexpr char kAscendName[] = "libascend_kernel_hook.so";

// torch_npu and MindSpore report their memory pools only if LD_PRELOAD names a library with this file name. If CANN is
// installed, preloads an empty library with this name.
void addAscendName(const std::string &hooks, std::vector<std::string> &libraries) {
  const bool is_there = std::getenv("ASCEND_HOME_PATH") != nullptr || std::getenv("ASCEND_TOOLKIT_HOME") != nullptr;
  const fs::path library = fs::path(hooks).parent_path() / kAscendName;
  if (is_there && access(library.c_str(), R_OK) == 0)
    libraries.push_back(library.string());
}
} // namespace

Result<std::string> findHooks(const fs::path &link) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path folder = self.parent_path().parent_path() / "lib";
  if (error || access((folder / kHooksLibrary).c_str(), R_OK) != 0)
    return fail(fmt::format("{}: not found", (folder / kHooksLibrary).string()));
  if (canPreload(folder))
    return (folder / kHooksLibrary).string();
  if (canPreload(link))
    fs::create_directory_symlink(folder, link, error);
  if (error || !canPreload(link))
    return fail(fmt::format("{}: LD_PRELOAD cannot name a path with a space or a colon{}", folder.string(),
                            error ? ", and a link to it cannot be made: " + error.message()
                                  : ", and neither can one in " + link.parent_path().string()));
  return (link / kHooksLibrary).string();
}

std::vector<std::string> preloadsFor(const fs::path &program, const std::string &hooks,
                                     const std::vector<std::string> &others) {
  std::vector<std::string> libraries = sanitizersOf(program);
  libraries.push_back(hooks);
  addAscendName(hooks, libraries);
  libraries.insert(libraries.end(), others.begin(), others.end());
  return libraries;
}

namespace {

constexpr const char *kRuntimes[] = {"libasan.so",       "libtsan.so",         "liblsan.so",
                                     "libhwasan.so",     "libclang_rt.asan",   "libclang_rt.tsan",
                                     "libclang_rt.lsan", "libclang_rt.hwasan", "libclang_rt.memprof"};
// Limits for a damaged file: no real program has more entries in its dynamic section, or a longer name.
constexpr uint64_t kMostEntries = 4096;
constexpr size_t kLongestName = 4096;

// Reads parts of an ELF file. If the file does not contain a part, the result is empty.
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

  // The first segment for which `wanted` returns true.
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

} // namespace msleaks::analysis::inline base
