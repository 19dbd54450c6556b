#include "handed_out.h"

#include "keeping.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

constexpr unsigned kMaxFollowed = 256;
constexpr unsigned kMaxCallDepth = 3;
constexpr StringRef kReturnTheirFirst[] = {"memcpy", "memmove", "memset", "strcpy", "strncpy", "strcat", "strncat"};

// Follows a value through its uses: casts, stores, loads, returns and calls.
class Follower {
public:
  Follower(InStruct inStruct, unsigned depth = 0) : may_be_in_struct_(inStruct == InStruct::Yes), depth_(depth) {}

  void take(const Value &block) { next_.push_back(&block); }
  void takeFrom(const Value &address) { storedTo(address); }

  bool isHandedOut() {
    while (!next_.empty() && !kept_ && seen_.size() < kMaxFollowed) {
      const Value *value = next_.pop_back_val();
      if (seen_.insert(value).second)
        for (const Use &use : value->uses())
          follow(*value, use);
    }
    return returned_ && !kept_ && next_.empty();
  }

private:
  void follow(const Value &value, const Use &use) {
    const User &user = *use.getUser();
    if (isa<ReturnInst>(user))
      returned_ = true;
    else if (isa<CastInst, PHINode, SelectInst, FreezeInst, InsertValueInst, ExtractValueInst>(user))
      next_.push_back(&user);
    else if (const auto *step = dyn_cast<GetElementPtrInst>(&user); step && step->getPointerOperand() == &value)
      next_.push_back(&user);
    else if (const auto *store = dyn_cast<StoreInst>(&user); store && store->getValueOperand() == &value)
      storedTo(*store->getPointerOperand());
    else if (const auto *call = dyn_cast<CallBase>(&user); call && call->isArgOperand(&use))
      passedTo(*call, call->getArgOperandNo(&use));
  }

  void storedTo(const Value &address) {
    const Value *object = getUnderlyingObject(&address);
    const auto *local = dyn_cast<AllocaInst>(object);
    const bool whole = local && object == address.stripPointerCasts() && !local->getAllocatedType()->isAggregateType();
    if (whole)
      loadedFrom(*object);
    else if (may_be_in_struct_ && (local || isResult(*object)))
      heldIn(*object);
    else
      kept_ = true;
  }

  // Handles a variable that contains only the block's address. A function that gets the variable's address, such as
  // push_back, may store the block's address elsewhere.
  void loadedFrom(const Value &variable) {
    for (const Use &use : variable.uses()) {
      if (isa<LoadInst>(use.getUser()))
        next_.push_back(use.getUser());
      else if (const auto *call = dyn_cast<CallBase>(use.getUser()); call && call->isArgOperand(&use))
        kept_ |= mayKeep(*call, call->getArgOperandNo(&use), Given::Address);
    }
  }

  // Handles a struct that has the block in a field. Looks whether the examined function returns the struct, or copies
  // it to the memory of its result (sret). Reads of a field through a GEP are not followed.
  void heldIn(const Value &object) {
    if (isResult(object))
      returned_ = true;
    else if (seen_.insert(&object).second)
      for (const User *user : object.users()) {
        if (isa<LoadInst>(user))
          next_.push_back(user);
        else if (const auto *copy = dyn_cast<MemCpyInst>(user);
                 copy && getUnderlyingObject(copy->getSource()) == &object)
          heldIn(*getUnderlyingObject(copy->getDest()));
      }
  }

  static bool isResult(const Value &object) {
    const auto *argument = dyn_cast<Argument>(&object);
    return argument && argument->hasStructRetAttr();
  }

  // Whether the callee may store its argument in memory that outlives the call. Checked only in the outermost function:
  // keepsArgument itself examines the functions that the callee calls.
  bool mayKeep(const CallBase &call, unsigned argument, Given given) const {
    return depth_ == 0 && keepsArgument(call, argument, given);
  }

  // Handles a call that gets the block and may return it: `return strcpy(block, text)`, `return checked(block)`.
  void passedTo(const CallBase &call, unsigned argument) {
    kept_ |= mayKeep(call, argument, Given::Block);
    if (call.getType()->isPointerTy() && givesBack(call, argument))
      next_.push_back(&call);
  }

  bool givesBack(const CallBase &call, unsigned argument) const {
    if (call.paramHasAttr(argument, Attribute::Returned))
      return true;
    const Function *callee = call.getCalledFunction();
    if (!callee || argument >= callee->arg_size())
      return false;
    if (callee->isDeclaration())
      return argument == 0 && returnsItsFirstOperand(*callee);
    if (depth_ == kMaxCallDepth)
      return false;
    Follower inside(InStruct::No, depth_ + 1);
    inside.take(*callee->getArg(argument));
    return inside.isHandedOut();
  }

  bool may_be_in_struct_, returned_ = false, kept_ = false;
  unsigned depth_;
  SmallVector<const Value *, 16> next_;
  SmallPtrSet<const Value *, 16> seen_;
};

} // namespace

bool returnsItsFirstOperand(const Function &callee) { return is_contained(kReturnTheirFirst, callee.getName()); }

bool isHandedOut(const TakenBlock &block, InStruct in_struct) {
  Follower follower(in_struct);
  if (block.out)
    follower.takeFrom(*block.out);
  else
    follower.take(*block.call);
  return follower.isHandedOut();
}

} // namespace msleaks::passes
