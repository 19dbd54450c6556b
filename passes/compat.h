// Contains every difference between the LLVM versions that we build for. No other file tests the version.
#pragma once

#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/xxhash.h"
#include "llvm/TargetParser/Triple.h"
#if __has_include("llvm/IR/AttributeMask.h")
#include "llvm/IR/AttributeMask.h"
#endif
#if LLVM_VERSION_MAJOR >= 19
#include "llvm/IR/DebugProgramInstruction.h"
#endif
#if __has_include("llvm/Plugins/PassPlugin.h")
#include "llvm/Plugins/PassPlugin.h"
#else
#include "llvm/Passes/PassPlugin.h"
#endif

namespace msleaks::passes {

// Since LLVM 20, the callbacks of the three extension points below have one more argument.
#if LLVM_VERSION_MAJOR >= 20
#define MSL_LTO_PHASE , llvm::ThinOrFullLTOPhase
#else
#define MSL_LTO_PHASE
#endif
template <typename AddPasses> void atEarlySimplification(llvm::PassBuilder &builder, const AddPasses &add) {
  builder.registerPipelineEarlySimplificationEPCallback(
      [add](llvm::ModulePassManager &passes, llvm::OptimizationLevel level MSL_LTO_PHASE) { add(passes, level); });
}
template <typename AddPasses> void atOptimizerEarly(llvm::PassBuilder &builder, const AddPasses &add) {
  builder.registerOptimizerEarlyEPCallback(
      [add](llvm::ModulePassManager &passes, llvm::OptimizationLevel level MSL_LTO_PHASE) { add(passes, level); });
}
template <typename AddPasses> void atOptimizerLast(llvm::PassBuilder &builder, const AddPasses &add) {
  builder.registerOptimizerLastEPCallback(
      [add](llvm::ModulePassManager &passes, llvm::OptimizationLevel level MSL_LTO_PHASE) { add(passes, level); });
}
#undef MSL_LTO_PHASE

// Whether the option `link` has an effect (link.h). In old versions, a back end of ThinLTO deletes calls of the user's
// allocators before it calls a plugin.
inline constexpr bool kRewritesInLink = LLVM_VERSION_MAJOR >= 19;

// Returns the insertion point before an instruction: up to LLVM 18 the instruction, since LLVM 19 an iterator.
inline auto before(llvm::Instruction &instruction) {
#if LLVM_VERSION_MAJOR >= 19
  return instruction.getIterator();
#else
  return &instruction;
#endif
}

inline llvm::Instruction &firstBehindPhis(llvm::BasicBlock &block) {
#if LLVM_VERSION_MAJOR >= 19
  return *block.getFirstNonPHIIt();
#else
  return *block.getFirstNonPHI();
#endif
}

inline llvm::MDNode *unlikelyBranchWeights(llvm::LLVMContext &context) {
#if LLVM_VERSION_MAJOR >= 18
  return llvm::MDBuilder(context).createUnlikelyBranchWeights();
#else
  return llvm::MDBuilder(context).createBranchWeights(1, (1u << 20) - 1);
#endif
}

inline uint64_t entryFrequencyOf(const llvm::BlockFrequencyInfo &frequencies) {
#if LLVM_VERSION_MAJOR >= 18
  return frequencies.getEntryFreq().getFrequency();
#else
  return frequencies.getEntryFreq();
#endif
}

// Returns the stride of a GEP index: the number of bytes from one element to the next.
template <typename Step> uint64_t strideOf(const Step &step, const llvm::DataLayout &layout) {
#if LLVM_VERSION_MAJOR >= 18
  return step.getSequentialElementStride(layout);
#else
  return layout.getTypeAllocSize(step.getIndexedType());
#endif
}

inline uint64_t hashOf(llvm::StringRef text) {
#if LLVM_VERSION_MAJOR >= 17
  return llvm::xxh3_64bits(text);
#else
  return llvm::xxHash64(text);
#endif
}

// Returns the module's target. Up to LLVM 20, getTargetTriple returns a string, later a Triple.
inline llvm::Triple targetOf(const llvm::Module &module) { return llvm::Triple(module.getTargetTriple()); }

// Whether the unit is written in C. Since LLVM 22, a unit may store its language and the language's version as separate
// values.
inline bool isC(const llvm::DICompileUnit &unit) {
#if LLVM_VERSION_MAJOR >= 22
  if (unit.getSourceLanguage().hasVersionedName())
    return unit.getSourceLanguage().getName() == llvm::dwarf::DW_LNAME_C;
  return llvm::dwarf::isC(static_cast<llvm::dwarf::SourceLanguage>(unit.getSourceLanguage().getName()));
#else
  return llvm::dwarf::isC(static_cast<llvm::dwarf::SourceLanguage>(unit.getSourceLanguage()));
#endif
}

// Visits one declaration of a variable. From -O1 on, clang replaces declarations by assignments before the first pass
// of a plugin runs. The assignment of the whole variable contains the same information as the declaration.
template <typename Declaration, typename Visit>
void visitDeclaration(Declaration &declaration, bool assigns, Visit visit) {
  llvm::Value *address = declaration.getAddress();
  if (!assigns)
    visit(address, declaration.getVariable(), declaration.getExpression());
  else if (llvm::isa_and_present<llvm::AllocaInst>(address) && !declaration.getExpression()->getFragmentInfo())
    visit(address, declaration.getVariable(), declaration.getAddressExpression());
}

// Calls `visit(address, variable, expression)` for each variable that the source declares in memory. In LLVM up to 19,
// a declaration may be a call of an intrinsic. From LLVM 19 on, it may be a record between the instructions.
template <typename Visit> void forEachDeclaration(llvm::Function &function, Visit visit) {
  for (llvm::Instruction &instruction : llvm::instructions(function)) {
    if (auto *assign = llvm::dyn_cast<llvm::DbgAssignIntrinsic>(&instruction))
      visitDeclaration(*assign, /*assigns=*/true, visit);
    else if (auto *declare = llvm::dyn_cast<llvm::DbgDeclareInst>(&instruction))
      visit(declare->getAddress(), declare->getVariable(), declare->getExpression());
#if LLVM_VERSION_MAJOR >= 19
    for (llvm::DbgVariableRecord &record : llvm::filterDbgVars(instruction.getDbgRecordRange()))
      if (record.isDbgAssign() || record.isDbgDeclare())
        visitDeclaration(record, record.isDbgAssign(), visit);
#endif
  }
}

} // namespace msleaks::passes
