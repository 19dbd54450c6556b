#include "rows_file.h"

#include "msleaks/abi/symbols.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

namespace msleaks::passes {
namespace {

using abi::Position;
using abi::Symbol;
using abi::Verb;

constexpr int kMaxPosition = 63;

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

std::vector<std::string_view> words(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r\f\v";
  std::vector<std::string_view> found;
  while (true) {
    const size_t begin = line.find_first_not_of(kBlank);
    if (begin == line.npos || line[begin] == '#')
      return found;
    line.remove_prefix(begin);
    const size_t end = std::min(line.find_first_of(kBlank), line.size());
    found.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

std::optional<Position> parsePosition(std::string_view text) {
  int number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc() || end != text.data() + text.size() || number < -kMaxPosition || number > kMaxPosition)
    return std::nullopt;
  return Position(number);
}

std::optional<abi::Result> parseResult(std::string_view text) {
  if (text == "return")
    return abi::Result{abi::ResultKind::Return, {}};
  for (const auto &[word, kind] : {std::pair{std::string_view("out("), abi::ResultKind::Out},
                                   std::pair{std::string_view("handle("), abi::ResultKind::Handle},
                                   std::pair{std::string_view("at("), abi::ResultKind::At}}) {
    if (!text.starts_with(word) || !text.ends_with(')'))
      continue;
    if (const auto at = parsePosition(text.substr(word.size(), text.size() - word.size() - 1)))
      return abi::Result{kind, *at};
  }
  return std::nullopt;
}

std::optional<abi::Heap> parseHeap(std::string_view text) {
#define MSL_HEAP(name, word, physical, doc)                                                                            \
  if (text == word)                                                                                                    \
    return abi::Heap::name;
#include "msleaks/abi/heaps.def"
  return std::nullopt;
}

// A field of a row whose value is the position of an operand.
struct PositionField {
  std::string_view name;
  Position Symbol::*member;
  std::initializer_list<Verb> verbs;
};
const PositionField kPositionFields[] = {
    {"size", &Symbol::size, {Verb::Alloc, Verb::Realloc, Verb::Free}},
    {"count", &Symbol::count, {Verb::Alloc, Verb::Realloc}},
    {"address", &Symbol::address, {Verb::Realloc, Verb::Free, Verb::Retain}},
};

bool allocates(Verb verb) { return verb == Verb::Alloc || verb == Verb::Realloc; }

std::string parsePositionField(const PositionField &field, std::string_view value, Symbol &symbol) {
  if (std::find(field.verbs.begin(), field.verbs.end(), symbol.verb) == field.verbs.end())
    return "a row of kind " + quoted(nameOf(symbol.verb)) + " has no field " + quoted(field.name);
  const auto position = parsePosition(value);
  if (!position)
    return quoted(field.name) + " needs the number of a parameter (0 is the first, -1 the last), not " + quoted(value);
  symbol.*field.member = *position;
  return {};
}

std::string parseField(std::string_view field, UserRow &row) {
  const size_t equals = field.find('=');
  if (equals == field.npos)
    return "expected name=value instead of " + quoted(field);
  const std::string_view name = field.substr(0, equals), value = field.substr(equals + 1);
  for (const PositionField &known : kPositionFields)
    if (known.name == name)
      return parsePositionField(known, value, row.symbol);
  if (name == "heap") {
    const auto heap = parseHeap(value);
    row.symbol.heap = heap.value_or(row.symbol.heap);
    row.names_heap = true;
    return heap ? "" : "unknown heap " + quoted(value);
  }
  if (name == "result" && row.symbol.verb == Verb::Alloc) {
    const auto result = parseResult(value);
    row.symbol.result = result.value_or(row.symbol.result);
    return result ? "" : "result is return, out(n), handle(n) or at(n), not " + quoted(value);
  }
  if (name == "free" && allocates(row.symbol.verb)) {
    row.free = value;
    return value.empty() ? "free= needs the name of a function" : "";
  }
  return "a row of kind " + quoted(nameOf(row.symbol.verb)) + " has no field " + quoted(name);
}

std::optional<Verb> parseVerb(std::string_view word) {
  for (const Verb verb : {Verb::Alloc, Verb::Realloc, Verb::Free, Verb::Retain})
    if (word == nameOf(verb))
      return verb;
  return std::nullopt;
}

// Returns a text that asks for a field which the row lacks, or an empty text. Call this after all fields were read.
std::string missingIn(const UserRow &row) {
  const Symbol &symbol = row.symbol;
  if (allocates(symbol.verb) && !symbol.size.present())
    return "the row needs size=";
  if (allocates(symbol.verb) && row.free.empty())
    return "the row needs free=: a block that cannot be given back would always be a leak";
  if (symbol.verb != Verb::Alloc && !symbol.address.present())
    return "the row needs address=";
  return {};
}

// Parses the part of the line behind the name of the function.
std::string parseRest(const std::vector<std::string_view> &line, UserRow &row) {
  if (row.wrapper)
    return line.size() == 2 ? "" : "a row of kind 'wrapper' has no fields";
  const std::string error = parseRowFields({line.begin() + 2, line.end()}, row);
  return error.empty() ? missingIn(row) : error;
}

std::string parseLine(const std::vector<std::string_view> &line, unsigned number, UserRows &rows) {
  const auto verb = parseVerb(line[0]);
  UserRow row;
  row.line = number;
  row.wrapper = line[0] == "wrapper";
  if (!verb && !row.wrapper)
    return "a row begins with alloc, realloc, free, retain or wrapper, not with " + quoted(line[0]);
  if (line.size() < 2)
    return "the row names no function";
  if (line[1].find('=') != line[1].npos)
    return "expected the name of a function instead of " + quoted(line[1]);
  if (abi::findSymbol(line[1]))
    return quoted(line[1]) + " is already known to msleaks";
  if (verb)
    row.symbol = emptyRow(*verb);
  if (std::string error = parseRest(line, row); !error.empty())
    return error;
  const auto [known, added] = rows.emplace(line[1], row);
  return added ? "" : quoted(line[1]) + " has a row already, in line " + std::to_string(known->second.line);
}

// Returns the row of the function that frees the blocks of an allocator. Returns null if this function has no row of
// kind `free`.
const Symbol *partnerOf(const UserRow &row, const UserRows &rows) {
  const auto own = rows.find(row.free);
  const Symbol *partner = own != rows.end() ? &own->second.symbol : abi::findSymbol(row.free);
  return partner && partner->verb == Verb::Free ? partner : nullptr;
}

// A heap, and the line of the row that names it.
struct NamedHeap {
  abi::Heap heap;
  unsigned line; // 0: the heap comes from msleaks' table
};
using NamedHeaps = std::map<std::string_view, NamedHeap>; // by the name of the function that frees

std::string contradiction(const UserRow &row, const NamedHeap &named) {
  std::string text = quoted(row.free) + " gives back blocks of heap '" + nameOf(named.heap) + "'";
  if (named.line != 0)
    text += " (line " + std::to_string(named.line) + ")";
  return text + ", and this row names heap '" + nameOf(row.symbol.heap) + "'";
}

std::string collectHeaps(const UserRows &rows, NamedHeaps &heaps, std::string_view file) {
  const auto at = [&](const UserRow &row) { return std::string(file) + ":" + std::to_string(row.line) + ": "; };
  for (const auto &[name, row] : rows)
    if (row.symbol.verb == Verb::Free && row.names_heap)
      heaps[name] = {row.symbol.heap, row.line};
  for (const auto &[name, row] : rows) {
    if (row.free.empty())
      continue;
    const Symbol *partner = partnerOf(row, rows);
    if (!partner)
      return at(row) + quoted(row.free) + ", named by free=, has no row of kind 'free'";
    if (partner->family != abi::Family::User)
      heaps.try_emplace(row.free, NamedHeap{partner->heap, 0});
    if (!row.names_heap)
      continue;
    const NamedHeap &named = heaps.try_emplace(row.free, NamedHeap{row.symbol.heap, row.line}).first->second;
    if (spaceOf(named.heap) != spaceOf(row.symbol.heap))
      return at(row) + contradiction(row, named);
  }
  return {};
}

// Sets the heap of rows that do not name a heap. The analysis looks for a freed block only in the address space of the
// free. So the heaps of an allocator and of its free must have the same address space.
std::string settleHeaps(UserRows &rows, std::string_view file) {
  NamedHeaps heaps;
  if (std::string error = collectHeaps(rows, heaps, file); !error.empty())
    return error;
  for (auto &[name, row] : rows)
    if (const auto named = heaps.find(row.symbol.verb == Verb::Free ? name : row.free);
        named != heaps.end() && !row.names_heap)
      row.symbol.heap = named->second.heap;
  return {};
}

} // namespace

Symbol emptyRow(Verb verb) {
  Symbol symbol{.name = {}, .verb = verb, .family = abi::Family::User, .heap = abi::Heap::Pool};
  if (allocates(verb))
    symbol.result = {abi::ResultKind::Return, {}};
  if (verb == Verb::Realloc)
    symbol.flags = abi::kRealloc;
  return symbol;
}

std::string parseRow(std::string_view text, UserRow &row) {
  const std::vector<std::string_view> all = words(text);
  const auto verb = all.empty() ? std::nullopt : parseVerb(all[0]);
  if (!verb)
    return "not a row: " + quoted(text);
  row.symbol = emptyRow(*verb);
  return parseRowFields({all.begin() + 1, all.end()}, row);
}

std::string rowText(const Symbol &symbol) {
  std::string text = std::string(nameOf(symbol.verb)) + " heap=" + nameOf(symbol.heap);
  for (const PositionField &field : kPositionFields)
    if ((symbol.*field.member).present())
      text += " " + std::string(field.name) + "=" + std::to_string((symbol.*field.member).index());
  const std::string at = "(" + std::to_string(symbol.result.at.index()) + ")";
  if (symbol.result.kind == abi::ResultKind::Out)
    text += " result=out" + at;
  else if (symbol.result.kind == abi::ResultKind::Handle)
    text += " result=handle" + at;
  else if (symbol.result.kind == abi::ResultKind::At)
    text += " result=at" + at;
  return text;
}

std::string parseRowFields(const std::vector<std::string_view> &fields, UserRow &row) {
  for (const std::string_view field : fields)
    if (std::string error = parseField(field, row); !error.empty())
      return error;
  return {};
}

RowsResult parseRows(std::string_view text, std::string_view file) {
  RowsResult result;
  for (unsigned number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::vector<std::string_view> line = words(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty())
      continue;
    if (const std::string error = parseLine(line, number, result.rows); !error.empty())
      return {{}, std::string(file) + ":" + std::to_string(number) + ": " + error};
  }
  if (const std::string error = settleHeaps(result.rows, file); !error.empty())
    return {{}, error};
  return result;
}

} // namespace msleaks::passes
