// Without a session, a call of msleaks/api.h costs a load and a branch, with and without -fPIC.
// The pass adds no code to these calls.
// RUN: %clang -O2 -S -ffreestanding -I%{root}/runtime/include --target=x86_64-linux-gnu -fPIC %s -o - | FileCheck --check-prefix=PIC %s
// RUN: %clang -O2 -S -ffreestanding -I%{root}/runtime/include --target=x86_64-linux-gnu -fno-pic %s -o - | FileCheck --check-prefix=FIXED %s
// RUN: %clang -O2 -S -ffreestanding -I%{root}/runtime/include --target=aarch64-linux-gnu -fno-pic %s -o - | FileCheck --check-prefix=ARM %s
// RUN: %clang -O2 -S -ffreestanding -I%{root}/runtime/include --target=x86_64-linux-gnu -DMSL_API_OFF %s -o - | FileCheck --check-prefix=OFF %s
#include <msleaks/api.h>

void step(uint64_t number) { msl_step(number); }
// PIC-LABEL: step:
// PIC:       cmpq $0, __msl_step@GOTPCREL(%rip)
// PIC-NEXT:  j{{n?}}e
// PIC:       __msl_step@PLT
// PIC:       retq
// FIXED-LABEL: step:
// FIXED:       movq __msl_step@GOTPCREL(%rip), [[FUNCTION:%r[a-z0-9]+]]
// FIXED:       testq [[FUNCTION]], [[FUNCTION]]
// FIXED-NEXT:  je
// FIXED:       *[[FUNCTION]]
// ARM-LABEL: step:
// ARM:       adrp [[FUNCTION:x[0-9]+]], :got:__msl_step
// ARM:       ldr [[FUNCTION]], {{\[}}[[FUNCTION]], :got_lo12:__msl_step]
// ARM:       cbz [[FUNCTION]]
// ARM:       br [[FUNCTION]]
// OFF-LABEL: step:
// OFF-NOT:   {{call|jmp|j[a-z]+|__msl}}
// OFF:       retq
