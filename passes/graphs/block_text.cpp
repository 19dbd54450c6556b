#include "graphs/block_text.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace msleaks::passes {

std::string BlockText::of(const BasicBlock &block) {
  names_.incorporateFunction(*block.getParent());
  std::string text;
  raw_string_ostream to(text);
  block.printAsOperand(to, /*PrintType=*/false, names_);
  to << ":\n";
  for (const Instruction &instruction : block) {
    if (isa<DbgInfoIntrinsic>(instruction))
      continue;
    std::string line;
    raw_string_ostream of_line(line);
    instruction.print(of_line, names_);
    to << "  " << StringRef(of_line.str()).split(", !").first.trim() << '\n';
  }
  return text;
}

} // namespace msleaks::passes
