#include "graphs/argument_uses.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

#include <optional>

using namespace llvm;

namespace msleaks::passes {
namespace {

constexpr uint8_t kBoth = abi::kReads | abi::kWrites;
constexpr unsigned kAddressBits = 64;
constexpr size_t kMostCalls = 16;                // limit of nested calls
constexpr int64_t kMostBytes = int64_t{1} << 31; // limit of a known range; a larger range counts as not known

// A range of bytes, as distances from an address.
struct Bytes {
  int64_t begin = 0, end = 0;
};
using Range = std::optional<Bytes>;

Range operator+(const Range &left, const Range &right) {
  if (!left || !right)
    return std::nullopt;
  return Bytes{left->begin + right->begin, left->end + right->end};
}

// The uses of the memory of one argument (reads, writes), and the range of this memory that is used.
struct Found {
  uint8_t uses = 0;
  Range range;

  void add(uint8_t how, const Range &where) {
    if (how == 0)
      return;
    if (uses == 0)
      range = where;
    else if (range && where)
      range = Bytes{std::min(range->begin, where->begin), std::max(range->end, where->end)};
    else
      range = std::nullopt;
    uses |= how;
  }
};

// Follows a kernel's argument to all its uses. An argument that cannot be followed counts as read and written.
class Follow {
public:
  Follow(FunctionAnalysisManager &analyses, Found &found) : analyses_(analyses), found_(found) {}

  // Follows an argument of the kernel, or of a function that it calls. `at` is the distance from the address in the
  // kernel's argument to the address in this argument. std::nullopt: the distance is not known.
  void argument(Argument &argument, const Range &at) {
    if (calls_.size() == kMostCalls || is_contained(calls_, &argument))
      return found_.add(kBoth, std::nullopt);
    calls_.push_back(&argument);
    SmallVector<Value *> open{&argument};
    SmallPtrSet<Value *, 16> known{&argument};
    while (!open.empty())
      for (Use &use : open.pop_back_val()->uses())
        if (Value *derived = follow(use, argument, at); derived && known.insert(derived).second)
          open.push_back(derived);
    calls_.pop_back();
  }

private:
  // Records the use. Returns the user if it computes a further address from the argument, otherwise null.
  Value *follow(Use &use, Argument &of, const Range &at) {
    auto *user = dyn_cast<Instruction>(use.getUser());
    if (!user)
      return escape();
    const auto access = [&](uint8_t how, Type *type) -> Value * {
      const DataLayout &layout = of.getParent()->getParent()->getDataLayout();
      found_.add(how, bytesAt(*use, of, at, layout.getTypeStoreSize(type).getKnownMinValue()));
      return nullptr;
    };
    if (isa<GetElementPtrInst, CastInst, FreezeInst, PHINode, SelectInst>(user))
      return user->getType()->isPtrOrPtrVectorTy() ? user : escape();
    if (isa<ICmpInst>(user))
      return nullptr;
    if (isa<LoadInst>(user))
      return access(abi::kReads, user->getType());
    if (auto *store = dyn_cast<StoreInst>(user); store && store->getPointerOperand() == use.get())
      return store->getValueOperand() != use.get() ? access(abi::kWrites, store->getValueOperand()->getType())
                                                   : escape();
    if (auto *atomic = dyn_cast<AtomicRMWInst>(user); atomic && &use == &atomic->getOperandUse(0))
      return access(kBoth, user->getType());
    if (auto *atomic = dyn_cast<AtomicCmpXchgInst>(user); atomic && &use == &atomic->getOperandUse(0))
      return access(kBoth, atomic->getNewValOperand()->getType());
    if (auto *call = dyn_cast<CallBase>(user)) {
      follow(*call, use, of, at);
      return nullptr;
    }
    return escape();
  }

  void follow(CallBase &call, Use &use, Argument &of, const Range &at) {
    if (const auto *intrinsic = dyn_cast<IntrinsicInst>(&call); intrinsic && intrinsic->isAssumeLikeIntrinsic())
      return;
    if (!call.isArgOperand(&use)) {
      escape();
      return;
    }
    const unsigned number = call.getArgOperandNo(&use);
    if (const auto *memory = dyn_cast<AnyMemIntrinsic>(&call)) {
      const auto *length = dyn_cast<ConstantInt>(memory->getLength());
      const Range bytes = length ? bytesAt(*use, of, at, length->getZExtValue()) : std::nullopt;
      return found_.add(number == 0 ? abi::kWrites : abi::kReads, bytes);
    }
    Function *callee = call.getCalledFunction();
    if (callee && callee->hasExactDefinition() && number < callee->arg_size())
      return argument(*callee->getArg(number), bytesAt(*use, of, at, 0));
    const bool is_read = call.onlyReadsMemory() || call.onlyReadsMemory(number);
    const bool is_written = call.onlyWritesMemory() || call.onlyWritesMemory(number);
    // The call may return the address, also as an integer.
    const bool comes_back = call.getType()->isPtrOrPtrVectorTy() || call.getType()->isIntOrIntVectorTy(kAddressBits);
    if (!call.doesNotCapture(number) && (comes_back || !call.onlyReadsMemory()))
      escape();
    else
      found_.add((is_written ? 0 : abi::kReads) | (is_read ? 0 : abi::kWrites), std::nullopt);
  }

  Value *escape() {
    found_.add(kBoth, std::nullopt);
    return nullptr;
  }

  // Returns a range that contains the `size` bytes at the address, in each iteration of a loop and in each thread.
  Range bytesAt(Value &address, Argument &of, const Range &at, uint64_t size) {
    ScalarEvolution &evolution = analyses_.getResult<ScalarEvolutionAnalysis>(*of.getParent());
    if (!at || !evolution.isSCEVable(address.getType()) || size >= static_cast<uint64_t>(kMostBytes))
      return std::nullopt;
    const SCEV *whole = evolution.getSCEV(&address);
    const auto *base = dyn_cast<SCEVUnknown>(evolution.getPointerBase(whole));
    if (!base || base->getValue()->stripPointerCasts() != &of)
      return std::nullopt;
    const ConstantRange offsets = evolution.getSignedRange(evolution.removePointerBase(whole));
    if (offsets.getBitWidth() > 64 || offsets.isEmptySet())
      return std::nullopt;
    const int64_t least = offsets.getSignedMin().getSExtValue(), most = offsets.getSignedMax().getSExtValue();
    if (least <= -kMostBytes || most >= kMostBytes)
      return std::nullopt;
    return at + Range(Bytes{least, most + static_cast<int64_t>(size)});
  }

  FunctionAnalysisManager &analyses_;
  Found &found_;
  SmallVector<Argument *> calls_;
};

// Looks for uses of memory that no argument points to. The address of this memory was loaded, or made from a number.
// Global variables of the module do not count.
class Others {
public:
  explicit Others(const DeviceTarget &target) : target_(target) {}

  bool areUsedBy(Function &function) {
    if (!known_.insert(&function).second)
      return false;
    return any_of(instructions(function), [&](Instruction &instruction) { return areUsedBy(instruction); });
  }

private:
  bool areUsedBy(Instruction &instruction) {
    if (auto *call = dyn_cast<CallBase>(&instruction))
      return areUsedBy(*call);
    const Value *address = getLoadStorePointerOperand(&instruction);
    if (const auto *atomic = dyn_cast<AtomicRMWInst>(&instruction))
      address = atomic->getPointerOperand();
    else if (const auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
      address = exchange->getPointerOperand();
    return address && isOther(*address);
  }

  bool areUsedBy(CallBase &call) {
    if (const auto *intrinsic = dyn_cast<IntrinsicInst>(&call); intrinsic && intrinsic->isAssumeLikeIntrinsic())
      return false;
    if (isTexture(call))
      return true;
    if (call.doesNotAccessMemory())
      return false;
    if (any_of(call.args(), [&](Value *given) { return given->getType()->isPtrOrPtrVectorTy() && isOther(*given); }))
      return true;
    Function *callee = call.getCalledFunction();
    if (!callee) // an indirect call or assembler code may use any memory
      return true;
    if (callee->isDeclaration()) // OpenCL's functions use only memory of their arguments
      return !callee->isIntrinsic() && !target_.isSpirv() && !call.onlyAccessesArgMemory();
    return areUsedBy(*callee);
  }

  // Whether the call uses a texture, a surface, an image or a buffer resource. Such an object is not selected by an
  // address. LLVM claims that some of these calls use no memory.
  static bool isTexture(const CallBase &call) {
    const Function *callee = call.getCalledFunction();
    const StringRef name = callee ? callee->getName() : StringRef();
    return any_of(ArrayRef<StringRef>{"llvm.nvvm.tex.", "llvm.nvvm.tld4.", "llvm.nvvm.suld.", "llvm.nvvm.sust.",
                                      "llvm.amdgcn.image.", "llvm.amdgcn.raw.", "llvm.amdgcn.struct."},
                  [&](StringRef beginning) { return name.starts_with(beginning); });
  }

  // Whether the address may point to memory that no argument of the kernel points to. An argument that is a vector of
  // addresses counts as such memory, since Follow does not support it.
  bool isOther(const Value &address) const {
    if (target_.isPrivateTo(address.getType()->getPointerAddressSpace()))
      return false;
    // If a vector of addresses was computed from one address, the search begins at that address: LLVM 19 cannot search
    // from a vector.
    const auto *places = dyn_cast<GEPOperator>(&address);
    const bool has_one_base = places && places->getPointerOperandType()->isPointerTy();
    SmallVector<const Value *> objects;
    getUnderlyingObjects(has_one_base ? places->getPointerOperand() : &address, objects);
    return any_of(objects, [](const Value *object) {
      return isa<Argument>(object) ? !object->getType()->isPointerTy()
                                   : !isa<AllocaInst, GlobalVariable, Function, ConstantData>(object);
    });
  }

  const DeviceTarget &target_;
  SmallPtrSet<Function *, 8> known_;
};

// Returns the uses of an image or a pipe, from the kernel's metadata: !kernel_arg_access_qual !{!"read_only", …}
uint8_t usesOfHandle(const Argument &argument) {
  const MDNode *words = argument.getParent()->getMetadata("kernel_arg_access_qual");
  const auto *word = words && argument.getArgNo() < words->getNumOperands()
                         ? dyn_cast_or_null<MDString>(words->getOperand(argument.getArgNo()).get())
                         : nullptr;
  if (!word || word->getString() == "none")
    return 0;
  const StringRef text = word->getString();
  if (text == "read_only")
    return abi::kIsAddress | abi::kReads;
  return text == "write_only" ? abi::kIsAddress | abi::kWrites : abi::kIsAddress | kBoth;
}

abi::GraphArgument rowOf(Argument &argument, uint32_t offset, const DeviceTarget &target,
                         FunctionAnalysisManager &analyses) {
  abi::GraphArgument row{};
  row.offset = offset;
  Type *type = argument.getType();
  if (isa<TargetExtType>(type)) {
    row.uses = usesOfHandle(argument);
    return row;
  }
  if (!type->isPointerTy() || argument.hasPointeeInMemoryValueAttr() ||
      target.isPrivateTo(type->getPointerAddressSpace()))
    return row;
  Found found;
  Follow(analyses, found).argument(argument, Bytes{});
  row.uses = static_cast<uint8_t>(abi::kIsAddress | found.uses);
  if (found.range) {
    row.begin = found.range->begin;
    row.end = found.range->end;
  }
  return row;
}

const char *textOf(uint8_t uses) {
  switch (uses & kBoth) {
  case 0:
    return "not used";
  case abi::kReads:
    return "read";
  case abi::kWrites:
    return "written";
  default:
    return "read and written";
  }
}

} // namespace

SmallVector<uint32_t> argumentOffsets(const Function &kernel) {
  const DataLayout &layout = kernel.getParent()->getDataLayout();
  SmallVector<uint32_t> offsets;
  uint64_t end = 0;
  for (const Argument &argument : kernel.args()) {
    // A struct that the IR passes by its address is itself stored among the arguments.
    Type *by_value = argument.getParamByValType() ? argument.getParamByValType() : argument.getParamByRefType();
    Type *type = by_value ? by_value : argument.getType();
    const Align natural = layout.getABITypeAlign(type);
    end = alignTo(end, by_value ? argument.getParamAlign().value_or(natural) : natural);
    offsets.push_back(static_cast<uint32_t>(end));
    end += layout.getTypeAllocSize(type);
  }
  offsets.push_back(static_cast<uint32_t>(end));
  return offsets;
}

KernelUses usesOf(Function &kernel, const DeviceTarget &target, FunctionAnalysisManager &analyses) {
  KernelUses uses;
  const SmallVector<uint32_t> offsets = argumentOffsets(kernel);
  for (Argument &argument : kernel.args())
    uses.arguments.push_back(rowOf(argument, offsets[argument.getArgNo()], target, analyses));
  uses.others = Others(target).areUsedBy(kernel);
  return uses;
}

void sayUses(const Function &kernel, const KernelUses &uses) {
  OptimizationRemarkEmitter emitter(&kernel);
  const auto say = [&](const auto &text) {
    emitter.emit([&] {
      OptimizationRemarkAnalysis remark("msleaks", "KernelArgument", DiagnosticLocation(kernel.getSubprogram()),
                                        &kernel.front());
      text(remark << "kernel " << ore::NV("Kernel", kernel.getName()));
      return remark;
    });
  };
  for (const auto &[argument, row] : zip_equal(kernel.args(), uses.arguments))
    if ((row.uses & abi::kIsAddress) != 0)
      say([&](auto &remark) {
        remark << ", argument " << ore::NV("Number", argument.getArgNo()) << ": "
               << ore::NV("Uses", StringRef(textOf(row.uses)));
        if (row.begin != row.end)
          remark << ", bytes " << ore::NV("Begin", row.begin) << " to " << ore::NV("End", row.end);
      });
  if (uses.others)
    say([](auto &remark) { remark << " may use memory to which none of its arguments points"; });
}

} // namespace msleaks::passes
