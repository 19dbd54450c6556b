#include "late_python.h"

#include "calls.h"

#include "../unwind/moved_part.h"

#include "msleaks/runtime/note.h"

#include <atomic>

namespace msleaks::runtime::python {
namespace {

using Search = void(dl_phdr_info &) noexcept;
constinit std::atomic<Search *> search{nullptr}; // null: Python was found at the begin of the process
constinit std::atomic<bool> is_found{false};

// Other threads may read the calls of Python meanwhile. So the layout becomes valid last.
void publish(const PythonSymbols &symbols) noexcept {
  Layout layout = layoutOf(symbols);
  const uint32_t minor = layout.minor;
  layout.minor = 0;
  python = {symbols, layout, unwind::movedPartOf(symbols.evaluate), false, false};
  __atomic_store_n(&python.layout.minor, minor, __ATOMIC_RELEASE);
}

} // namespace

void searchIn(const ImagePlace &place) noexcept {
  Search *const look = search.load(std::memory_order_relaxed);
  if (look == nullptr || is_found.load(std::memory_order_relaxed) || place.headers == nullptr)
    return;
  dl_phdr_info image{};
  image.dlpi_addr = place.definition.load_bias;
  image.dlpi_name = place.name;
  image.dlpi_phdr = place.headers;
  image.dlpi_phnum = static_cast<ElfW(Half)>(place.header_count);
  look(image);
}

void forgetIn(const Image &image) noexcept {
  const uint64_t evaluate = python.symbols.evaluate;
  if (evaluate == 0 || evaluate - image.begin >= image.end - image.begin)
    return;
  __atomic_store_n(&python.layout.minor, 0, __ATOMIC_RELEASE);
  is_found.store(false, std::memory_order_relaxed);
}

} // namespace msleaks::runtime::python

using namespace msleaks::runtime::python;

void __msl_python_found(const msleaks::runtime::PythonSymbols &symbols) noexcept {
  if (is_found.exchange(true, std::memory_order_relaxed))
    return; // another thread has found the same Python at the same time
  publish(symbols);
  if (!isKnown())
    __msl_note("paths contain no calls of Python code: msleaks does not know how this Python stores its calls");
}

void __msl_python_search(void (*function)(dl_phdr_info &image) noexcept) noexcept {
  search.store(function, std::memory_order_relaxed);
}
