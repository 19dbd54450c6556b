#include "analysis/second_run/library_file.h"

#include "analysis/places/elf_file.h"
#include "analysis/places/site_table.h"
#include "msleaks/abi/site_table.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <set>

namespace msleaks::analysis::inline second_run {
namespace {

// Names of the section of units, in this version of the object's layout and in the first version.
constexpr std::string_view kUnitsSections[] = {abi::kUnitsSection, "msl_units"};

Processor processorOf(const GElf_Ehdr &header) {
  switch (header.e_machine) {
  case EM_X86_64:
    return Processor::X86_64;
  case EM_AARCH64:
    return Processor::AArch64;
  default:
    return Processor::Other;
  }
}

bool isFunctionSlot(Processor processor, uint64_t type) {
  if (processor == Processor::X86_64)
    return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
  return processor == Processor::AArch64 && (type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT);
}

bool isFunction(const GElf_Sym &symbol) {
  const auto type = GELF_ST_TYPE(symbol.st_info);
  return type == STT_FUNC || type == STT_GNU_IFUNC;
}

class ElfReader {
public:
  ElfReader(Elf *elf, const GElf_Ehdr &header, const NameFilter &wanted)
      : elf_(elf), processor_(processorOf(header)), wanted_(wanted) {
    file_.is_32bit = gelf_getclass(elf) == ELFCLASS32;
    file_.is_program = header.e_type == ET_EXEC;
  }

  LibraryFile read() {
    readSegments();
    forEachSection(elf_, [this](Elf_Scn *section, const GElf_Shdr &header) { readSection(section, header); });
    dropUnasked();
    std::ranges::sort(file_.imports);
    file_.imports.erase(std::unique(file_.imports.begin(), file_.imports.end()), file_.imports.end());
    findCalls();
    return std::move(file_);
  }

private:
  void readSegments() {
    size_t count = 0;
    if (elf_getphdrnum(elf_, &count) != 0)
      return;
    for (size_t i = 0; i < count; ++i) {
      GElf_Phdr segment;
      if (gelf_getphdr(elf_, static_cast<int>(i), &segment) == nullptr)
        return;
      file_.has_loader |= segment.p_type == PT_INTERP;
    }
  }

  void readSection(Elf_Scn *section, const GElf_Shdr &header) {
    size_t names = 0;
    const char *name = elf_getshdrstrndx(elf_, &names) == 0 ? elf_strptr(elf_, names, header.sh_name) : nullptr;
    if (name != nullptr && std::ranges::find(kUnitsSections, name) != std::end(kUnitsSections))
      file_.is_instrumented = true;
    switch (header.sh_type) {
    case SHT_DYNAMIC:
      return readDynamic(section);
    case SHT_DYNSYM:
    case SHT_SYMTAB:
      return readSymbols(section, header);
    case SHT_RELA:
      return readSlots(section, header);
    case SHT_PROGBITS:
      if ((header.sh_flags & SHF_EXECINSTR) != 0)
        code_.push_back(section);
      return;
    default:
      return;
    }
  }

  void readDynamic(Elf_Scn *section) {
    Elf_Data *data = elf_getdata(section, nullptr);
    GElf_Dyn entry;
    for (int i = 0; data != nullptr && gelf_getdyn(data, i, &entry) != nullptr && entry.d_tag != DT_NULL; ++i) {
      if (entry.d_tag == DT_SYMBOLIC || (entry.d_tag == DT_FLAGS && (entry.d_un.d_val & DF_SYMBOLIC) != 0))
        file_.is_symbolic = true;
      if (entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_PIE) != 0)
        file_.is_program = true;
    }
  }

  // Returns the symbol's name if the name is wanted.
  std::optional<std::string> nameOf(const GElf_Sym &symbol, size_t strings) const {
    const char *name = symbol.st_name != 0 ? elf_strptr(elf_, strings, symbol.st_name) : nullptr;
    return name != nullptr && wanted_(name) ? std::optional<std::string>(name) : std::nullopt;
  }

  void readSymbols(Elf_Scn *section, const GElf_Shdr &header) {
    Elf_Data *data = elf_getdata(section, nullptr);
    const bool is_dynamic = header.sh_type == SHT_DYNSYM;
    GElf_Sym symbol;
    for (int i = 0; data != nullptr && gelf_getsym(data, i, &symbol) != nullptr; ++i) {
      const bool is_import = symbol.st_shndx == SHN_UNDEF;
      if (!isFunction(symbol) && !(is_import && is_dynamic))
        continue;
      const auto name = nameOf(symbol, header.sh_link);
      if (!name)
        continue;
      if (!is_import)
        addDefinition(*name, symbol, is_dynamic);
      else if (is_dynamic) {
        file_.imports.push_back(*name);
        if (GELF_ST_BIND(symbol.st_info) == STB_WEAK)
          weak_.insert(*name);
        if (symbol.st_value != 0)
          file_.entries[*name] = symbol.st_value;
      }
    }
  }

  // Adds a definition. The table of dynamic symbols replaces the other table, because it says more.
  void addDefinition(const std::string &name, const GElf_Sym &symbol, bool is_dynamic) {
    using Visibility = LibraryFile::Visibility;
    Visibility visibility = Visibility::Local;
    if (is_dynamic)
      visibility = GELF_ST_VISIBILITY(symbol.st_other) == STV_PROTECTED ? Visibility::Protected : Visibility::Exported;
    auto &known =
        file_.definitions.try_emplace(name, LibraryFile::Definition{symbol.st_value, visibility}).first->second;
    if (is_dynamic)
      known = {symbol.st_value, visibility};
  }

  void readSlots(Elf_Scn *section, const GElf_Shdr &header) {
    Elf_Scn *symbols = elf_getscn(elf_, header.sh_link);
    GElf_Shdr symbols_header;
    if (symbols == nullptr || gelf_getshdr(symbols, &symbols_header) == nullptr || symbols_header.sh_type != SHT_DYNSYM)
      return;
    Elf_Data *data = elf_getdata(section, nullptr), *table = elf_getdata(symbols, nullptr);
    GElf_Rela entry;
    for (int i = 0; data != nullptr && table != nullptr && gelf_getrela(data, i, &entry) != nullptr; ++i) {
      GElf_Sym symbol;
      if (!isFunctionSlot(processor_, GELF_R_TYPE(entry.r_info)) ||
          gelf_getsym(table, static_cast<int>(GELF_R_SYM(entry.r_info)), &symbol) == nullptr)
        continue;
      if (auto name = nameOf(symbol, symbols_header.sh_link))
        file_.slots.push_back({std::move(*name), entry.r_offset});
    }
  }

  // Drops weak functions without a slot. The code only compares them with null, or they are one entry of a table. Most
  // often no library has them.
  void dropUnasked() {
    for (const LibraryFile::Slot &slot : file_.slots)
      weak_.erase(slot.symbol);
    std::erase_if(file_.imports, [this](const std::string &name) { return weak_.contains(name); });
  }

  void findCalls() {
    std::set<uint64_t> targets;
    for (const auto &[name, definition] : file_.definitions)
      targets.insert(definition.address);
    if (targets.empty())
      return;
    for (Elf_Scn *section : code_) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr)
        continue;
      const std::set<uint64_t> called = calledDirectly(processor_, bytesOf(section), header.sh_addr, targets);
      for (auto &[name, definition] : file_.definitions)
        definition.is_called |= called.contains(definition.address);
    }
  }

  Elf *elf_;
  Processor processor_;
  const NameFilter &wanted_;
  LibraryFile file_;
  std::vector<Elf_Scn *> code_;
  std::set<std::string> weak_; // weak imports
};

std::vector<std::string> producersOf(const std::filesystem::path &path) {
  std::vector<std::string> producers;
  const auto objects = readSiteSections(path);
  if (!objects)
    return producers;
  for (const ObjectSites &object : *objects)
    for (const SiteTable &table : object.tables)
      if (std::ranges::find(producers, table.producer()) == producers.end())
        producers.emplace_back(table.producer());
  std::ranges::sort(producers);
  return producers;
}

} // namespace

Result<LibraryFile> readLibraryFile(const std::filesystem::path &path, const NameFilter &wanted) {
  const auto file = MSL_TRY(ElfFile::open(path));
  GElf_Ehdr header;
  if (file.isArchive() || gelf_getehdr(file.handle(), &header) == nullptr)
    return fail(fmt::format("{}: is not a program or a shared library", path.string()));
  LibraryFile library = ElfReader(file.handle(), header, wanted).read();
  if (library.is_instrumented)
    library.producers = producersOf(path);
  return library;
}

Producer parseProducer(std::string_view text) {
  constexpr std::string_view kPass = "MemPass ", kLlvm = " LLVM ";
  const size_t llvm = text.find(kLlvm);
  if (!text.starts_with(kPass) || llvm == std::string_view::npos)
    return {};
  return {std::string(text.substr(kPass.size(), llvm - kPass.size())), std::string(text.substr(llvm + kLlvm.size()))};
}

namespace {

// Finds call and jmp with an offset of 32 bits from the end of the instruction.
void findX86(std::span<const std::byte> code, uint64_t address, const std::set<uint64_t> &targets,
             std::set<uint64_t> &found) {
  constexpr std::byte kCall{0xe8}, kJump{0xe9};
  constexpr size_t kBytes = 5;
  for (size_t at = 0; at + kBytes <= code.size(); ++at) {
    if (code[at] != kCall && code[at] != kJump)
      continue;
    int32_t offset = 0;
    std::memcpy(&offset, &code[at + 1], sizeof offset);
    const uint64_t target = address + at + kBytes + static_cast<uint64_t>(int64_t{offset});
    if (targets.contains(target))
      found.insert(target);
  }
}

// Finds b and bl, which have a number of words in their low 26 bits.
void findAArch64(std::span<const std::byte> code, uint64_t address, const std::set<uint64_t> &targets,
                 std::set<uint64_t> &found) {
  constexpr uint32_t kMask = 0x7c000000, kBranch = 0x14000000;
  constexpr unsigned kUnused = 32 - 26, kWordShift = 2;
  for (size_t at = 0; at + sizeof(uint32_t) <= code.size(); at += sizeof(uint32_t)) {
    uint32_t instruction = 0;
    std::memcpy(&instruction, &code[at], sizeof instruction);
    if ((instruction & kMask) != kBranch)
      continue;
    const int64_t words = static_cast<int32_t>(instruction << kUnused) >> kUnused;
    const uint64_t target = address + at + (static_cast<uint64_t>(words) << kWordShift);
    if (targets.contains(target))
      found.insert(target);
  }
}

} // namespace

std::set<uint64_t> calledDirectly(Processor processor, std::span<const std::byte> code, uint64_t address,
                                  const std::set<uint64_t> &targets) {
  std::set<uint64_t> found;
  if (processor == Processor::X86_64)
    findX86(code, address, targets, found);
  else if (processor == Processor::AArch64)
    findAArch64(code, address, targets, found);
  return found;
}

} // namespace msleaks::analysis::inline second_run
