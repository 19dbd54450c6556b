// Every difference between the LLVM versions that we build for. No other file asks for a version.
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

// The callbacks of these places in a pipeline got a third argument in LLVM 20.
#if LLVM_VERSION_MAJOR >= 20
#define MSL_LTO_PHASE , llvm::ThinOrFullLTOPhase
#else
#define MSL_LTO_PHASE
#endif
template <typename AddPasses> void atEarlySimplification(llvm::PassBuilder &builder, AddPasses add) {
  builder.registerPipelineEarlySimplificationEPCallback(
      [add](llvm::ModulePassManager &passes, llvm::OptimizationLevel level MSL_LTO_PHASE) { add(passes, level); });
}
template <typename AddPasses> void atOptimizerEarly(llvm::PassBuilder &builder, AddPasses add) {
  builder.registerOptimizerEarlyEPCallback(
      [add](llvm::ModulePassManager &passes, llvm::OptimizationLevel level MSL_LTO_PHASE) { add(passes, level); });
}
template <typename AddPasses> void atOptimizerLast(llvm::PassBuilder &builder, AddPasses add) {
  builder.registerOptimizerLastEPCallback(
      [add](llvm::ModulePassManager &passes, llvm::OptimizationLevel level MSL_LTO_PHASE) { add(passes, level); });
}
#undef MSL_LTO_PHASE

// In LLVM 16 a back end of ThinLTO calls no plugin before it deletes calls of the user's allocators. There the link
// option is accepted, and modules are rewritten before the link.
inline constexpr bool kRewritesInLink = LLVM_VERSION_MAJOR >= 19;

// An insertion point was an instruction up to LLVM 18, and is an iterator since LLVM 19.
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

// The number of bytes from one element to the next.
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

// The target was a string up to LLVM 20.
inline llvm::Triple targetOf(const llvm::Module &module) { return llvm::Triple(module.getTargetTriple()); }

// Since LLVM 22 the version of the language may be a value of its own.
inline bool isC(const llvm::DICompileUnit &unit) {
#if LLVM_VERSION_MAJOR >= 22
  if (unit.getSourceLanguage().hasVersionedName())
    return unit.getSourceLanguage().getName() == llvm::dwarf::DW_LNAME_C;
  return llvm::dwarf::isC(static_cast<llvm::dwarf::SourceLanguage>(unit.getSourceLanguage().getName()));
#else
  return llvm::dwarf::isC(static_cast<llvm::dwarf::SourceLanguage>(unit.getSourceLanguage()));
#endif
}

// Visits one declaration of a variable, however it is spelled. Where clang tracks assignments (-O1 and above), it has
// turned declarations into assignments before the first pass of a plugin runs. The assignment that covers the whole
// variable in its alloca has the same information.
template <typename Declaration, typename Visit>
void visitDeclaration(Declaration &declaration, bool assigns, Visit visit) {
  llvm::Value *address = declaration.getAddress();
  if (!assigns)
    visit(address, declaration.getVariable(), declaration.getExpression());
  else if (llvm::isa_and_present<llvm::AllocaInst>(address) && !declaration.getExpression()->getFragmentInfo())
    visit(address, declaration.getVariable(), declaration.getAddressExpression());
}

// Calls `visit(address, variable, expression)` for each variable that the source declares in memory. Up to LLVM 18 a
// declaration is a call of an intrinsic. In LLVM 19 it may be one. Later versions hold declarations as records between
// the instructions.
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
