// Names of functions in executables and shared libraries, from their symbol tables (libelf), and the lines of their
// source, from their debug information.
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

// What a symbol covers, in addresses as in the file; `end` is `begin` of one that states no size.
struct FunctionExtent {
  std::string_view name; // linkage name
  uint64_t begin = 0, end = 0;
};

// Reads an image's symbols when its first name is asked for, and keeps them.
class Symbolizer {
public:
  // `debug_folder`: where separate debug files lie, in .build-id by build id, or at the path of their image.
  explicit Symbolizer(std::filesystem::path debug_folder = "/usr/lib/debug");
  ~Symbolizer();
  Symbolizer(Symbolizer &&) noexcept;
  Symbolizer &operator=(Symbolizer &&) noexcept;

  // Linkage name of the function that holds `address` (as in the file, without load bias); empty when no symbol says
  // so. The view lives as long as the symbolizer.
  std::string_view functionAt(const ImageFile &, uint64_t address);

  // The same, and how far it reaches; no name when no symbol says so.
  FunctionExtent extentAt(const ImageFile &, uint64_t address);

  // The function that holds `address`, preceded by those that were inlined there, innermost first; empty when neither
  // debug information nor a symbol says so. The references live as long as the symbolizer.
  const std::vector<CodePlace> &placesAt(const ImageFile &, uint64_t address);

  // Linkage name of the function that the call at `address` calls (an address within it, as for placesAt); empty when
  // it calls through a pointer.
  const std::string &calleeAt(const ImageFile &, uint64_t address);

  // The global variable that holds `address`, and where it is defined. Its name is as the source spells it, with the
  // offset in it if there is one ("cache +16"); empty when no symbol says so.
  const CodePlace &variableAt(const ImageFile &, uint64_t address);

  // The member of the image's type at this offset (TypeLayouts::memberAt).
  const std::string &memberAt(const ImageFile &, std::string_view type, uint64_t offset);

  // Calls f(addresses so far) each time that some more were looked up in files: that may take seconds.
  void onLookUp(std::function<void(uint64_t)> f) { on_look_up_ = std::move(f); }

  // What a trace says of an image: it is believed before the file, which need not be there then.
  void add(const ImageNames &);
  // What placesAt, variableAt, memberAt and calleeAt found in files, and that they found nothing: who asks again need
  // not open the files.
  std::vector<ImageNames> found() const;

  // Images that could not be asked, one line each: gone, changed since the run, not readable.
  const std::vector<std::string> &notes() const { return notes_; }

private:
  class SymbolTable;
  struct Image;
  Image &imageOf(const ImageFile &);
  const NamedAddress *told(const ImageFile &, uint64_t address) const;
  void readSymbols(SymbolTable &, const ElfFile &) const;

  std::filesystem::path debug_folder_;
  std::map<ImageFile, std::unique_ptr<Image>> images_;
  std::map<ImageFile, std::map<uint64_t, NamedAddress>> told_; // by address
  std::vector<std::string> notes_;
  std::function<void(uint64_t)> on_look_up_;
  uint64_t looked_up_ = 0;
};

// As the source spells it: "kv::Cache::grow(unsigned long)"; a name that is not mangled stays as it is.
std::string demangle(std::string_view linkage_name);

} // namespace msleaks::analysis::inline places
