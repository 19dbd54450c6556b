#include "analysis/places/elf_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace msleaks::analysis::inline places {
namespace {

constexpr char kThinArchive[] = "!<thin>\n";
constexpr unsigned char kBitcode[] = {'B', 'C', 0xc0, 0xde};

// Returns why libelf cannot read this file, if the first bytes of the file show the reason.
std::string reasonOf(int descriptor) {
  unsigned char first[8] = {};
  const ssize_t count = pread(descriptor, first, sizeof first, 0);
  if (count == 0)
    return "is empty";
  if (count == 8 && std::memcmp(first, kThinArchive, 8) == 0)
    return "is a thin archive, it holds names only: give its members";
  if (count >= 4 && std::memcmp(first, kBitcode, 4) == 0)
    return "is LLVM bitcode (compiled with -flto): its sites appear in the linked file";
  return "is not an ELF file";
}

} // namespace

Result<ElfFile> ElfFile::open(const std::filesystem::path &path) {
  elf_version(EV_CURRENT);
  // With O_NONBLOCK, opening a FIFO does not wait for a writer.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return fail(fmt::format("{}: cannot be read: {}", path.string(), std::strerror(errno)));
  struct stat status{};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(descriptor);
    return fail(fmt::format("{}: is not a file", path.string()));
  }
  // Reads the file instead of mapping it: if another process truncates the file, a mapping would crash us.
  ElfHandle elf(elf_begin(descriptor, ELF_C_READ, nullptr));
  const Elf_Kind kind = elf ? elf_kind(elf.get()) : ELF_K_NONE;
  if (kind != ELF_K_ELF && kind != ELF_K_AR) {
    std::string reason = reasonOf(descriptor);
    elf.reset();
    close(descriptor);
    return fail(fmt::format("{}: {}", path.string(), reason));
  }
  return ElfFile(descriptor, std::move(elf));
}

ElfFile::ElfFile(ElfFile &&other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), elf_(std::move(other.elf_)) {}

ElfFile::~ElfFile() {
  elf_.reset();
  if (descriptor_ >= 0)
    close(descriptor_);
}

std::span<const std::byte> bytesOf(Elf_Scn *section) {
  const Elf_Data *data = elf_rawdata(section, nullptr);
  if (!data || !data->d_buf)
    return {};
  return {static_cast<const std::byte *>(data->d_buf), data->d_size};
}

std::vector<std::byte> buildIdOf(Elf *elf) {
  std::vector<std::byte> id;
  forEachSection(elf, [&](Elf_Scn *section, const GElf_Shdr &header) {
    if (header.sh_type != SHT_NOTE || !id.empty())
      return;
    Elf_Data *data = elf_getdata(section, nullptr);
    GElf_Nhdr note;
    size_t name = 0, description = 0;
    for (size_t at = 0; data && (at = gelf_getnote(data, at, &note, &name, &description)) > 0;) {
      const auto *bytes = static_cast<const char *>(data->d_buf);
      if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 || std::memcmp(bytes + name, "GNU", 4) != 0)
        continue;
      const auto *first = reinterpret_cast<const std::byte *>(bytes + description);
      id.assign(first, first + note.n_descsz);
      return;
    }
  });
  return id;
}

} // namespace msleaks::analysis::inline places
