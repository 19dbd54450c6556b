// A guard is a basic block in front of a musttail call. The block runs only if a runtime has armed the unit (unit.h). A
// musttail call cannot call a gate (gate.h), which has one more parameter: the parameters of caller and callee must be
// equal.
//
//     …                          %base = load atomic i32, ptr @__msl_unit monotonic
//     musttail call    →         br (%base != 0), record, rest            ; unlikely
//                      record:   %site = add i32 %base, row
//                                <the callback>
//                                br rest
//                      rest:     musttail call
#pragma once

#include "call_protocol.h"

namespace msleaks::passes {

void guardTailCall(llvm::CallBase &call, const CallKind &kind, uint32_t row, llvm::GlobalVariable &unit,
                   RuntimeDecls &runtime);

} // namespace msleaks::passes
