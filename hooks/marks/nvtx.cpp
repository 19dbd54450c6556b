// Records the marks and ranges that CUDA programs report by NVTX. NVTX's header loads the library that
// NVTX_INJECTION64_PATH names. msleaks-run sets this variable if it is not set. The header calls
// InitializeInjectionNvtx2 of the library, which stores pointers to the functions below.
#include "marks/injection.h"

#include "msleaks/api.h"

#include <bit>
#include <cstddef>

#ifdef MSL_VENDOR_HEADERS
#include <nvtx3/nvToolsExt.h>
#include <type_traits>
#endif

using namespace msleaks::hooks;

namespace {

// nvtxEventAttributes_t
struct Attributes {
  uint16_t version, bytes;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type, reserved;
  uint64_t payload;
  int32_t text_type;
  const void *text;
};
enum TextType { kAscii = 1, kUnicode = 2, kRegistered = 3 };

constexpr int kNotTracked = -2; // NVTX_NO_PUSH_POP_TRACKING: the result without a tool
constexpr size_t kMostBytes = 512;

// A wide text as UTF-8, cut off if it is too long.
struct Narrow {
  explicit Narrow(const wchar_t *wide) {
    constexpr unsigned kFirst[] = {0, 0xc0, 0xe0, 0xf0};
    size_t at = 0;
    for (; wide != nullptr && *wide != 0 && at + 5 < kMostBytes; ++wide) {
      const auto code = std::bit_cast<uint32_t>(*wide);
      if (code < 0x80) {
        bytes[at++] = static_cast<char>(code);
        continue;
      }
      const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
      bytes[at++] = static_cast<char>(kFirst[more] | code >> 6 * more);
      for (int i = more - 1; i >= 0; --i)
        bytes[at++] = static_cast<char>(0x80 | (code >> 6 * i & 0x3f));
    }
    bytes[at] = 0;
  }
  char bytes[kMostBytes];
};

// Registered texts, one after the other. The handle of a text is its address. Programs register few texts, so none is
// removed.
char registered[64 << 10];
size_t registered_bytes = 0;

const char *registerText(const char *text) {
  size_t bytes = 0;
  while (text != nullptr && text[bytes++] != 0) {
  }
  const size_t at = __atomic_fetch_add(&registered_bytes, bytes, __ATOMIC_RELAXED);
  if (bytes == 0 || at + bytes > sizeof registered)
    return nullptr;
  __builtin_memcpy(registered + at, text, bytes);
  return registered + at;
}

template <class Say> auto withText(const Attributes *attributes, Say say) {
  if (attributes == nullptr || attributes->text == nullptr)
    return say(nullptr);
  if (attributes->text_type == kUnicode)
    return say(Narrow(static_cast<const wchar_t *>(attributes->text)).bytes);
  const bool is_text = attributes->text_type == kAscii || attributes->text_type == kRegistered;
  return say(is_text ? static_cast<const char *>(attributes->text) : nullptr);
}

void markA(const char *text) { msl_mark(text); }
void markW(const wchar_t *text) { msl_mark(Narrow(text).bytes); }
void markEx(const Attributes *attributes) { withText(attributes, msl_mark); }
uint64_t startA(const char *text) { return msl_range_start(text); }
uint64_t startW(const wchar_t *text) { return msl_range_start(Narrow(text).bytes); }
uint64_t startEx(const Attributes *attributes) { return withText(attributes, msl_range_start); }
void end(uint64_t range) { msl_range_end(range); }
int pushA(const char *text) {
  msl_range_push(text);
  return kNotTracked;
}
int pushW(const wchar_t *text) { return pushA(Narrow(text).bytes); }
int pushEx(const Attributes *attributes) { return withText(attributes, pushA); }
int pop() {
  msl_range_pop();
  return kNotTracked;
}

// The same functions with a domain. The domain's name is not recorded, because the text of a mark or range is enough.
using Domain = const void *;
void domainMarkEx(Domain, const Attributes *attributes) { markEx(attributes); }
uint64_t domainStartEx(Domain, const Attributes *attributes) { return startEx(attributes); }
void domainEnd(Domain, uint64_t range) { end(range); }
int domainPushEx(Domain, const Attributes *attributes) { return pushEx(attributes); }
int domainPop(Domain) { return pop(); }
const char *domainRegisterA(Domain, const char *text) { return registerText(text); }
const char *domainRegisterW(Domain, const wchar_t *text) { return registerText(Narrow(text).bytes); }
Domain domainCreateA(const char *) { return registered; }
Domain domainCreateW(const wchar_t *) { return registered; }

struct Callbacks {
  size_t bytes;
  int (*functionsOf)(int module, AnyFunction ***functions, unsigned *count);
};

FunctionTable tableOf(const Callbacks &callbacks, int module) {
  AnyFunction **functions = nullptr;
  unsigned count = 0;
  return callbacks.functionsOf(module, &functions, &count) != 0 ? FunctionTable(functions, count)
                                                                : FunctionTable(nullptr, 0);
}

// The functions, with the numbers that NVTX gives them.
#define MSL_NVTX_CORE(EACH)                                                                                            \
  EACH(MarkEx, 1, markEx)                                                                                              \
  EACH(MarkA, 2, markA)                                                                                                \
  EACH(MarkW, 3, markW)                                                                                                \
  EACH(RangeStartEx, 4, startEx)                                                                                       \
  EACH(RangeStartA, 5, startA)                                                                                         \
  EACH(RangeStartW, 6, startW)                                                                                         \
  EACH(RangeEnd, 7, end)                                                                                               \
  EACH(RangePushEx, 8, pushEx)                                                                                         \
  EACH(RangePushA, 9, pushA)                                                                                           \
  EACH(RangePushW, 10, pushW)                                                                                          \
  EACH(RangePop, 11, pop)
#define MSL_NVTX_DOMAINS(EACH)                                                                                         \
  EACH(DomainMarkEx, 1, domainMarkEx)                                                                                  \
  EACH(DomainRangeStartEx, 2, domainStartEx)                                                                           \
  EACH(DomainRangeEnd, 3, domainEnd)                                                                                   \
  EACH(DomainRangePushEx, 4, domainPushEx)                                                                             \
  EACH(DomainRangePop, 5, domainPop)                                                                                   \
  EACH(DomainRegisterStringA, 10, domainRegisterA)                                                                     \
  EACH(DomainRegisterStringW, 11, domainRegisterW)                                                                     \
  EACH(DomainCreateA, 12, domainCreateA)                                                                               \
  EACH(DomainCreateW, 13, domainCreateW)

constexpr int kCore = 1, kDomains = 5;

#define MSL_SET(name, number, function) table.set(number, function);
void fillCore(const FunctionTable &table) { MSL_NVTX_CORE(MSL_SET) }
void fillDomains(const FunctionTable &table) { MSL_NVTX_DOMAINS(MSL_SET) }

#ifdef MSL_VENDOR_HEADERS
static_assert(sizeof(Attributes) == sizeof(nvtxEventAttributes_t));
static_assert(offsetof(Attributes, payload) == offsetof(nvtxEventAttributes_t, payload));
static_assert(offsetof(Attributes, text_type) == offsetof(nvtxEventAttributes_t, messageType));
static_assert(offsetof(Attributes, text) == offsetof(nvtxEventAttributes_t, message));
static_assert(kAscii == int{NVTX_MESSAGE_TYPE_ASCII} && kUnicode == int{NVTX_MESSAGE_TYPE_UNICODE} &&
              kRegistered == int{NVTX_MESSAGE_TYPE_REGISTERED} && kNotTracked == NVTX_NO_PUSH_POP_TRACKING);
static_assert(sizeof(Callbacks) == sizeof(NvtxExportTableCallbacks));
static_assert(kCore == NVTX_CB_MODULE_CORE && kDomains == NVTX_CB_MODULE_CORE2);
template <class Result, class... Given, class Theirs, class... Taken>
consteval bool isPassedAlike(Result (*)(Given...), Theirs (*)(Taken...)) {
  if constexpr (sizeof...(Given) != sizeof...(Taken))
    return false;
  else if constexpr (std::is_void_v<Result> || std::is_void_v<Theirs>)
    return std::is_void_v<Result> == std::is_void_v<Theirs> && ((sizeof(Given) == sizeof(Taken)) && ...);
  else
    return sizeof(Result) == sizeof(Theirs) && ((sizeof(Given) == sizeof(Taken)) && ...);
}
#define MSL_ALIKE_CORE(name, number, function)                                                                         \
  static_assert(number == NVTX_CBID_CORE_##name && isPassedAlike(&function, nvtx##name##_impl_fntype{}));
#define MSL_ALIKE_DOMAINS(name, number, function)                                                                      \
  static_assert(number == NVTX_CBID_CORE2_##name && isPassedAlike(&function, nvtx##name##_impl_fntype{}));
MSL_NVTX_CORE(MSL_ALIKE_CORE)
MSL_NVTX_DOMAINS(MSL_ALIKE_DOMAINS)
#endif

} // namespace

extern "C" [[gnu::visibility("default")]] int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t)) {
  constexpr uint32_t kCallbacks = 1;
  const auto *callbacks = export_table != nullptr ? static_cast<const Callbacks *>(export_table(kCallbacks)) : nullptr;
  if (callbacks == nullptr || callbacks->bytes < sizeof(Callbacks) || callbacks->functionsOf == nullptr)
    return 0;
  fillCore(tableOf(*callbacks, kCore));
  fillDomains(tableOf(*callbacks, kDomains));
  return 1;
}
