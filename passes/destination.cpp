#include "destination.h"

#include "compat.h"
#include "find.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

constexpr unsigned kMaxDepth = 16;    // limit of the loads and GEPs between an address and its variable
constexpr unsigned kMaxFollowed = 64; // limit of the values that are derived from one result

const DIType *elementOfPointer(const DIType *type) {
  const auto *pointer = dyn_cast_if_present<DIDerivedType>(strippedType(type));
  return pointer && pointer->getTag() == dwarf::DW_TAG_pointer_type ? pointer->getBaseType() : nullptr;
}

// Returns the only value that is stored to an alloca, or null.
const Value *onlyStoredTo(const Value &address) {
  const Value *stored = nullptr;
  for (const User *user : address.users())
    if (const auto *store = dyn_cast<StoreInst>(user); store && store->getPointerOperand() == &address) {
      if (stored)
        return nullptr;
      stored = store->getValueOperand();
    }
  return stored;
}

// Whether the result of `user` points into the same block as `value`.
bool isSameBlock(const Value &value, const User &user) {
  if (isa<CastInst>(user) || isa<PHINode>(user))
    return true;
  if (const auto *select = dyn_cast<SelectInst>(&user))
    return select->getCondition() != &value;
  const auto *gep = dyn_cast<GEPOperator>(&user);
  return gep && gep->getPointerOperand() == &value && gep->hasAllConstantIndices();
}

bool isConstructor(const Function &function) {
  ItaniumPartialDemangler demangler;
  const std::string name = function.getName().str();
  return !demangler.partialDemangle(name.c_str()) && demangler.isCtorOrDtor();
}

} // namespace

DestinationFinder::DestinationFinder(Function &function) : function_(function) {
  if (const DISubprogram *subprogram = function.getSubprogram(); subprogram && subprogram->getUnit())
    spelling_ = isC(*subprogram->getUnit()) ? Spelling::C : Spelling::Cxx;
  for (const Instruction &instruction : instructions(function))
    order_[&instruction] = order_.size();
  forEachDeclaration(function, [&](const Value *address, const DILocalVariable *variable, const DIExpression *where) {
    if (!address || !variable)
      return;
    if (where->getNumElements() == 0)
      variables_[address] = variable;
    // A variable that the function returns may be in memory of the caller. Then the alloca contains a pointer to this
    // memory.
    else if (where->getNumElements() == 1 && where->getElement(0) == dwarf::DW_OP_deref)
      if (const Value *pointer = onlyStoredTo(*address))
        variables_[pointer] = variable;
  });
}

Destination DestinationFinder::find(const CallBase &call, const abi::Symbol &symbol) const {
  std::optional<Place> stored;
  const DIType *element = nullptr;
  if (symbol.result.kind == abi::ResultKind::Out) {
    if (const auto place = placeAt(operandAt(call, symbol.result.at)))
      stored = scalarAt(*place);
  } else if (symbol.result.kind == abi::ResultKind::Return || symbol.result.kind == abi::ResultKind::Handle) {
    Fate fate = fateOf(call);
    stored = std::move(fate.stored);
    if (!stored && fate.returned)
      element = returnedElement();
  }
  // A handle, such as a cl_mem, does not point to elements of the block. So the element type is not known.
  if (symbol.result.kind == abi::ResultKind::Handle)
    return {stored ? stored->name : "", ""};
  if (stored)
    element = elementOfPointer(stored->type);
  // clang attaches to the call of `operator new` the type that the new-expression creates.
  if (const auto *made = dyn_cast_if_present<DIType>(call.getMetadata("heapallocsite")))
    element = made;
  return {stored ? stored->name : "", typeName(element, spelling_)};
}

const DIType *DestinationFinder::returnedElement() const {
  const DISubprogram *subprogram = function_.getSubprogram();
  const DITypeRefArray types = subprogram && subprogram->getType() ? subprogram->getType()->getTypeArray() : nullptr;
  return types && types.size() ? elementOfPointer(types[0]) : nullptr;
}

DestinationFinder::Fate DestinationFinder::fateOf(const CallBase &call) const {
  Fate fate;
  SmallVector<const Value *> next = {&call};
  SmallPtrSet<const Value *, 16> seen;
  while (!next.empty() && seen.size() < kMaxFollowed) {
    const Value *value = next.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (const User *user : value->users())
      follow(*value, *user, fate, next);
  }
  return fate;
}

void DestinationFinder::follow(const Value &value, const Value &user, Fate &fate,
                               SmallVectorImpl<const Value *> &next) const {
  const auto remember = [&](const std::optional<Place> &place) {
    const unsigned order = order_.lookup(&user);
    if (!place || (fate.stored && fate.order < order))
      return;
    fate.stored = place;
    fate.order = order;
  };
  if (isa<ReturnInst>(user)) {
    fate.returned = true;
  } else if (isSameBlock(value, cast<User>(user))) {
    next.push_back(&user);
  } else if (const auto *call = dyn_cast<CallBase>(&user)) {
    remember(constructedBy(*call, value));
  } else if (const auto *store = dyn_cast<StoreInst>(&user); store && store->getValueOperand() == &value) {
    const Value *address = store->getPointerOperand();
    if (const auto place = placeAt(address))
      remember(scalarAt(*place));
    else if (isa<AllocaInst>(address)) // a variable without a name in the source: continue at its loads
      for (const User *reader : address->users())
        if (isa<LoadInst>(reader))
          next.push_back(reader);
  }
}

// Returns the object whose constructor gets a pointer to the block, for example `p` in `std::unique_ptr<float[]> p(new
// float[n])`.
std::optional<Place> DestinationFinder::constructedBy(const CallBase &call, const Value &argument) const {
  const Function *callee = call.getCalledFunction();
  const DISubprogram *subprogram = callee ? callee->getSubprogram() : nullptr;
  if (!subprogram || !subprogram->getType() || !isConstructor(*callee) || call.arg_size() < 2)
    return std::nullopt;
  const auto *type = dyn_cast_if_present<DIType>(subprogram->getScope());
  const DITypeRefArray types = subprogram->getType()->getTypeArray();
  for (unsigned i = 1; i < call.arg_size(); ++i) {
    // The elements of `types` are the result, `this`, and the parameters.
    if (call.getArgOperand(i) != &argument || i + 1 >= types.size() || !elementOfPointer(types[i + 1]))
      continue;
    const auto place = placeAt(call.getArgOperand(0));
    return place && type ? objectAt(*place, *type) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<Place> DestinationFinder::placeAt(const Value *address, unsigned depth) const {
  if (!address || depth > kMaxDepth)
    return std::nullopt;
  address = address->stripPointerCasts();
  if (auto declared = declaredAt(address))
    return declared;
  if (const auto *gep = dyn_cast<GEPOperator>(address))
    return placeIn(*gep, depth + 1);
  // An address that was loaded from memory is a pointer or a reference in the source.
  if (const auto *load = dyn_cast<LoadInst>(address))
    if (const auto holder = placeAt(load->getPointerOperand(), depth + 1))
      if (const auto pointer = scalarAt(*holder))
        return pointeeOf(*pointer);
  return std::nullopt;
}

std::optional<Place> DestinationFinder::placeIn(const GEPOperator &gep, unsigned depth) const {
  auto place = placeAt(gep.getPointerOperand(), depth);
  const DataLayout &layout = function_.getParent()->getDataLayout();
  for (auto step = gep_type_begin(gep), end = gep_type_end(gep); place && step != end; ++step) {
    const auto *index = dyn_cast<ConstantInt>(step.getOperand());
    if (StructType *type = step.getStructTypeOrNull())
      place->offset += layout.getStructLayout(type)->getElementOffset(index->getZExtValue());
    else if (index && !index->isNegative())
      place->offset += index->getZExtValue() * strideOf(step, layout);
    else if (index)
      return std::nullopt;
    else
      place = elementAt(*place, strideOf(step, layout));
  }
  return place;
}

std::optional<Place> DestinationFinder::declaredAt(const Value *address) const {
  if (const DILocalVariable *variable = variables_.lookup(address))
    return Place{variable->getName().str(), variable->getType()};
  const auto *global = dyn_cast<GlobalVariable>(address);
  if (!global)
    return std::nullopt;
  SmallVector<DIGlobalVariableExpression *, 1> declarations;
  global->getDebugInfo(declarations);
  for (const DIGlobalVariableExpression *declaration : declarations)
    if (declaration->getExpression()->getNumElements() == 0)
      return Place{declaration->getVariable()->getName().str(), declaration->getVariable()->getType()};
  return std::nullopt;
}

} // namespace msleaks::passes
