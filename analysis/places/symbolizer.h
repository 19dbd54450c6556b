// Finds names of functions in executables and shared libraries, from their symbol tables (libelf). Finds their source
// lines, from debug information.
#pragma once

#include "analysis/trace/code_place.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace msleaks::analysis::inline places {

class ElfFile;

// The addresses of a symbol, as in the file. If the symbol has no size, `end` equals `begin`.
struct FunctionExtent {
  std::string_view name; // linkage name
  uint64_t begin = 0, end = 0;
};

// Reads an image's symbols at the first question about the image, and keeps them.
class Symbolizer {
public:
  // `debug_folder` contains separate debug files: in .build-id by their build id, or at the path of their image.
  explicit Symbolizer(std::filesystem::path debug_folder = "/usr/lib/debug");
  ~Symbolizer();
  Symbolizer(Symbolizer &&) noexcept;
  Symbolizer &operator=(Symbolizer &&) noexcept;

  // Linkage name of the function that contains `address` (an address in the file, without load bias). Empty if no
  // symbol contains it. The view is valid while the symbolizer exists.
  std::string_view functionAt(const ImageFile &, uint64_t address);

  // The same, with the addresses of the function. The name is empty if no symbol contains `address`.
  FunctionExtent extentAt(const ImageFile &, uint64_t address);

  // The function that contains `address`. Functions that were inlined there come before it, innermost first. Empty if
  // the address is not known. References are valid while the symbolizer exists.
  const std::vector<CodePlace> &placesAt(const ImageFile &, uint64_t address);

  // Linkage name of the function that the call at `address` calls (an address within the call, as for placesAt). Empty
  // if the call uses a pointer.
  const std::string &calleeAt(const ImageFile &, uint64_t address);

  // The global variable that contains `address`, and where it is defined. Its name is as in the source, plus the offset
  // in the variable if there is one ("cache +16"). Empty if no symbol contains the address.
  const CodePlace &variableAt(const ImageFile &, uint64_t address);

  // The member of the image's type at this offset (TypeLayouts::memberAt).
  const std::string &memberAt(const ImageFile &, std::string_view type, uint64_t offset);

  // The component of PyTorch that the function at `address` runs (TorchFunctions::componentOf).
  const std::string &torchComponentAt(const ImageFile &, uint64_t address);

  // Calls f(addresses so far) after each hundred look-ups in files, because look-ups may take seconds.
  void onLookUp(std::function<void(uint64_t)> f) { on_look_up_ = std::move(f); }

  // Adds what a trace says about an image. This has priority over the file, which need not exist.
  void add(const ImageNames &);
  // Returns what the functions above have looked up in files, even if they found nothing. A later question needs only
  // this, and not the files. Functions that are no component of PyTorch have no entry.
  std::vector<ImageNames> found() const;

  // One line for each image that could not be read: it is missing, not readable, or changed since the run.
  const std::vector<std::string> &notes() const { return notes_; }

private:
  class SymbolTable;
  struct Image;
  Image &imageOf(const ImageFile &);
  const NamedAddress *told(const ImageFile &, uint64_t address) const;
  void readSymbols(SymbolTable &, const ElfFile &) const;

  std::filesystem::path debug_folder_;
  std::map<ImageFile, std::unique_ptr<Image>> images_;
  std::map<ImageFile, std::map<uint64_t, NamedAddress>> told_; // names from the trace, by address
  std::vector<std::string> notes_;
  std::function<void(uint64_t)> on_look_up_;
  uint64_t looked_up_ = 0;
};

// "_ZN2kv5Cache4growEm" -> "kv::Cache::grow(unsigned long)". A name that is not mangled stays unchanged.
std::string demangle(std::string_view linkage_name);

} // namespace msleaks::analysis::inline places
