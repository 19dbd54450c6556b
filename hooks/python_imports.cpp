// Tells the runtime the address at which Python imports modules. So the runtime can tell the paths of imports from
// other paths (coarse_calls.h).
#include "loaded_image.h"

#include "msleaks/runtime/thread.h"

namespace {

int visitImage(dl_phdr_info *object, size_t, void *name) noexcept {
  using namespace msleaks::hooks;
  const LoadedImage image(*object);
  __msl_python_import = reinterpret_cast<uint64_t>(image.definitionOf(*static_cast<const SymbolName *>(name), nullptr));
  return __msl_python_import != 0 ? 1 : 0;
}

[[gnu::constructor]] void findPythonImport() {
  msleaks::hooks::SymbolName name("PyImport_ImportModuleLevelObject");
  ::dl_iterate_phdr(visitImage, &name);
}

} // namespace
