#include "known_symbols.h"

#include "annotations.h"
#include "pin.h"

#include "msleaks/abi/symbols.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

#include <optional>

using namespace llvm;

namespace msleaks::passes {
namespace {

using abi::Position;
using abi::ResultKind;
using abi::Symbol;
using abi::Verb;

constexpr StringRef kAnnotationPrefix = "msleaks.";

// Whether the parameter may be a block that is freed. Excludes `this` and references of C++, which clang marks as
// dereferenceable.
bool isPlainPointer(const Argument &argument) {
  return argument.getType()->isPointerTy() && argument.getDereferenceableBytes() == 0 &&
         argument.getDereferenceableOrNullBytes() == 0;
}

Position positionOf(const Argument &argument) { return Position(static_cast<int>(argument.getArgNo())); }

// Returns the parameter that is the block, if only one parameter can be the block.
std::optional<Position> onlyPointer(const Function &function) {
  std::optional<Position> found;
  for (const Argument &argument : function.args())
    if (isPlainPointer(argument)) {
      if (found)
        return std::nullopt;
      found = positionOf(argument);
    }
  return found;
}

// Returns the parameter that is the size: the first parameter as wide as size_t. If there is none, returns the first
// one as wide as int.
std::optional<Position> firstSize(const Function &function) {
  for (const unsigned bits : {64u, 32u})
    for (const Argument &argument : function.args())
      if (argument.getType()->isIntegerTy(bits))
        return positionOf(argument);
  return std::nullopt;
}

std::optional<Position> freedPointer(const Function &function) {
  for (const Argument &argument : function.args())
    if (argument.hasAttribute(Attribute::AllocatedPointer))
      return positionOf(argument);
  return std::nullopt;
}

// Copies the operand numbers of the attribute alloc_size(size, count) into the row.
bool takeAllocSize(const Function &function, Symbol &symbol) {
  const Attribute attribute = function.getFnAttribute(Attribute::AllocSize);
  if (!attribute.isValid())
    return false;
  const auto [size, count] = attribute.getAllocSizeArgs();
  symbol.size = Position(static_cast<int>(size));
  if (count)
    symbol.count = Position(static_cast<int>(*count));
  return true;
}

// Returns the row that the attributes allockind and alloc_size describe, or nothing.
std::optional<Symbol> attributedSymbol(const Function &function) {
  const Attribute kindAttribute = function.getFnAttribute(Attribute::AllocKind);
  const AllocFnKind kind = kindAttribute.isValid() ? kindAttribute.getAllocKind() : AllocFnKind::Unknown;
  const bool reallocates = (kind & AllocFnKind::Realloc) != AllocFnKind::Unknown;
  if ((kind & AllocFnKind::Free) != AllocFnKind::Unknown || reallocates) {
    const auto address = freedPointer(function);
    if (!address)
      return std::nullopt;
    Symbol symbol = emptyRow(reallocates ? Verb::Realloc : Verb::Free);
    symbol.address = *address;
    if (!reallocates)
      return symbol;
    return takeAllocSize(function, symbol) ? std::optional(symbol) : std::nullopt;
  }
  // Without allockind, the attributes do not show which function frees the block. So the function is a wrapper, and
  // only the known allocator inside it records the block.
  Symbol symbol = emptyRow(Verb::Alloc);
  if (kind == AllocFnKind::Unknown)
    symbol.verb = Verb::Wrap;
  if (!function.getReturnType()->isPointerTy() || !takeAllocSize(function, symbol))
    return std::nullopt;
  if ((kind & AllocFnKind::Zeroed) != AllocFnKind::Unknown)
    symbol.flags = abi::kZeroed;
  return symbol;
}

// Splits an annotation, without its prefix, into the words of a row: `alloc:size=1,count=0` into `alloc`, `size=1` and
// `count=0`.
SmallVector<StringRef> wordsOf(StringRef text) {
  SmallVector<StringRef> words;
  const auto [verb, fields] = text.split(':');
  words.push_back(verb);
  fields.split(words, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  return words;
}

// Completes the row of an annotation from the parameters of the annotated function. Returns a text that asks for the
// missing field, or null.
const char *completeRow(const Function &function, Symbol &symbol) {
  if (symbol.verb == Verb::Free) {
    if (!symbol.address.present())
      symbol.address = onlyPointer(function).value_or(Position());
    return symbol.address.present() ? nullptr : "which parameter is the block? say address=<number>";
  }
  if (!symbol.size.present() && !takeAllocSize(function, symbol))
    symbol.size = firstSize(function).value_or(Position());
  return symbol.size.present() ? nullptr : "which parameter is the size? say size=<number>";
}

// Returns why no call of the function can match the row, or an empty text. A function without a prototype is accepted,
// since only its calls show its parameters.
std::string misfit(const Function &function, const Symbol &symbol) {
  if (function.isVarArg())
    return {};
  const auto count = static_cast<int>(function.arg_size());
  for (const auto &[name, position] : {std::pair("size", symbol.size), std::pair("count", symbol.count),
                                       std::pair("address", symbol.address), std::pair("result", symbol.result.at)}) {
    if (!position.present())
      continue;
    const int at = position.resolve(count);
    const std::string field = std::string(name) + "=" + std::to_string(position.index());
    if (at < 0)
      return field + ": the function has " + std::to_string(count) + " parameters";
    if (!isWord(*function.getArg(static_cast<unsigned>(at))->getType()))
      return field + ": that parameter is neither a pointer nor an integer";
  }
  const Type &returned = *function.getReturnType();
  switch (symbol.result.kind) {
  case ResultKind::None:
    return {};
  case ResultKind::Out:
    return returned.isIntegerTy() ? "" : "result=out: the function returns no status";
  case ResultKind::At:
    return returned.isIntegerTy() ? "" : "result=at: the function returns no status";
  default:
    return returned.isPointerTy() ? ""
                                  : "the function returns no pointer: say result=out(<number>) if it stores the block";
  }
}

} // namespace

bool isWord(const Type &type) { return type.isPointerTy() || (type.isIntegerTy() && type.getIntegerBitWidth() <= 64); }

KnownSymbols::KnownSymbols(const Module &module, const UserRows &rows) {
  for (const Symbol &symbol : abi::kSymbols)
    table_[symbol.name] = &symbol;
  addPinned(module);
  addNamed(module, rows);
  readAnnotations(module);
  addAttributed(module);
}

const Symbol *KnownSymbols::find(const Function &callee) const {
  if (const Symbol *symbol = byFunction_.lookup(&callee))
    return symbol;
  // A static function with the name `malloc` is not the `malloc` of the table.
  if (callee.hasLocalLinkage())
    return nullptr;
  return table_.lookup(GlobalValue::dropLLVMManglingEscape(callee.getName()));
}

void KnownSymbols::add(const Function &function, const Symbol &symbol) {
  own_.push_back(symbol);
  byFunction_[&function] = &own_.back();
}

void KnownSymbols::fail(const Twine &what) {
  if (error_.empty())
    error_ = what.str();
}

// Adds the rows that pinRow stored before the optimiser ran. They cannot be computed again: the optimiser may have
// changed the attributes of the function.
void KnownSymbols::addPinned(const Module &module) {
  for (const Function &function : module)
    if (const auto symbol = pinnedRow(function))
      add(function, *symbol);
}

void KnownSymbols::addNamed(const Module &module, const UserRows &rows) {
  for (const auto &[name, row] : rows)
    if (const Function *function = module.getFunction(name); function && row.wrapper)
      wrappers_.insert(function);
    else if (function && !byFunction_.count(function)) {
      if (const std::string why = misfit(*function, row.symbol); !why.empty()) {
        if (!function->hasLocalLinkage()) // a static function may have the name of another function's row
          fail("row of " + Twine(name) + ": " + why);
        continue;
      }
      add(*function, row.symbol);
      named_.insert(function);
    }
}

void KnownSymbols::readAnnotations(const Module &module) {
  forEachAnnotation(module, [this](const Function &function, StringRef text) { addAnnotation(function, text); });
}

void KnownSymbols::addAnnotation(const Function &function, StringRef text) {
  const StringRef whole = text;
  if (!text.consume_front(kAnnotationPrefix))
    return;
  const SmallVector<StringRef> words = wordsOf(text);
  if (words.size() == 1 && words[0] == "cfg") // for graphs/count.cpp
    return;
  if (words.size() == 1 && (words[0] == "ignore" || words[0] == "wrapper")) {
    (words[0] == "ignore" ? ignored_ : wrappers_).insert(&function);
    return;
  }
  if (byFunction_.count(&function))
    return;
  const auto refuse = [&](const Twine &what) {
    fail("annotation \"" + whole + "\" of " + function.getName() + ": " + what);
  };
  if (words[0] != "alloc" && words[0] != "free")
    return refuse("known are msleaks.alloc, msleaks.free, msleaks.wrapper, msleaks.ignore and msleaks.cfg");
  UserRow row;
  row.symbol = emptyRow(words[0] == "alloc" ? Verb::Alloc : Verb::Free);
  std::vector<std::string_view> fields;
  for (const StringRef word : drop_begin(words))
    fields.emplace_back(word.data(), word.size());
  if (const std::string error = parseRowFields(fields, row); !error.empty())
    return refuse(error);
  if (!row.free.empty())
    return refuse("free= belongs into a rows file; here heap= stands on both functions");
  if (const char *missing = completeRow(function, row.symbol))
    return refuse(missing);
  if (const std::string why = misfit(function, row.symbol); !why.empty())
    return refuse(why);
  add(function, row.symbol);
  named_.insert(&function);
}

void KnownSymbols::addAttributed(const Module &module) {
  for (const Function &function : module) {
    if (function.isIntrinsic() || find(function))
      continue;
    if (const auto symbol = attributedSymbol(function))
      add(function, *symbol);
  }
}

// A stub is named `__device_stub__kernel` in C, and for example `_ZN2my22__device_stub__kernelEv` in C++. There, the
// identifier's length precedes `__device_stub__`. A function my__device_stub__x is no stub.
bool isLaunchStub(const Function &function) {
  constexpr StringRef kPrefix = "__device_stub__";
  const StringRef name = function.getName();
  const size_t at = name.find(kPrefix);
  if (at == StringRef::npos || at == 0)
    return at == 0;
  const StringRef before = name.take_front(at);
  size_t length = 0;
  return !before.substr(before.find_last_not_of("0123456789") + 1).getAsInteger(10, length) && length > kPrefix.size();
}

} // namespace msleaks::passes
