#include "content_file.h"

#include "session.h"
#include "system.h"

#include <sys/uio.h>

namespace msleaks::runtime {
namespace {

constexpr size_t kMostTextBytes = 512; // a longer name is cut off

// Returns the length of the UTF-8 character at the beginning of the text, or 0 if the text does not begin with one.
size_t characterAt(std::string_view text) noexcept {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t bytes = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (bytes == 0 || bytes > text.size())
    return 0;
  for (size_t i = 1; i < bytes; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80)
      return 0;
  // Reject overlong characters, surrogates, and code points that do not exist.
  const auto second = static_cast<unsigned char>(bytes > 1 ? text[1] : 0);
  const bool is_none = (first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ||
                       (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90);
  return is_none ? 0 : bytes;
}

void appendCharacter(ContentHeader &to, std::string_view character) noexcept {
  const char first = character[0];
  if (first == '"' || first == '\\')
    to << "\\";
  if (static_cast<unsigned char>(first) >= 0x20)
    to << character;
  else
    (to << (first < 0x10 ? "\\u000" : "\\u00")).hex(static_cast<unsigned char>(first));
}

// Appends a text as a JSON string. Bytes that are not UTF-8 become "?".
void appendText(ContentHeader &to, std::string_view text) noexcept {
  to << "\"";
  for (size_t at = 0; at < text.size() && at < kMostTextBytes;) {
    const size_t bytes = characterAt(text.substr(at));
    appendCharacter(to, bytes != 0 ? text.substr(at, bytes) : "?");
    at += bytes != 0 ? bytes : 1;
  }
  to << "\"";
}

void appendHex(ContentHeader &to, uint64_t number) noexcept { (to << "\"0x").hex(number) << "\""; }

// Returns the size of an element in bits: the first number in the type's name. "F32" has 32 bits, and "F8_E4M3" has 8.
// A type without a number in its name, such as "BOOL", has 8.
uint64_t elementBits(const char *type) noexcept {
  while (*type != 0 && (*type < '0' || *type > '9'))
    ++type;
  if (*type == 0)
    return 8;
  uint64_t bits = 0;
  for (; *type >= '0' && *type <= '9'; ++type)
    bits = 10 * bits + static_cast<uint64_t>(*type - '0');
  return bits;
}

// Whether a tensor of this form has exactly this number of bytes.
bool isFormOf(const TensorForm &form, uint64_t bytes) noexcept {
  uint64_t bits = elementBits(form.type);
  for (uint64_t i = 0; i < form.dimensions && i < hook::kMostDimensions; ++i)
    if (form.extents[i] < 0 || __builtin_mul_overflow(bits, static_cast<uint64_t>(form.extents[i]), &bits))
      return false;
  return form.type[0] != 0 && bits % 8 == 0 && bits / 8 == bytes;
}

void appendForm(ContentHeader &to, const Content &content) noexcept {
  const TensorForm &form = content.form;
  if (!isFormOf(form, content.size_bytes)) {
    to << R"("dtype":"U8","shape":[)" << content.size_bytes << "]";
    return;
  }
  to << R"("dtype":")" << form.type << R"(","shape":[)";
  for (uint64_t i = 0; i < form.dimensions; ++i)
    to << (i != 0 ? "," : "") << static_cast<uint64_t>(form.extents[i]);
  to << "]";
}

// Whether this many more bytes may be written. If so, adds them to the number of bytes that all processes share.
bool takeRoom(abi::UnseenPage &shared, uint64_t bytes) noexcept {
  const uint64_t most = session.control->flags.watch_max;
  if (shared.watch_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes <= most)
    return true;
  shared.watch_bytes.fetch_sub(bytes, std::memory_order_relaxed);
  return false;
}

bool writeAll(int fd, const char *bytes, uint64_t count) noexcept {
  while (count != 0) {
    const long written = callKernel(SYS_write, fd, bytes, count);
    if (written <= 0)
      return false;
    bytes += written;
    count -= static_cast<uint64_t>(written);
  }
  return true;
}

// Writes the file under a temporary name, and renames the file when it is complete.
bool writeFile(const ContentScratch &scratch, const Content &content) noexcept {
  const SizeSignalTaken taken;
  const char *unfinished = scratch.unfinished.c_str();
  bool done = false;
  if (const OpenFile file = createFile(unfinished, O_WRONLY); file) {
    const uint64_t header_bytes = scratch.header.size();
    done = writeAll(file.fd(), reinterpret_cast<const char *>(&header_bytes), sizeof header_bytes) &&
           writeAll(file.fd(), scratch.header.c_str(), header_bytes) &&
           writeAll(file.fd(), content.bytes, content.size_bytes);
  }
  if (done && callKernel(SYS_renameat2, AT_FDCWD, unfinished, AT_FDCWD, scratch.path.c_str(), 0) == 0)
    return true;
  callKernel(SYS_unlinkat, AT_FDCWD, unfinished, 0);
  return false;
}

} // namespace

void describe(const Content &content, ContentHeader &to) noexcept {
  to.clear();
  to << R"({"__metadata__":{"written_by":"msleaks","address":)";
  appendHex(to, content.address);
  to << R"(,"heap":")" << (content.is_device ? "device" : "host") << R"(","offset":"0","digest":"xxh3_64:)";
  to.hex(content.digest) << "\"";
  if (!content.operation.empty()) {
    to << R"(,"operator":)";
    appendText(to, content.operation);
  }
  if (content.step != 0)
    to << R"(,"step":")" << content.step - 1 << "\"";
  to << "},";
  if (content.name.empty() || content.name == "__metadata__")
    appendHex(to, content.address);
  else
    appendText(to, content.name);
  to << ":{";
  appendForm(to, content);
  to << R"(,"data_offsets":[0,)" << content.size_bytes << "]}}";
  while (to.size() % 8 != 0)
    to << " ";
}

uint64_t keepContent(const Content &content, ContentScratch &scratch) noexcept {
  const abi::WatchWish &wish = session.control->watch;
  if (wish.folder[0] == 0)
    return 0;
  describe(content, scratch.header);
  const uint64_t bytes = sizeof(uint64_t) + scratch.header.size() + content.size_bytes;
  if (session.unseen == nullptr || !takeRoom(*session.unseen, bytes))
    return abi::kRefusedFile;
  const uint64_t number = session.unseen->watch_files.fetch_add(1, std::memory_order_relaxed) + 1;
  scratch.path.clear();
  scratch.path << wish.folder << "/" << number << ".safetensors";
  scratch.unfinished.clear();
  scratch.unfinished << scratch.path.c_str() << ".part";
  if (writeFile(scratch, content))
    return number;
  session.unseen->watch_bytes.fetch_sub(bytes, std::memory_order_relaxed);
  return abi::kRefusedFile;
}

} // namespace msleaks::runtime
