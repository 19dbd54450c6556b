// Describes the target of a module that is compiled for a device. Finds its kernels, and emits the code with which a
// thread reads its number and the number of its thread block.
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
  // Returns the target of the module, or nothing if the module is for a host or for a device that is not supported.
  static std::optional<DeviceTarget> of(llvm::Module &module);

  bool isKernel(const llvm::Function &function) const;
  // In the metadata of an NVPTX module, adds a copy of each row of the kernel, for the copied function. Up to LLVM 19,
  // such a row makes a function a kernel.
  void listAs(const llvm::Function &kernel, llvm::Function &copy) const;

  // Removes the attributes which promise that the kernel does not read the numbers of its threads and blocks. The copy
  // reads them.
  void dropWhatItAsks(llvm::Function &copy) const;

  // Each of the next functions emits code that computes a 64-bit number. `dimension` is 0, 1 or 2.
  llvm::Value *blockNumber(llvm::IRBuilder<> &builder, unsigned dimension) const;
  llvm::Value *blockCount(llvm::IRBuilder<> &builder, unsigned dimension) const;
  llvm::Value *threadNumber(llvm::IRBuilder<> &builder, unsigned dimension) const; // number of the thread in its block
  llvm::Value *threadCount(llvm::IRBuilder<> &builder, unsigned dimension) const;  // number of threads in the block

  llvm::Value *globalNumber(llvm::IRBuilder<> &builder) const; // thread's number in its grid, dimension 0, for SPIR-V

  // Emits a barrier for all threads of the block. For SPIR-V only.
  void waitForBlock(llvm::IRBuilder<> &builder) const;

  // Emits an atomic addition to a 64-bit number in global memory. For SPIR-V, adds to both halves separately.
  void addAtomically(llvm::IRBuilder<> &builder, llvm::Value *address, llvm::Value *amount) const;

  // Makes a constant that the program finds by its name in the loaded module. Not for SPIR-V.
  void addConstant(llvm::Constant *content, const llvm::Twine &name) const;
  // Makes a variable that is a pointer to global memory, at first null. The program finds it by its name and sets it.
  llvm::GlobalVariable &addPointer(const llvm::Twine &name) const;
  // Returns the number of threads in a wave: the threads that the device schedules together. Not for SPIR-V.
  uint32_t waveOf(const llvm::Function &function) const;

  // Returns the calling convention of functions that kernels call.
  unsigned convention() const;

  bool isSpirv() const { return kind_ == Kind::Spirv; }
  unsigned globalSpace() const { return 1; }
  unsigned sharedSpace() const { return 3; }
  // Whether the address space contains only memory of a thread, memory of a thread block, or constants of the module.
  // OpenCL's constants do not count, since they may be in memory that the program allocates.
  bool isPrivateTo(unsigned space) const {
    constexpr unsigned kConstant = 4, kThread = 5;
    return space == sharedSpace() || (isSpirv() ? space == 0 : space == kConstant || space == kThread);
  }
  unsigned constantSpace() const { return isSpirv() ? 2 : 1; }

private:
  enum class Kind : uint8_t { Spirv, Nvptx, Amdgcn };
  DeviceTarget(llvm::Module &module, Kind kind) : module_(&module), kind_(kind) {}

  void show(llvm::GlobalVariable &variable) const; // makes the variable visible in the loaded module
  llvm::CallInst *callOf(llvm::IRBuilder<> &builder, llvm::StringRef name, llvm::Type &result, uint32_t argument,
                         llvm::function_ref<void(llvm::Function &)> describe) const;
  llvm::Value *ask(llvm::IRBuilder<> &builder, llvm::StringRef name, unsigned dimension) const;
  llvm::Value *special(llvm::IRBuilder<> &builder, llvm::StringRef name, unsigned dimension) const;
  // On AMDGPU, the packet of the launch contains the number of threads in the grid, and in each full block. The last
  // block in a dimension may have fewer threads.
  llvm::Value *packet(llvm::IRBuilder<> &builder, unsigned bits, unsigned offset) const;
  llvm::Value *gridSize(llvm::IRBuilder<> &builder, unsigned dimension) const;
  llvm::Value *blockSize(llvm::IRBuilder<> &builder, unsigned dimension) const;
  void addHalves(llvm::IRBuilder<> &builder, llvm::Value *address, llvm::Value *amount) const;

  llvm::Module *module_;
  Kind kind_;
};

} // namespace msleaks::passes
