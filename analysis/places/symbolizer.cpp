#include "analysis/places/symbolizer.h"

#include "analysis/places/call_target.h"
#include "analysis/places/debug_info.h"
#include "analysis/places/elf_file.h"
#include "analysis/places/symbol_names.h"
#include "analysis/places/torch_functions.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <fmt/format.h>
#include <optional>
#include <unordered_map>
#include <xxhash.h>

namespace msleaks::analysis::inline places {
namespace {

constexpr uint64_t kLookUpsBetweenCalls = 100;

// The addresses and the name of a function or a variable. PyTorch has millions of them, so the struct is small.
struct Function {
  uint64_t begin;
  uint32_t size; // in bytes; 0: hand-written code without a size
  uint32_t global : 1;
  uint32_t name : 31; // its place in SymbolNames

  uint64_t end() const { return begin + size; }
};
constexpr uint32_t kMostNames = uint32_t{1} << 31;

// Returns where a distribution puts the symbols that it stripped: "ab/cdef0123.debug".
std::string debugFileOf(const std::vector<std::byte> &build_id) {
  std::string name;
  for (const std::byte byte : build_id)
    name += fmt::format("{}{:02x}", name.size() == 2 ? "/" : "", static_cast<unsigned>(byte));
  return name.size() > 3 ? name + ".debug" : std::string();
}

} // namespace

enum class Symbols : uint8_t { Functions, Variables };

class Symbolizer::SymbolTable {
public:
  explicit SymbolTable(Symbols what) : what_(what) {}

  void add(const ElfFile &file) {
    forEachSection(file.handle(), [&](Elf_Scn *section, const GElf_Shdr &header) {
      if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
        readSection(file, section, header);
    });
  }

  // Call it after the last add() and before the first at().
  void sort() {
    std::sort(functions_.begin(), functions_.end(),
              [](const Function &left, const Function &right) { return left.begin < right.begin; });
  }

  std::string_view at(uint64_t address) const {
    const Function *function = holding(address);
    return function ? nameOf(*function) : std::string_view();
  }
  std::string_view nameOf(const Function &function) const { return names_.at(function.name); }

  const Function *holding(uint64_t address) const {
    const auto after = std::upper_bound(functions_.begin(), functions_.end(), address,
                                        [](uint64_t value, const Function &each) { return value < each.begin; });
    if (after == functions_.begin())
      return nullptr;
    const Function *best = &*(after - 1);
    for (auto other = after - 1; other != functions_.begin() && (other - 1)->begin == best->begin;)
      if (--other; isBetter(*other, *best))
        best = &*other;
    // A symbol without a size names only its first address: another function without a name may follow.
    return address < std::max(best->end(), best->begin + 1) ? best : nullptr;
  }

private:
  // Chooses one name of an address, always the same: the exported name, then the shorter, then the first by letters.
  bool isBetter(const Function &left, const Function &right) const {
    if (left.global != right.global)
      return left.global;
    const std::string_view a = nameOf(left), b = nameOf(right);
    if (a.empty() || b.empty())
      return b.empty() && !a.empty();
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  }

  bool isWanted(unsigned type) const {
    return what_ == Symbols::Functions ? type == STT_FUNC || type == STT_GNU_IFUNC
                                       : type == STT_OBJECT || type == STT_COMMON;
  }

  void readSection(const ElfFile &file, Elf_Scn *section, const GElf_Shdr &header) {
    Elf_Data *data = elf_getdata(section, nullptr);
    const auto names = data && header.sh_entsize != 0 ? names_.add(file, header.sh_link) : std::nullopt;
    if (!names)
      return;
    const size_t count = std::min<size_t>(data->d_size / header.sh_entsize, INT32_MAX);
    functions_.reserve(functions_.size() + count);
    for (size_t i = 0; i < count; ++i) {
      GElf_Sym symbol;
      if (!gelf_getsym(data, static_cast<int>(i), &symbol))
        return;
      const unsigned type = GELF_ST_TYPE(symbol.st_info);
      if (!isWanted(type) || symbol.st_shndx == SHN_UNDEF || symbol.st_name == 0 || symbol.st_name >= names->bytes ||
          uint64_t{names->begin} + symbol.st_name >= kMostNames)
        continue;
      functions_.push_back({.begin = symbol.st_value,
                            .size = static_cast<uint32_t>(std::min<uint64_t>(symbol.st_size, UINT32_MAX)),
                            .global = GELF_ST_BIND(symbol.st_info) != STB_LOCAL,
                            .name = static_cast<uint32_t>(names->begin + symbol.st_name) & (kMostNames - 1)});
    }
  }

  Symbols what_;
  std::vector<Function> functions_; // by begin; or variables
  SymbolNames names_;
};

// Debug information is read at the first question for a line, because an image may have gigabytes of it.
struct Symbolizer::Image {
  SymbolTable symbols{Symbols::Functions};
  std::optional<SymbolTable> variables; // read at the first question
  bool usable = false;
  std::optional<DebugInfo> debug_info;
  struct Calls {
    ElfFile file;
    CallTargets targets;
  };
  std::optional<Calls> calls;
  std::optional<TorchFunctions> torch;
  std::unordered_map<uint64_t, std::string> torch_components; // by address
  std::unordered_map<uint64_t, std::vector<CodePlace>> found; // by address
  std::unordered_map<uint64_t, std::string> callees;          // by address
};

Symbolizer::Symbolizer(std::filesystem::path debug_folder) : debug_folder_(std::move(debug_folder)) {}
Symbolizer::~Symbolizer() = default;
Symbolizer::Symbolizer(Symbolizer &&) noexcept = default;
Symbolizer &Symbolizer::operator=(Symbolizer &&) noexcept = default;

Symbolizer::Image &Symbolizer::imageOf(const ImageFile &file) {
  auto &image = images_[file];
  if (image)
    return *image;
  image = std::make_unique<Image>();
  if (file.path.empty() || file.path.front() != '/')
    return *image; // the kernel's vdso, for example, has no file
  auto elf = ElfFile::open(file.path);
  if (!elf)
    notes_.push_back(elf.error().message + "; its callers are shown as addresses");
  else if (!file.build_id.empty() && buildIdOf(elf->handle()) != file.build_id)
    notes_.push_back(fmt::format("{}: changed since the run; its callers are shown as addresses", file.path));
  else
    image->usable = true;
  if (image->usable)
    readSymbols(image->symbols, *elf);
  return *image;
}

void Symbolizer::readSymbols(SymbolTable &table, const ElfFile &file) const {
  const auto id = buildIdOf(file.handle());
  if (const std::string name = debugFileOf(id); !name.empty())
    if (auto debug = ElfFile::open(debug_folder_ / ".build-id" / name); debug && buildIdOf(debug->handle()) == id)
      table.add(*debug);
  table.add(file);
  table.sort();
}

std::string_view Symbolizer::functionAt(const ImageFile &file, uint64_t address) {
  return imageOf(file).symbols.at(address);
}

FunctionExtent Symbolizer::extentAt(const ImageFile &file, uint64_t address) {
  const SymbolTable &symbols = imageOf(file).symbols;
  const Function *function = symbols.holding(address);
  return function ? FunctionExtent{symbols.nameOf(*function), function->begin, function->end()} : FunctionExtent{};
}

const NamedAddress *Symbolizer::told(const ImageFile &file, uint64_t address) const {
  const auto names = told_.find(file);
  if (names == told_.end())
    return nullptr;
  const auto known = names->second.find(address);
  return known == names->second.end() ? nullptr : &known->second;
}

const std::string &Symbolizer::calleeAt(const ImageFile &file, uint64_t address) {
  if (const NamedAddress *known = told(file, address))
    return known->callee;
  Image &image = imageOf(file);
  const auto [known, fresh] = image.callees.try_emplace(address);
  std::string &callee = known->second;
  if (!fresh || !image.usable)
    return callee;
  if (!image.calls)
    if (auto elf = ElfFile::open(file.path)) {
      CallTargets targets = CallTargets::of(*elf);
      image.calls.emplace(Image::Calls{std::move(*elf), std::move(targets)});
    }
  if (!image.calls)
    return callee;
  const CallTargets::Target target = image.calls->targets.before(image.calls->file, address + 1);
  callee = target.imported.empty() ? image.symbols.at(target.address) : target.imported;
  return callee;
}

const std::vector<CodePlace> &Symbolizer::placesAt(const ImageFile &file, uint64_t address) {
  if (const NamedAddress *known = told(file, address))
    return known->places;
  Image &image = imageOf(file);
  const auto [known, fresh] = image.found.try_emplace(address);
  std::vector<CodePlace> &places = known->second;
  if (!fresh)
    return places;
  if (++looked_up_ % kLookUpsBetweenCalls == 0 && on_look_up_)
    on_look_up_(looked_up_);
  if (image.usable && !image.debug_info)
    image.debug_info = DebugInfo::open(file.path, debug_folder_);
  if (image.debug_info)
    places = image.debug_info->at(address);
  // The symbol of a function is its linkage name. Some compilers leave it out of the debug information.
  if (const std::string_view symbol = image.symbols.at(address); !symbol.empty()) {
    if (places.empty())
      places.emplace_back();
    if (places.size() == 1)
      places.back().function = symbol;
  }
  return places;
}

namespace {

// C compilers add a number to the symbol of a static variable in a function: "cache.1".
std::string sourceNameOf(std::string_view symbol) {
  const size_t dot = symbol.rfind('.');
  const bool numbered = dot != std::string_view::npos && dot > 0 && dot + 1 < symbol.size() &&
                        symbol.find_first_not_of("0123456789", dot + 1) == std::string_view::npos;
  return demangle(numbered ? symbol.substr(0, dot) : symbol);
}

} // namespace

const CodePlace &Symbolizer::variableAt(const ImageFile &file, uint64_t address) {
  static const CodePlace kNone;
  if (const NamedAddress *known = told(file, address))
    return known->places.empty() ? kNone : known->places.front();
  Image &image = imageOf(file);
  const auto [known, fresh] = image.found.try_emplace(address);
  std::vector<CodePlace> &places = known->second;
  if (!fresh || !image.usable)
    return places.empty() ? kNone : places.front();
  if (!image.variables) {
    image.variables.emplace(Symbols::Variables);
    if (const auto elf = ElfFile::open(file.path))
      readSymbols(*image.variables, *elf);
  }
  const Function *variable = image.variables->holding(address);
  if (!variable)
    return kNone;
  if (!image.debug_info)
    image.debug_info = DebugInfo::open(file.path, debug_folder_);
  CodePlace &place = places.emplace_back(image.debug_info->variableAt(variable->begin));
  place.function = sourceNameOf(image.variables->nameOf(*variable));
  if (address > variable->begin)
    place.function += fmt::format(" +{}", address - variable->begin);
  return place;
}

// The key of a member's name in the trace. It is no address of an image.
static uint64_t keyOf(std::string_view type, uint64_t offset) {
  return uint64_t{1} << 63 | XXH3_64bits_withSeed(type.data(), type.size(), offset);
}

const std::string &Symbolizer::memberAt(const ImageFile &file, std::string_view type, uint64_t offset) {
  static const std::string kNone;
  const uint64_t key = keyOf(type, offset);
  if (const NamedAddress *known = told(file, key))
    return known->places.empty() ? kNone : known->places.front().function;
  Image &image = imageOf(file);
  const auto [known, fresh] = image.found.try_emplace(key);
  std::vector<CodePlace> &places = known->second;
  if (fresh && image.usable) {
    if (!image.debug_info)
      image.debug_info = DebugInfo::open(file.path, debug_folder_);
    if (std::string member = image.debug_info->memberAt(type, offset); !member.empty())
      places.emplace_back().function = std::move(member);
  }
  return places.empty() ? kNone : places.front().function;
}

// The key of a component's name in the trace. It is no address of an image. The key alone says that the trace names all
// components that the run has used.
static constexpr uint64_t kTorchKey = uint64_t{1} << 62;

const std::string &Symbolizer::torchComponentAt(const ImageFile &file, uint64_t address) {
  static const std::string kNone;
  if (!TorchFunctions::areIn(file.path))
    return kNone;
  if (const NamedAddress *known = told(file, kTorchKey | address); known && !known->places.empty())
    return known->places.front().function;
  if (told(file, kTorchKey))
    return kNone;
  Image &image = imageOf(file);
  const auto [known, fresh] = image.torch_components.try_emplace(address);
  if (!fresh || !image.usable)
    return known->second;
  if (!image.torch)
    if (auto elf = ElfFile::open(file.path))
      image.torch = TorchFunctions::of(*elf);
  if (image.torch)
    known->second = image.torch->componentOf(image.symbols.at(address));
  image.found.try_emplace(kTorchKey);
  if (!known->second.empty())
    image.found[kTorchKey | address].emplace_back().function = known->second;
  return known->second;
}

void Symbolizer::add(const ImageNames &names) {
  auto &told = told_[names.image];
  for (const NamedAddress &named : names.addresses)
    told.try_emplace(named.address, named);
}

std::vector<ImageNames> Symbolizer::found() const {
  std::vector<ImageNames> all;
  for (const auto &[file, image] : images_) {
    if (!image->usable)
      continue; // its file could not be read; a later question may succeed
    ImageNames names{file, {}};
    for (const auto &[address, places] : image->found) {
      const auto callee = image->callees.find(address);
      names.addresses.push_back({address, places, callee != image->callees.end() ? callee->second : std::string()});
    }
    std::sort(names.addresses.begin(), names.addresses.end(),
              [](const auto &left, const auto &right) { return left.address < right.address; });
    if (!names.addresses.empty())
      all.push_back(std::move(names));
  }
  return all;
}

std::string demangle(std::string_view linkage_name) {
  std::string name(linkage_name);
  if (!name.starts_with("_Z"))
    return name;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(::abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text ? std::string(text.get()) : name;
}

} // namespace msleaks::analysis::inline places
