#include "wrappers.h"

#include "find.h"
#include "handed_out.h"
#include "metadata.h"

#include "msleaks/abi/handle_calls.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

#include <optional>

using namespace llvm;

namespace msleaks::passes {
namespace {

constexpr char kTable[] = "msleaks.wrappers";

bool takesMemory(const FoundCall &found) {
  using abi::Verb;
  const Verb verb = found.symbol->verb;
  return (verb == Verb::Alloc || verb == Verb::Realloc || verb == Verb::Wrap) &&
         (found.symbol->result.kind == abi::ResultKind::Return || found.symbol->result.kind == abi::ResultKind::Out);
}

TakenBlock blockOf(const FoundCall &found) {
  const bool stored = found.symbol->result.kind == abi::ResultKind::Out;
  return {found.call, stored ? operandAt(*found.call, found.symbol->result.at) : nullptr};
}

// These functions of libc return a block that the caller must free, as allocators do. Only a hook records the block.
// A function that returns the block to its caller is a wrapper.
struct LibcFunction {
  StringRef name;
  bool stores; // stores the block's address in the variable that its first argument points to
};
constexpr LibcFunction kLibcFunctions[] = {
    {"strdup", false},         {"__strdup", false},      {"strndup", false},        {"__strndup", false},
    {"wcsdup", false},         {"realpath", false},      {"__realpath_chk", false}, {"canonicalize_file_name", false},
    {"getcwd", false},         {"fopen", false},         {"fopen64", false},        {"fdopen", false},
    {"popen", false},          {"tmpfile", false},       {"tmpfile64", false},      {"fmemopen", false},
    {"open_memstream", false}, {"opendir", false},       {"fdopendir", false},      {"asprintf", true},
    {"vasprintf", true},       {"__asprintf_chk", true}, {"__vasprintf_chk", true}, {"getline", true},
    {"__getdelim", true},      {"getdelim", true}};

std::optional<TakenBlock> blockOfLibc(const CallBase &call) {
  const Function *callee = call.getCalledFunction();
  if (!callee || !callee->isDeclaration() || callee->isIntrinsic())
    return std::nullopt;
  const auto *known = llvm::find_if(kLibcFunctions, [&](const auto &row) { return row.name == callee->getName(); });
  if (known == std::end(kLibcFunctions) || (known->stores && call.arg_size() == 0))
    return std::nullopt;
  return TakenBlock{&call, known->stores ? call.getArgOperand(0) : nullptr};
}

// Whether the call returns a file descriptor. A function that only returns a descriptor to its caller is a wrapper, as
// for blocks.
bool returnsDescriptor(const CallBase &call) {
  const Function *callee = call.getCalledFunction();
  if (!callee || !callee->isDeclaration() || !callee->getReturnType()->isIntegerTy())
    return false;
  const abi::HandleCalls rows = abi::handleCallsOf(callee->getName());
  return rows.returnsHandle() && llvm::any_of(ArrayRef(rows.calls, rows.count), [](const abi::HandleCall &row) {
           return row.kind == abi::HandleKind::Descriptor && row.result == abi::HandleResult::Return;
         });
}

// Returns the block of a call of a wrapper. If the wrapper returns a struct that is too large for registers, the
// wrapper writes the struct to memory of the caller.
TakenBlock blockOf(const CallBase &call) { return {&call, call.hasStructRetAttr() ? call.getArgOperand(0) : nullptr}; }

bool returnsStruct(const Function &function) {
  return function.hasStructRetAttr() || function.getReturnType()->isStructTy();
}

// Finds the wrappers of a module: first the functions that return an allocator's block, then those that return another
// wrapper's block. Then finds the functions with forwards (wrappers.h).
class Finder {
public:
  Finder(Module &module, const KnownSymbols &symbols) : eligibility_(module, symbols), symbols_(symbols) {
    for (Function &function : module) {
      if (symbols_.isWrapper(function)) // even if another module defines the function
        wrappers_.insert(&function);
      if (!eligibility_.obstacle(function))
        visit(function);
    }
    for (size_t next = 0; next < wrappers_.size(); ++next) // visitCallersOf appends to the vector
      visitCallersOf(*wrappers_[next], wrappers_);
    for (Function &function : module)
      if (!eligibility_.obstacle(function) && !symbols_.isWrapper(function))
        visitCallsOfOthers(function);
    for (size_t next = 0; next < forwarders_.size(); ++next)
      visitCallersOf(*forwarders_[next], forwarders_);
  }

  WrapperCalls take() { return std::move(calls_); }

private:
  void visit(Function &function) {
    if (symbols_.isWrapper(function))
      return calls_.add(placeOf(function));
    if (function.getReturnType()->isIntegerTy())
      return visitDescriptorsIn(function);
    const bool pointer = function.getReturnType()->isPointerTy();
    if (!pointer && !returnsStruct(function))
      return;
    const SmallVector<TakenBlock> taken = blocksTakenIn(function);
    if (!taken.empty())
      takes_memory_.insert(&function);
    // A function that returns several blocks in a struct is no wrapper. The report then names the line of each
    // allocation, which distinguishes the blocks.
    if (!pointer && taken.size() != 1)
      return;
    for (const TakenBlock &block : taken)
      visit(block, wrappers_);
  }

  void visitDescriptorsIn(Function &function) {
    for (const Instruction &instruction : instructions(function))
      if (const auto *call = dyn_cast<CallBase>(&instruction); call && returnsDescriptor(*call))
        visit({call}, wrappers_);
  }

  // Whether the function may return the result of another function. A function that returns a struct, and also
  // allocates a block itself, is excluded: the struct might contain several blocks.
  bool mayHandOutResults(const Function &function) const {
    return function.getReturnType()->isPointerTy() || (returnsStruct(function) && !takes_memory_.contains(&function));
  }

  void visitCallsOfOthers(Function &function) {
    if (!mayHandOutResults(function))
      return;
    for (const Instruction &instruction : instructions(function))
      if (const auto *call = dyn_cast<CallBase>(&instruction); call && mayForward(*call))
        visit(blockOf(*call), forwarders_);
  }

  // Whether the callee is a function of another module that may allocate a block. If it returns a reference, or writes
  // no memory, it allocates none. Functions of the namespace std do not count.
  bool mayForward(const CallBase &call) const {
    const Function *callee = call.getCalledFunction();
    const bool is_struct = call.getType()->isStructTy() || call.hasStructRetAttr();
    if (!callee || !callee->isDeclaration() || callee->isIntrinsic() || symbols_.find(*callee) || blockOfLibc(call) ||
        returnsItsFirstOperand(*callee) || !(call.getType()->isPointerTy() || is_struct))
      return false;
    const StringRef name = callee->getName();
    return !name.starts_with("_ZNSt") && !name.starts_with("_ZNKSt") && !name.starts_with("_ZSt") &&
           call.getRetDereferenceableBytes() == 0 && !call.onlyReadsMemory();
  }

  SmallVector<TakenBlock> blocksTakenIn(Function &function) const {
    SmallVector<TakenBlock> taken;
    for (const FoundCall &found : findCalls(function, symbols_))
      if (takesMemory(found))
        taken.push_back(blockOf(found));
    for (const Instruction &instruction : instructions(function))
      if (const auto *call = dyn_cast<CallBase>(&instruction))
        if (const auto block = blockOfLibc(*call))
          taken.push_back(*block);
    return taken;
  }

  void visitCallersOf(const Function &wrapper, SetVector<const Function *> &kind) {
    for (const User *user : wrapper.users()) {
      const auto *call = dyn_cast<CallBase>(user);
      if (!call || call->getCalledFunction() != &wrapper || eligibility_.obstacle(*call->getFunction()))
        continue;
      const bool is_descriptor = wrapper.getReturnType()->isIntegerTy();
      if (is_descriptor ? call->getFunction()->getReturnType()->isIntegerTy() : mayHandOutResults(*call->getFunction()))
        visit(blockOf(*call), kind);
    }
  }

  // Adds the function that contains the call to `kind` (wrappers or forwarders), if it allocates the block only for its
  // caller.
  void visit(const TakenBlock &block, SetVector<const Function *> &kind) {
    const Function &function = *block.call->getFunction();
    if (symbols_.isWrapper(function) || !isHandedOut(block, returnsStruct(function) ? InStruct::Yes : InStruct::No))
      return;
    kind.insert(&function);
    if (&kind == &wrappers_)
      calls_.add(placeOf(*block.call));
    else
      calls_.addForward(placeOf(*block.call));
  }

  const Eligibility eligibility_;
  const KnownSymbols &symbols_;
  SetVector<const Function *> wrappers_, forwarders_;
  SmallPtrSet<const Function *, 16> takes_memory_;
  WrapperCalls calls_;
};

} // namespace

bool WrapperCalls::contains(const SourcePlace &place) const {
  return places_.contains(place) || forwards_.contains(place) ||
         places_.contains(SourcePlace{place.function, place.file, 0, 0});
}

void WrapperCalls::add(SourcePlace place) {
  if (!isOfSystem(place))
    places_.insert(std::move(place));
}

void WrapperCalls::addForward(SourcePlace place) {
  if (!isOfSystem(place) && !contains(place))
    forwards_.insert(std::move(place));
}

WrapperCalls findWrapperCalls(Module &module, const KnownSymbols &symbols) { return Finder(module, symbols).take(); }

void keepWrapperCalls(Module &module, const WrapperCalls &calls) {
  if (calls.empty())
    return;
  LLVMContext &context = module.getContext();
  NamedMDNode *table = module.getOrInsertNamedMetadata(kTable);
  for (const auto *places : {&calls.places(), &calls.forwards()})
    for (const SourcePlace &place : *places)
      table->addOperand(
          MDNode::get(context, {MDString::get(context, place.function), MDString::get(context, place.file),
                                number(context, place.line), number(context, place.column),
                                number(context, places == &calls.forwards())}));
}

WrapperCalls keptWrapperCalls(const Module &module) {
  WrapperCalls calls;
  if (const NamedMDNode *table = module.getNamedMetadata(kTable))
    for (const MDNode *node : table->operands()) {
      if (numberAt(*node, 4) != 0)
        calls.addForward(placeAt(*node, 0));
      else
        calls.add(placeAt(*node, 0));
    }
  return calls;
}

void dropWrapperCalls(Module &module) {
  if (NamedMDNode *table = module.getNamedMetadata(kTable))
    module.eraseNamedMetadata(table);
}

} // namespace msleaks::passes
