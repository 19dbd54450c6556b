// Finds the variable of the source to which the program assigns the block that a call allocates. Needs unoptimised IR
// with debug information.
#pragma once

#include "place.h"
#include "type_name.h"

#include "msleaks/abi/symbol.h"

#include "llvm/ADT/DenseMap.h"

#include <optional>
#include <string>

namespace llvm {
class CallBase;
class Function;
class GEPOperator;
class GlobalVariable;
class Value;
} // namespace llvm

namespace msleaks::passes {

// The variable and the element type of a block in the source. A field is empty if its value is not certain.
struct Destination {
  std::string variable; // "weights", "l.output", "this->blocks_", "net->layers[].output"
  std::string type;     // type of the block's elements: "float", "struct layer"
};

class DestinationFinder {
public:
  explicit DestinationFinder(llvm::Function &function);
  Destination find(const llvm::CallBase &call, const abi::Symbol &symbol) const;

private:
  // The first place to which the function stores a call's result, and whether the function returns the result.
  struct Fate {
    std::optional<Place> stored;
    unsigned order = 0; // position of the store in the function
    bool returned = false;
  };
  Fate fateOf(const llvm::CallBase &call) const;
  void follow(const llvm::Value &value, const llvm::Value &user, Fate &fate,
              llvm::SmallVectorImpl<const llvm::Value *> &next) const;

  std::optional<Place> placeAt(const llvm::Value *address, unsigned depth = 0) const;
  std::optional<Place> placeIn(const llvm::GEPOperator &gep, unsigned depth) const;
  std::optional<Place> declaredAt(const llvm::Value *address) const;
  std::optional<Place> constructedBy(const llvm::CallBase &call, const llvm::Value &argument) const;
  const llvm::DIType *returnedElement() const;

  const llvm::Function &function_;
  Spelling spelling_ = Spelling::Cxx;
  llvm::DenseMap<const llvm::Value *, const llvm::DILocalVariable *> variables_;
  llvm::DenseMap<const llvm::Value *, unsigned> order_; // position of each instruction in the function
};

} // namespace msleaks::passes
