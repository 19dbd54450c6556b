#include "keeping.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"

#include <optional>
#include <tuple>
#include <utility>

using namespace llvm;

namespace msleaks::passes {
namespace {

constexpr unsigned kMostCalls = 16;    // limit of nested calls; an insertion into a container of libstdc++ needs ten
constexpr unsigned kMostVisits = 4096; // limit of the values that one search visits
constexpr unsigned kMostSteps = 16;    // limit of the steps from a pointer to its object

// The memory that a pointer points to: the function's own frame, memory of a parameter, or any other memory.
struct Root {
  enum Kind { Local, Parameter, Elsewhere } kind = Elsewhere;
  unsigned parameter = 0;
  bool operator==(const Root &other) const { return kind == other.kind && parameter == other.parameter; }
};

const Function *bodyOf(const CallBase &call) {
  const Function *callee = call.getCalledFunction();
  return callee && !callee->isDeclaration() ? callee : nullptr;
}

Root rootOf(const Value &pointer, unsigned steps);

// Returns the root of the pointers that are stored in a variable. If their roots differ, the root is Elsewhere.
Root rootOfStored(const AllocaInst &variable, unsigned steps) {
  std::optional<Root> found;
  for (const User *user : variable.users()) {
    const auto *store = dyn_cast<StoreInst>(user);
    if (!store || store->getPointerOperand() != &variable)
      continue;
    const Root root = rootOf(*store->getValueOperand(), steps);
    if (found && !(*found == root))
      return {};
    found = root;
  }
  return found.value_or(Root{});
}

// Returns the root of a call's result. The result may point into memory of an argument, as in `std::forward(x)`,
// `operator new(n, where)` or `this->begin()`.
Root rootOfResult(const CallBase &call, unsigned steps) {
  if (const Value *same = call.getReturnedArgOperand())
    return rootOf(*same, steps);
  const Function *callee = bodyOf(call);
  std::optional<unsigned> parameter;
  for (const Instruction &instruction : instructions(callee ? *callee : *call.getFunction())) {
    const auto *done = dyn_cast<ReturnInst>(&instruction);
    if (!callee || !done)
      continue;
    const Root root = done->getReturnValue() ? rootOf(*done->getReturnValue(), steps) : Root{};
    if (root.kind != Root::Parameter || (parameter && *parameter != root.parameter))
      return {};
    parameter = root.parameter;
  }
  return parameter && *parameter < call.arg_size() ? rootOf(*call.getArgOperand(*parameter), steps) : Root{};
}

// Returns the root of a pointer. If the pointer was loaded from memory of an argument, the argument is its root.
Root rootOf(const Value &pointer, unsigned steps) {
  const Value *at = &pointer;
  for (bool loaded = false; steps > 0; --steps) {
    at = getUnderlyingObject(at);
    if (const auto *parameter = dyn_cast<Argument>(at))
      return {Root::Parameter, parameter->getArgNo()};
    if (const auto *variable = dyn_cast<AllocaInst>(at)) {
      const bool is_pointer = loaded && variable->getAllocatedType()->isPointerTy();
      return is_pointer ? rootOfStored(*variable, steps - 1) : Root{Root::Local};
    }
    if (const auto *call = dyn_cast<CallBase>(at))
      return rootOfResult(*call, steps - 1);
    const auto *load = dyn_cast<LoadInst>(at);
    if (!load)
      break;
    loaded = true;
    at = load->getPointerOperand();
  }
  return {};
}

// The memory in which a function stores the block that it gets as an argument.
struct Kept {
  SmallBitVector behind; // by parameter: whether the block is stored in memory with this parameter as root
  bool elsewhere = false;
};

class Keeping {
public:
  bool keeps(const CallBase &call, unsigned argument, Given given) {
    const Function *callee = bodyOf(call);
    if (!callee || argument >= callee->arg_size())
      return false;
    return anyOutside(call, inFunction(*callee, argument, given, 0));
  }

private:
  using Question = std::tuple<const Function *, unsigned, unsigned>;
  using GivenValue = std::pair<const Value *, Given>;

  // Whether some of this memory is outside of the calling function's frame.
  static bool anyOutside(const CallBase &call, const Kept &kept) {
    if (kept.elsewhere)
      return true;
    for (const unsigned parameter : kept.behind.set_bits())
      if (rootOf(*call.getArgOperand(parameter), kMostSteps).kind != Root::Local)
        return true;
    return false;
  }

  Kept inFunction(const Function &function, unsigned argument, Given given, unsigned depth) {
    Kept kept;
    kept.behind.resize(static_cast<unsigned>(function.arg_size()));
    const Question question{&function, argument, static_cast<unsigned>(given)};
    if (depth == kMostCalls)
      return kept;
    if (const auto known = answers_.find(question); known != answers_.end())
      return known->second;
    answers_[question] = kept; // ends the search in functions that call themselves
    SmallVector<GivenValue, 16> next{{function.getArg(argument), given}};
    SmallPtrSet<const Value *, 16> seen;
    while (!next.empty() && visits_++ < kMostVisits) {
      const auto [value, is] = next.pop_back_val();
      if (seen.insert(value).second)
        for (const Use &use : value->uses())
          follow({value, is}, use, next, kept, depth);
    }
    kept.behind.reset(argument); // the block may contain its own address
    return answers_[question] = kept;
  }

  void follow(const GivenValue &given, const Use &use, SmallVectorImpl<GivenValue> &next, Kept &kept, unsigned depth) {
    const auto &[value, is] = given;
    const User &user = *use.getUser();
    if (const auto *store = dyn_cast<StoreInst>(&user)) {
      if (store->getValueOperand() == value)
        stored(*store->getPointerOperand(), is, next, kept);
    } else if (const auto *load = dyn_cast<LoadInst>(&user)) {
      if (is == Given::Address && load->getType()->isPointerTy())
        next.push_back({load, Given::Block});
    } else if (isa<CastInst, PHINode, SelectInst, FreezeInst>(user)) {
      next.push_back({&user, is});
    } else if (isa<GetElementPtrInst>(user)) {
      if (is == Given::Block)
        next.push_back({&user, is});
    } else if (isa<AtomicRMWInst, AtomicCmpXchgInst>(user)) {
      kept.elsewhere |= is == Given::Block && use.getOperandNo() != 0;
    } else if (const auto *call = dyn_cast<CallBase>(&user); call && call->isArgOperand(&use)) {
      passed(*call, call->getArgOperandNo(&use), is, next, kept, depth);
    }
  }

  // Handles a store. For a local variable, adds the loads of the variable to `next`. Records any other memory in
  // `kept`.
  static void stored(const Value &address, Given is, SmallVectorImpl<GivenValue> &next, Kept &kept) {
    if (const auto *variable = dyn_cast<AllocaInst>(address.stripPointerCasts())) {
      for (const User *reader : variable->users())
        if (isa<LoadInst>(reader))
          next.push_back({reader, is});
      if (is == Given::Block)
        next.push_back({variable, Given::Address});
      return;
    }
    if (is == Given::Address) // the address becomes invalid when the function returns
      return;
    const Root root = rootOf(address, kMostSteps);
    if (root.kind == Root::Elsewhere)
      kept.elsewhere = true;
    else if (root.kind == Root::Parameter)
      kept.behind.set(root.parameter);
  }

  void passed(const CallBase &call, unsigned argument, Given is, SmallVectorImpl<GivenValue> &next, Kept &kept,
              unsigned depth) {
    const Function *callee = bodyOf(call);
    if (call.getType()->isPointerTy() && givesBack(call, argument))
      next.push_back({&call, is});
    if (!callee || argument >= callee->arg_size())
      return;
    const Kept inside = inFunction(*callee, argument, is, depth + 1);
    kept.elsewhere |= inside.elsewhere;
    for (const unsigned parameter : inside.behind.set_bits()) {
      const Root root = rootOf(*call.getArgOperand(parameter), kMostSteps);
      if (root.kind == Root::Parameter)
        kept.behind.set(root.parameter);
      else if (root.kind == Root::Elsewhere)
        kept.elsewhere = true;
    }
  }

  static bool givesBack(const CallBase &call, unsigned argument) {
    if (call.paramHasAttr(argument, Attribute::Returned))
      return true;
    const Function *callee = bodyOf(call);
    if (!callee)
      return false;
    for (const Instruction &instruction : instructions(*callee))
      if (const auto *done = dyn_cast<ReturnInst>(&instruction); done && done->getReturnValue()) {
        const Root root = rootOf(*done->getReturnValue(), kMostSteps);
        if (root.kind == Root::Parameter && root.parameter == argument)
          return true;
      }
    return false;
  }

  DenseMap<Question, Kept> answers_;
  unsigned visits_ = 0;
};

} // namespace

bool keepsArgument(const CallBase &call, unsigned argument, Given given) {
  return Keeping().keeps(call, argument, given);
}

} // namespace msleaks::passes
