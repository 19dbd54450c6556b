#include "definitions.h"

#include "system.h"

#include <cstring>
#include <sys/uio.h>

namespace msleaks::runtime {
namespace {

constexpr unsigned char kPadding[8] = {};
constexpr uint64_t kMaxBodyBytes = UINT32_MAX;

uint64_t totalOf(const iovec *pieces, unsigned count) noexcept {
  uint64_t bytes = 0;
  for (unsigned i = 0; i < count; ++i)
    bytes += pieces[i].iov_len;
  return bytes;
}

// Writes the pieces with one system call, so a kill of the process leaves at most one incomplete record, the last. If a
// full disk cuts the write short, truncates the file to its old size, and refuses all later definitions.
bool write(Arena &arena, const OpenFile &file, const iovec *pieces, unsigned count) noexcept {
  const SizeSignalTaken taken;
  const long end = callKernel(SYS_lseek, file.fd(), 0, SEEK_END);
  const long written = callKernel(SYS_writev, file.fd(), pieces, count);
  if (written >= 0 && static_cast<uint64_t>(written) == totalOf(pieces, count))
    return true;
  arena.definitions_full = true;
  callKernel(SYS_ftruncate, file.fd(), end);
  return false;
}

constexpr unsigned kPiecesOfOne = 4;

// Opens the file. The first definition creates it, since most children of a fork write no definition.
OpenFile openDefinitions(Arena &arena) noexcept {
  if (arena.definitions_made)
    return {arena.defs_path.c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW};
  return createFile(arena.defs_path.c_str(), O_WRONLY | O_APPEND);
}

// Appends the pieces to the file. If the file cannot be opened (no descriptor is left), this definition is refused. The
// next definition tries again.
bool append(Arena &arena, const iovec *pieces, unsigned definitions) noexcept {
  if (!arena.definitions_full)
    if (const OpenFile file = openDefinitions(arena); file) {
      arena.definitions_made = true;
      if (write(arena, file, pieces, definitions * kPiecesOfOne))
        return true;
    }
  arena.header->definitions_refused.fetch_add(definitions, std::memory_order_relaxed);
  return false;
}

iovec piece(const void *bytes, uint64_t count) noexcept { return {const_cast<void *>(bytes), count}; }

const unsigned char *bytesOf(const void *object) noexcept { return static_cast<const unsigned char *>(object); }

// Sets `pieces` to the header, fixed part, tail and padding of one record.
bool fill(abi::DefinitionHeader &header, abi::DefinitionKind kind, const iovec &fixed, const iovec &tail,
          iovec *pieces) noexcept {
  const uint64_t bytes = fixed.iov_len + tail.iov_len;
  if (bytes > kMaxBodyBytes)
    return false;
  const uint32_t partial = abi::fnv1a32(bytesOf(fixed.iov_base), fixed.iov_len);
  header = {abi::kDefinitionMagic, kind, static_cast<uint32_t>(bytes),
            abi::fnv1a32(bytesOf(tail.iov_base), tail.iov_len, partial)};
  pieces[0] = piece(&header, sizeof header);
  pieces[1] = fixed;
  pieces[2] = tail;
  pieces[3] = piece(kPadding, (8 - bytes % 8) % 8);
  return true;
}

bool appendOne(Arena &arena, abi::DefinitionKind kind, const iovec &fixed, const iovec &tail) noexcept {
  abi::DefinitionHeader header;
  iovec pieces[kPiecesOfOne];
  return fill(header, kind, fixed, tail, pieces) && append(arena, pieces, 1);
}

} // namespace

bool defineImage(Arena &arena, const abi::ImageDefinition &image, std::string_view path) noexcept {
  return appendOne(arena, abi::DefinitionKind::Image, piece(&image, sizeof image), piece(path.data(), path.size()));
}

bool defineNote(Arena &arena, std::string_view text) noexcept {
  return appendOne(arena, abi::DefinitionKind::Note, piece(nullptr, 0), piece(text.data(), text.size()));
}

bool defineLabel(Arena &arena, uint32_t number, std::string_view text) noexcept {
  const abi::StringDefinition label{number, 0};
  return appendOne(arena, abi::DefinitionKind::String, piece(&label, sizeof label), piece(text.data(), text.size()));
}

bool definePythonCode(Arena &arena, abi::PythonCodeDefinition code, std::string_view file,
                      std::string_view name) noexcept {
  static_assert(sizeof arena.executable >= abi::kMaxPythonFileBytes + abi::kMaxPythonNameBytes);
  char *texts = arena.executable; // nobody uses this buffer now
  std::memcpy(texts, file.data(), file.size());
  std::memcpy(texts + file.size(), name.data(), name.size());
  code.file_bytes = static_cast<uint32_t>(file.size());
  return appendOne(arena, abi::DefinitionKind::PythonCode, piece(&code, sizeof code),
                   piece(texts, file.size() + name.size()));
}

bool definePythonModule(Arena &arena, uint32_t code, std::string_view name) noexcept {
  const abi::PythonModuleDefinition module{code, 0};
  return appendOne(arena, abi::DefinitionKind::PythonModule, piece(&module, sizeof module),
                   piece(name.data(), name.size()));
}

// The kernel accepts at most 1024 pieces in one writev.
struct UnitBatch::Batch {
  static constexpr unsigned kUnits = 1024 / kPiecesOfOne;
  unsigned count;
  abi::DefinitionHeader headers[kUnits];
  abi::UnitDefinition units[kUnits];
  iovec pieces[kPiecesOfOne * kUnits];
};

UnitBatch::~UnitBatch() {
  if (batch_ != nullptr)
    unmapOwn(batch_);
}

bool UnitBatch::add(const abi::UnitDefinition &unit, const abi::UnitHeader &table) noexcept {
  if (batch_ == nullptr)
    batch_ = static_cast<Batch *>(mapAnonymous(sizeof(Batch)));
  if (batch_ == nullptr || (batch_->count == Batch::kUnits && !flush()))
    return fail();
  const unsigned at = batch_->count;
  batch_->units[at] = unit;
  if (!fill(batch_->headers[at], abi::DefinitionKind::Unit, piece(&batch_->units[at], sizeof unit),
            piece(&table, table.total_bytes), &batch_->pieces[size_t{kPiecesOfOne} * at]))
    return fail();
  ++batch_->count;
  return true;
}

bool UnitBatch::flush() noexcept {
  if (failed_ || batch_ == nullptr || batch_->count == 0)
    return !failed_;
  const unsigned count = batch_->count;
  batch_->count = 0;
  return append(arena_, batch_->pieces, count) || fail();
}

bool UnitBatch::fail() noexcept {
  failed_ = true;
  return false;
}

} // namespace msleaks::runtime
