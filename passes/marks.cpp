#include "marks.h"

#include "find.h"
#include "metadata.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include <map>

using namespace llvm;

namespace msleaks::passes {
namespace {

constexpr char kMarkKind[] = "msleaks";
constexpr char kMarkTable[] = "msleaks.marks";
constexpr char kIgnoredTable[] = "msleaks.ignored";
constexpr char kLeftAlone[] = "msleaks-left-alone";

enum MarkOperand : unsigned { kVariable, kType, kOrdinal, kFunction, kFile, kLine, kColumn, kGroup, kMarkOperands };

// Returns the group of a call. The optimiser may replace a call only by a call of the same group, for example malloc by
// calloc. A free must be in another group than an allocation. In `new T(…)`, both have the same place: if the
// constructor throws, the block is freed.
uint32_t groupOf(abi::Verb verb) {
  switch (verb) {
  case abi::Verb::Realloc:
  case abi::Verb::Wrap:
  case abi::Verb::Map:
    return static_cast<uint32_t>(abi::Verb::Alloc);
  default:
    return static_cast<uint32_t>(verb);
  }
}

MDNode *nodeOf(LLVMContext &context, const Mark &mark, uint32_t group) {
  const SourcePlace &place = mark.place;
  Metadata *operands[kMarkOperands] = {MDString::get(context, mark.variable), MDString::get(context, mark.type),
                                       number(context, mark.ordinal),         MDString::get(context, place.function),
                                       MDString::get(context, place.file),    number(context, place.line),
                                       number(context, place.column),         number(context, group)};
  return MDNode::get(context, operands);
}

Mark readMark(const MDNode &node) {
  return {textAt(node, kVariable), textAt(node, kType), numberAt(node, kOrdinal), placeAt(node, kFunction)};
}

// Clears in `mark` the facts that differ in `other`.
void intersect(Mark &mark, const Mark &other) {
  if (mark.variable != other.variable)
    mark.variable.clear();
  if (mark.type != other.type)
    mark.type.clear();
  if (mark.ordinal != other.ordinal)
    mark.ordinal = 0;
}

// Returns the coroutine's name if the function is a part of a coroutine. Otherwise returns the name unchanged.
StringRef withoutPart(StringRef function) {
  for (const StringRef part : {".resume", ".destroy", ".cleanup"})
    if (function.consume_back(part))
      break;
  return function;
}

std::string functionKey(const SourcePlace &place) { return withoutPart(place.function).str() + '\0' + place.file; }

std::string placeKey(const SourcePlace &place, uint32_t group) {
  return functionKey(place) + '\0' + std::to_string(place.line) + ':' + std::to_string(place.column) + ':' +
         std::to_string(group);
}

class MarkTable {
public:
  explicit MarkTable(const Module &module) {
    if (const NamedMDNode *table = module.getNamedMetadata(kMarkTable))
      for (const MDNode *node : table->operands())
        add(readMark(*node), numberAt(*node, kGroup));
    if (const NamedMDNode *table = module.getNamedMetadata(kIgnoredTable))
      for (const MDNode *node : table->operands())
        ignored_.insert(functionKey({textAt(*node, 0), textAt(*node, 1)}));
  }

  const Mark *find(const SourcePlace &place, uint32_t group) const {
    const auto known = marks_.find(placeKey(place, group));
    return known == marks_.end() ? nullptr : &known->second;
  }
  bool ignores(const SourcePlace &function) const { return ignored_.contains(functionKey(function)); }

private:
  void add(const Mark &mark, uint32_t group) {
    const auto [known, added] = marks_.try_emplace(placeKey(mark.place, group), mark);
    if (!added)
      intersect(known->second, mark);
  }

  StringMap<Mark> marks_;
  StringSet<> ignored_;
};

void restore(CallBase &call, const abi::Symbol &symbol, const MarkTable &table) {
  const DILocation *location = call.getDebugLoc().get();
  if (!location || call.hasMetadata(kMarkKind))
    return;
  if (const DISubprogram *function = location->getScope()->getSubprogram();
      function && table.ignores(placeOf(*function)))
    return leaveAlone(call);
  const uint32_t group = groupOf(symbol.verb);
  if (const Mark *mark = table.find(placeOf(*location), group))
    call.setMetadata(kMarkKind, nodeOf(call.getContext(), *mark, group));
}

// Makes marks for the places of merged calls. If the optimiser merges two calls, the merged call has the common part of
// their locations: the line, or only the function. A line or function with an unmarked call gets no mark: the merged
// calls may have been inlined from the callee of the unmarked call.
class MergedPlaces {
public:
  explicit MergedPlaces(const Function &function) {
    for (const Instruction &instruction : instructions(function))
      if (const auto *call = dyn_cast<CallBase>(&instruction); call && !isa<IntrinsicInst>(call))
        if (const DILocation *location = call->getDebugLoc().get()) {
          ++calls_in_line_[location->getLine()];
          ++calls_;
        }
  }

  void add(const Mark &mark, uint32_t group) {
    ++marked_in_line_[mark.place.line];
    ++marked_;
    SourcePlace merged = mark.place;
    merged.column = 0;
    join(mark, merged, group);
    merged.line = 0;
    join(mark, merged, group);
  }

  void addTo(NamedMDNode &table, LLVMContext &context) const {
    for (const auto &[key, place] : places_) {
      const uint32_t line = place.mark.place.line;
      const bool only_marked = line ? marked_in_line_.at(line) == calls_in_line_.at(line) : marked_ == calls_;
      const bool says_something = !place.mark.variable.empty() || !place.mark.type.empty();
      if (place.calls > 1 && only_marked && says_something)
        table.addOperand(nodeOf(context, place.mark, place.group));
    }
  }

private:
  struct Merged {
    Mark mark;
    uint32_t group;
    unsigned calls = 1;
  };
  void join(const Mark &mark, const SourcePlace &place, uint32_t group) {
    const auto [known, added] = places_.try_emplace(placeKey(place, group), Merged{mark, group});
    Merged &merged = known->second;
    if (added) {
      merged.mark.place = place;
      return;
    }
    intersect(merged.mark, mark);
    ++merged.calls;
  }

  std::map<std::string, Merged> places_; // sorted, so that each build writes the same order
  std::map<uint32_t, unsigned> calls_in_line_, marked_in_line_;
  unsigned calls_ = 0, marked_ = 0;
};

} // namespace

void attachMarks(Function &function, ArrayRef<MarkedCall> calls) {
  LLVMContext &context = function.getContext();
  NamedMDNode &table = *function.getParent()->getOrInsertNamedMetadata(kMarkTable);
  MergedPlaces merged(function);
  for (const MarkedCall &marked : calls) {
    const uint32_t group = groupOf(marked.verb);
    MDNode *node = nodeOf(context, marked.mark, group);
    marked.call->setMetadata(kMarkKind, node);
    if (!marked.mark.place.line)
      continue;
    table.addOperand(node);
    merged.add(marked.mark, group);
  }
  merged.addTo(table, context);
}

std::optional<Mark> markOf(const CallBase &call) {
  const MDNode *node = call.getMetadata(kMarkKind);
  if (!node || node->getNumOperands() != kMarkOperands)
    return std::nullopt;
  return readMark(*node);
}

void leaveAlone(CallBase &call) { call.addFnAttr(Attribute::get(call.getContext(), kLeftAlone)); }
bool isLeftAlone(const CallBase &call) { return call.getAttributes().hasFnAttr(kLeftAlone); }

void ignoreFunction(Function &function, ArrayRef<CallBase *> calls) {
  for (CallBase *call : calls)
    leaveAlone(*call);
  const DISubprogram *subprogram = function.getSubprogram();
  if (calls.empty() || !subprogram)
    return;
  LLVMContext &context = function.getContext();
  const SourcePlace place = placeOf(*subprogram);
  Metadata *operands[] = {MDString::get(context, place.function), MDString::get(context, place.file)};
  function.getParent()->getOrInsertNamedMetadata(kIgnoredTable)->addOperand(MDNode::get(context, operands));
}

void restoreMarks(Module &module, const KnownSymbols &symbols) {
  const MarkTable table(module);
  forEachEligible(module, symbols, [&](Function &function) {
    for (const FoundCall &found : findCalls(function, symbols))
      restore(*found.call, *found.symbol, table);
  });
}

void dropMarks(Module &module) {
  for (const char *name : {kMarkTable, kIgnoredTable})
    if (NamedMDNode *table = module.getNamedMetadata(name))
      module.eraseNamedMetadata(table);
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      if (isa<CallBase>(instruction))
        instruction.setMetadata(kMarkKind, nullptr);
}

} // namespace msleaks::passes
