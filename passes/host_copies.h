// Finds the calls by which the program copies its own memory, and records the large ones (msleaks/abi/host_copies.h).
// Some of them are calls by which the compiler replaced a loop. A copy of a small constant size stays as it is.
//
//   call void @llvm.memcpy(%to, %from, %n)   →   br (%n > 65535), large, rest                   ; unlikely
//                                       large:   %base = load atomic i32, ptr @__msl_unit monotonic
//                                                br (%base != 0), record, rest                  ; unlikely
//                                       record:  call void @__msl_on_copy(i32 (%base + row), …, %to, %from, %n, …)
//                                                br rest
//                                       rest:    call void @llvm.memcpy(%to, %from, %n)
#pragma once

#include "find.h"
#include "runtime_decls.h"

namespace msleaks::passes {

// Returns the copies in `function` that may be large, in the order of the instructions.
llvm::SmallVector<FoundCall> findHostCopies(llvm::Function &function);

void recordHostCopy(const FoundCall &found, uint32_t row, llvm::GlobalVariable &unit, RuntimeDecls &runtime);

} // namespace msleaks::passes
