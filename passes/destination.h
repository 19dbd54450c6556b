// Where the block that a call hands out goes, read from the unoptimised IR and its debug information.
#pragma once

#include "msleaks/abi/symbols.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/DebugInfoMetadata.h"

#include <optional>
#include <string>

namespace llvm {
class CallBase;
class Function;
class GEPOperator;
class Value;
} // namespace llvm

namespace msleaks::passes {

// Empty = not known. Never a guess.
struct Destination {
  std::string variable; // "weights", "l.output", "this->blocks_", "net->layers[].output"
  std::string type;     // what the block consists of: "float", "struct layer"
};

class DestinationFinder {
public:
  explicit DestinationFinder(llvm::Function &function);
  Destination find(const llvm::CallBase &call, const abi::Symbol &symbol) const;

private:
  // An object as the source calls it: `offset` bytes into something of type `type`, which is what `name` stands for or,
  // when `pointed`, what it points to.
  struct Place {
    std::string name;
    const llvm::DIType *type;
    bool pointed = false;
    uint64_t offset = 0;
  };
  std::optional<Place> placeAt(const llvm::Value *address, unsigned depth = 0) const;
  std::optional<Place> declaredAt(const llvm::Value *address) const;
  std::optional<Place> elementAt(const llvm::GEPOperator &gep, unsigned depth) const;
  std::optional<Place> pointeeOf(const llvm::Value *pointer, unsigned depth) const;
  std::optional<Place> storedIn(const llvm::Value *result) const;
  std::optional<Place> constructedWith(const llvm::CallBase &call, const llvm::Value *result) const;
  const llvm::DIType *returnedType() const;
  bool isReturned(const llvm::Value *result) const;

  const llvm::Function &function_;
  llvm::DenseMap<const llvm::Value *, const llvm::DILocalVariable *> variables_;
  llvm::DenseMap<const llvm::Value *, unsigned> order_; // instructions, in the order of the code
};

} // namespace msleaks::passes
