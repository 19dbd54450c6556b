// The parts of a module for a device: its kernels, and how a thread asks where it is.
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
  // Nothing: the module is for a host, or for a device that we do not know.
  static std::optional<DeviceTarget> of(llvm::Module &module);

  bool isKernel(const llvm::Function &function) const;
  // The kernel is one of those that the module's metadata lists (LLVM 19, NVPTX): its copy is another.
  void listAs(const llvm::Function &kernel, llvm::Function &copy) const;

  // The kernel's copy asks where its threads are, which the kernel may have said it does not.
  void dropWhatItAsks(llvm::Function &copy) const;

  // Numbers of 64 bits; dimension 0 to 2.
  llvm::Value *blockNumber(llvm::IRBuilder<> &builder, unsigned dimension) const;
  llvm::Value *blockCount(llvm::IRBuilder<> &builder, unsigned dimension) const;
  llvm::Value *threadNumber(llvm::IRBuilder<> &builder, unsigned dimension) const; // in its block
  llvm::Value *threadCount(llvm::IRBuilder<> &builder, unsigned dimension) const;  // of its block

  llvm::Value *globalNumber(llvm::IRBuilder<> &builder) const; // SPIR-V: of a thread, dimension 0 of its grid

  // Until all threads of the block are here; of SPIR-V.
  void waitForBlock(llvm::IRBuilder<> &builder) const;

  // Adds to a number of 64 bits in global memory.
  void addAtomically(llvm::IRBuilder<> &builder, llvm::Value *address, llvm::Value *amount) const;

  // A constant that a program can find in the loaded module by its name; not of SPIR-V.
  void addConstant(llvm::Constant *content, const llvm::Twine &name) const;
  // The same of a variable, which the program sets; a pointer to global memory, null at first.
  llvm::GlobalVariable &addPointer(const llvm::Twine &name) const;
  // Threads that the device schedules together, where the function is compiled for it; not of SPIR-V.
  uint32_t waveOf(const llvm::Function &function) const;

  // Of functions that kernels call.
  unsigned convention() const;

  bool isSpirv() const { return kind_ == Kind::Spirv; }
  unsigned globalSpace() const { return 1; }
  unsigned sharedSpace() const { return 3; }
  // No block that a program allocates lies there: a thread's own memory, its block's, and constants that came with the
  // module. OpenCL's constants are the program's, too.
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
  // AMDGPU, from the packet: threads of the grid, and of each block but the last one of a row.
  llvm::Value *packet(llvm::IRBuilder<> &builder, unsigned bits, unsigned offset) const;
  llvm::Value *gridSize(llvm::IRBuilder<> &builder, unsigned dimension) const;
  llvm::Value *blockSize(llvm::IRBuilder<> &builder, unsigned dimension) const;
  void addHalves(llvm::IRBuilder<> &builder, llvm::Value *address, llvm::Value *amount) const;

  llvm::Module *module_;
  Kind kind_;
};

} // namespace msleaks::passes
