// Facts about a module for a device: its kernels, and the code by which a thread reads its position.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/IRBuilder.h"

#include <optional>

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace msleaks::passes {

class DeviceTarget {
public:
  // Returns nothing if the module is for a host, or for a device that we do not know.
  static std::optional<DeviceTarget> of(llvm::Module &module);

  bool isKernel(const llvm::Function &function) const;
  // The module's metadata lists its kernels (LLVM 19, NVPTX). Adds the copy to the list.
  void listAs(const llvm::Function &kernel, llvm::Function &copy) const;

  // Removes attributes that say that the kernel does not read its position: the copy does.
  void dropWhatItAsks(llvm::Function &copy) const;

  // These return numbers of 64 bits, for a dimension from 0 to 2.
  llvm::Value *blockNumber(llvm::IRBuilder<> &builder, unsigned dimension) const;
  llvm::Value *blockCount(llvm::IRBuilder<> &builder, unsigned dimension) const;
  llvm::Value *threadNumber(llvm::IRBuilder<> &builder, unsigned dimension) const; // in its block
  llvm::Value *threadCount(llvm::IRBuilder<> &builder, unsigned dimension) const;  // of its block

  llvm::Value *globalNumber(llvm::IRBuilder<> &builder) const; // SPIR-V: of a thread, dimension 0 of its grid

  // Emits a barrier for all threads of the block. For SPIR-V only.
  void waitForBlock(llvm::IRBuilder<> &builder) const;

  // Emits an atomic add to a number of 64 bits in global memory.
  void addAtomically(llvm::IRBuilder<> &builder, llvm::Value *address, llvm::Value *amount) const;

  // Makes a constant that a program finds in the loaded module by its name. Not for SPIR-V.
  void addConstant(llvm::Constant *content, const llvm::Twine &name) const;
  // Makes a variable that the program finds and sets: a pointer to global memory, null at first.
  llvm::GlobalVariable &addPointer(const llvm::Twine &name) const;
  // The number of threads that the device schedules together, as the function is compiled. Not for SPIR-V.
  uint32_t waveOf(const llvm::Function &function) const;

  // The calling convention of functions that kernels call.
  unsigned convention() const;

  bool isSpirv() const { return kind_ == Kind::Spirv; }
  unsigned globalSpace() const { return 1; }
  unsigned sharedSpace() const { return 3; }
  // Whether no block of the program can lie in the address space: memory of a thread or of its block, and constants of
  // the module. OpenCL's constants may be a block of the program.
  bool isPrivateTo(unsigned space) const {
    constexpr unsigned kConstant = 4, kThread = 5;
    return space == sharedSpace() || (isSpirv() ? space == 0 : space == kConstant || space == kThread);
  }
  unsigned constantSpace() const { return isSpirv() ? 2 : 1; }

private:
  enum class Kind : uint8_t { Spirv, Nvptx, Amdgcn };
  DeviceTarget(llvm::Module &module, Kind kind) : module_(&module), kind_(kind) {}

  void show(llvm::GlobalVariable &variable) const; // in the loaded module
  llvm::CallInst *callOf(llvm::IRBuilder<> &builder, llvm::StringRef name, llvm::Type &result, uint32_t argument,
                         llvm::function_ref<void(llvm::Function &)> describe) const;
  llvm::Value *ask(llvm::IRBuilder<> &builder, llvm::StringRef name, unsigned dimension) const;
  llvm::Value *special(llvm::IRBuilder<> &builder, llvm::StringRef name, unsigned dimension) const;
  // AMDGPU reads these from the packet: threads of the grid, and of each block but the last one of a row.
  llvm::Value *packet(llvm::IRBuilder<> &builder, unsigned bits, unsigned offset) const;
  llvm::Value *gridSize(llvm::IRBuilder<> &builder, unsigned dimension) const;
  llvm::Value *blockSize(llvm::IRBuilder<> &builder, unsigned dimension) const;
  void addHalves(llvm::IRBuilder<> &builder, llvm::Value *address, llvm::Value *amount) const;

  llvm::Module *module_;
  Kind kind_;
};

} // namespace msleaks::passes
