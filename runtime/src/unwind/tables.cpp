#include "unwind/tables.h"

#include "loaded_object.h"
#include "unwind/cfa_program.h"
#include "unwind/table_cursor.h"

namespace msleaks::runtime::unwind {
namespace {

constexpr uint32_t kLongForm = 0xffff'ffff; // marks a record of 64-bit DWARF, which compilers do not write

TableCursor cursorAt(const Tables &tables, uint64_t at) noexcept {
  return {at, at >= tables.begin && at <= tables.end ? tables.end : at};
}

// Returns a cursor for the bytes of a record of .eh_frame, after the length field. It is empty if the record is not in
// the tables.
TableCursor recordAt(const Tables &tables, uint64_t at) noexcept {
  TableCursor cursor = cursorAt(tables, at);
  const auto bytes = cursor.fixed<uint32_t>();
  if (cursor.failed() || bytes == kLongForm || bytes > tables.end - cursor.at())
    return {0, 0};
  return {cursor.at(), cursor.at() + bytes};
}

// Returns the address of the FDE of the last function that begins at or before `address`. If there is none, returns the
// first function's FDE. Returns 0 for any form of .eh_frame_hdr other than the form that all linkers write.
uint64_t findFde(const Tables &tables, uint64_t address) noexcept {
  TableCursor header = cursorAt(tables, tables.header);
  const uint8_t version = header.byte(), frame_encoding = header.byte(), count_encoding = header.byte(),
                table_encoding = header.byte();
  header.pointer(frame_encoding);
  const uint64_t count = header.pointer(count_encoding);
  if (header.failed() || version != 1 || table_encoding != (kToHeader | kSigned4))
    return 0;
  struct Entry {
    int32_t function, fde; // distances from the header
  };
  if (count == 0 || count > (tables.end - header.at()) / sizeof(Entry))
    return 0;
  const auto entryAt = [&](uint64_t index) {
    Entry entry;
    std::memcpy(&entry, reinterpret_cast<const void *>(header.at() + index * sizeof entry), sizeof entry);
    return entry;
  };
  uint64_t low = 0, high = count;
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    if (tables.header + static_cast<uint64_t>(int64_t{entryAt(middle).function}) <= address)
      low = middle;
    else
      high = middle;
  }
  return tables.header + static_cast<uint64_t>(int64_t{entryAt(low).fde});
}

// Reads a CIE. Returns false for an unknown form, or for another processor.
bool readCie(TableCursor cursor, Cie &cie) noexcept {
  if (cursor.fixed<uint32_t>() != 0)
    return false; // this record is an FDE
  const uint8_t version = cursor.byte();
  char letters[8] = {};
  for (unsigned i = 0; (letters[i] = static_cast<char>(cursor.byte())) != 0;)
    if (++i == sizeof letters)
      return false;
  if (version != 1 && version != 3)
    return false;
  cie.code_factor = cursor.uleb();
  cie.data_factor = cursor.sleb();
  const uint64_t return_register = version == 1 ? cursor.byte() : cursor.uleb();
  if (letters[0] == 'z')
    cursor.uleb(); // the size of the remaining augmentation data
  else if (letters[0] != 0)
    return false;
  for (const char *letter = letters + 1; letters[0] != 0 && *letter != 0; ++letter)
    switch (*letter) {
    case 'R':
      cie.encoding = cursor.byte();
      break;
    case 'P': {
      const uint8_t encoding = cursor.byte();
      cursor.pointer(encoding & ~kIndirect);
      break;
    }
    case 'L':
      cursor.byte();
      break;
    case 'S':
      cie.is_signal = true;
      break;
    case 'B': // return addresses are signed with the second key
      break;
    default:
      return false;
    }
  cie.has_augmentation = letters[0] == 'z';
  cie.program = cursor;
  return !cursor.failed() && return_register == machine::kReturnAddress;
}

} // namespace

namespace {

// Reads the records of the function that contains `address`, or of the last one before. `fde` is then behind the
// function's range. Returns false for a damaged table.
bool readFunction(const Tables &tables, uint64_t address, TableCursor &fde, Cie &cie,
                  FunctionRange &function) noexcept {
  const uint64_t at = findFde(tables, address);
  fde = at != 0 ? recordAt(tables, at) : TableCursor(0, 0);
  const uint64_t cie_field = fde.at();
  const uint64_t cie_at = cie_field - fde.fixed<uint32_t>();
  if (fde.failed() || cie_at == cie_field || !readCie(recordAt(tables, cie_at), cie))
    return false;
  function.begin = fde.pointer(cie.encoding);
  function.bytes = fde.pointer(cie.encoding & kFormat);
  return !fde.failed();
}

} // namespace

bool findTables(const LoadedObject &object, Tables &tables) noexcept {
  tables.header = object.eh_frame_header;
  for (unsigned i = 0; tables.header != 0 && i < object.header_count; ++i) {
    const ElfW(Phdr) &header = object.headers[i];
    const uint64_t begin = object.load_bias + header.p_vaddr;
    if (header.p_type != PT_LOAD || tables.header - begin >= header.p_memsz)
      continue;
    tables.begin = begin;
    tables.end = begin + header.p_memsz;
    return true;
  }
  return false;
}

FunctionRange findFunction(const Tables &tables, uint64_t address) noexcept {
  TableCursor fde(0, 0);
  Cie cie;
  FunctionRange function;
  return readFunction(tables, address, fde, cie, function) && function.holds(address) ? function : FunctionRange{};
}

Rule findRuleAfter(Run &last, const Tables &tables, uint64_t address) noexcept {
  TableCursor fde(0, 0);
  Cie cie;
  FunctionRange function;
  if (!readFunction(tables, address, fde, cie, function))
    return {};
  const uint64_t begin = function.begin;
  if (!function.holds(address))
    return {.kind = RuleKind::NoTable};
  if (cie.has_augmentation)
    fde.skip(fde.uleb());
  return fde.failed() ? Rule{} : runProgram(cie, fde, begin, address, last);
}

Rule findRule(const Tables &tables, uint64_t address) noexcept {
  Run none;
  return findRuleAfter(none, tables, address);
}

} // namespace msleaks::runtime::unwind
