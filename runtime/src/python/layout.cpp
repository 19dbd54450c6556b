#include "layout.h"

#include <cstring>

namespace msleaks::runtime::python {
namespace {

// Sets the offsets in objects, which no version describes. They are the same in 3.9 to 3.15, besides the text.
Layout withObjects(Layout layout) noexcept {
  layout.type = 8;
  layout.dict_before = 24;
  layout.bytes_size = 16;
  layout.bytes_data = 32;
  layout.text_length = 16;
  layout.text_state = 32;
  layout.text_data = layout.minor >= 12 ? 40 : 48;
  layout.wide_text_data = layout.minor >= 12 ? 56 : 72;
  return layout;
}

// Each head has two more words, but the garbage collector has no words before it.
Layout withoutLock(Layout layout) noexcept {
  constexpr uint16_t Layout::*kInObjects[] = {&Layout::type,          &Layout::bytes_size, &Layout::bytes_data,
                                              &Layout::text_length,   &Layout::text_state, &Layout::text_data,
                                              &Layout::wide_text_data};
  for (uint16_t Layout::*const offset : kInObjects)
    layout.*offset = static_cast<uint16_t>(layout.*offset + 16);
  layout.dict_before = 8;
  layout.has_no_lock = true;
  return layout;
}

// The versions that do not describe themselves. A field that is left out is 0: the version has no such field.
constexpr Layout kLayouts[] = {{.minor = 9,
                                .thread_frame = 24,
                                .thread_id = 176,
                                .previous = 24,
                                .code = 32,
                                .instruction = 104,
                                .locals = 360,
                                .globals = 48,
                                .file = 104,
                                .name = 112,
                                .first_line = 40,
                                .lines = 120,
                                .local_names = 72},
                               {.minor = 10,
                                .thread_frame = 24,
                                .thread_id = 176,
                                .previous = 24,
                                .code = 32,
                                .instruction = 96,
                                .locals = 352,
                                .globals = 48,
                                .file = 104,
                                .name = 112,
                                .first_line = 40,
                                .lines = 120,
                                .local_names = 72},
                               {.minor = 11,
                                .thread_frame = 56,
                                .thread_id = 152,
                                .has_c_frame = true,
                                .c_frame = 8,
                                .previous = 48,
                                .code = 32,
                                .instruction = 56,
                                .locals = 72,
                                .globals = 8,
                                .file = 112,
                                .name = 128,
                                .first_line = 72,
                                .lines = 136,
                                .local_names = 96,
                                .bytecode = 184},
                               {.minor = 12,
                                .thread_frame = 56,
                                .has_c_frame = true,
                                .c_frame = 0,
                                .previous = 8,
                                .code = 0,
                                .instruction = 56,
                                .owner = 70,
                                .first_foreign_owner = 3,
                                .locals = 72,
                                .globals = 24,
                                .file = 112,
                                .name = 128,
                                .first_line = 68,
                                .lines = 136,
                                .local_names = 96,
                                .bytecode = 192}};

// The number of words that each struct has in _Py_DebugOffsets.
struct Words {
  uint32_t minor, interpreter, thread, frame, code;
};
constexpr Words kWords[] = {{13, 13, 9, 6, 10}, {14, 16, 9, 8, 11}, {15, 16, 17, 8, 11}};
constexpr uint32_t kHeaderWords = 3, kRuntimeWords = 3;
constexpr uint32_t kNewestWithoutLock = 14; // later builds without the global lock were never seen
constexpr char kCookie[] = "xdebugpy";      // the first word

const Words *wordsOf(uint32_t minor) noexcept {
  for (const Words &words : kWords)
    if (words.minor == minor)
      return &words;
  return nullptr;
}

bool areOffsets(const uint64_t *words, uint32_t count) noexcept {
  constexpr uint64_t kLargestStruct = 1 << 14;
  for (uint32_t i = 0; i < count; ++i)
    if (words[i] >= kLargestStruct)
      return false;
  return true;
}

// Reads the offsets that CPython describes itself.
Layout described(uint32_t minor, uint64_t runtime) noexcept {
  const Words *sizes = wordsOf(minor);
  const auto *words = reinterpret_cast<const uint64_t *>(runtime);
  if (sizes == nullptr || words == nullptr || std::memcmp(words, kCookie, sizeof *words) != 0 ||
      (words[1] >> 16 & 0xff) != minor)
    return {};
  const bool has_no_lock = words[2] != 0;
  if (has_no_lock && minor > kNewestWithoutLock)
    return {};
  const uint64_t *thread = words + kHeaderWords + kRuntimeWords + sizes->interpreter;
  const uint64_t *frame = thread + sizes->thread, *code = frame + sizes->frame;
  if (!areOffsets(thread, sizes->thread) || !areOffsets(frame, sizes->frame) || !areOffsets(code, sizes->code))
    return {};
  Layout layout = withObjects({.minor = minor});
  const auto offset = [](uint64_t word) { return static_cast<uint16_t>(word); };
  layout.thread_frame = offset(thread[4]);
  layout.previous = offset(frame[1]);
  layout.code = offset(frame[2]);
  layout.instruction = offset(frame[3]);
  layout.owner = offset(frame[5]);
  layout.locals = offset(frame[4]);
  layout.globals = 24;
  layout.first_foreign_owner = 3;
  layout.file = offset(code[1]);
  layout.name = offset(code[3]);
  layout.lines = offset(code[4]);
  layout.first_line = offset(code[5]);
  layout.local_names = offset(code[7]);
  layout.bytecode = offset(code[9]);
  if (!has_no_lock)
    return layout;
  if (minor >= 14) {
    layout.copies = offset(code[10]);
    layout.copy_number = offset(frame[7]);
  }
  return withoutLock(layout);
}

// Returns the minor version of "3.MINOR…", or 0.
uint32_t minorOf(const char *version) noexcept {
  if (version == nullptr || std::strncmp(version, "3.", 2) != 0)
    return 0;
  uint32_t minor = 0;
  for (const char *digit = version + 2; *digit >= '0' && *digit <= '9' && minor < 100; ++digit)
    minor = minor * 10 + static_cast<uint32_t>(*digit - '0');
  return minor;
}

} // namespace

Layout layoutOf(const PythonSymbols &symbols) noexcept {
  const uint32_t minor = minorOf(symbols.version);
  if (symbols.thread_state == 0 || symbols.is_finalizing == 0 || symbols.evaluate == 0 || symbols.code_type == 0)
    return {};
  for (const Layout &known : kLayouts)
    if (known.minor == minor)
      return withObjects(known);
  return described(minor, symbols.runtime);
}

} // namespace msleaks::runtime::python
