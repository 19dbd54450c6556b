// A gate calls a hook directly, with the site as one more argument, if the callee is a hook that takes the site.
// RUN: %clang -O1 -S -emit-llvm -fno-discard-value-names %s -o - | FileCheck %s
// RUN: %clang -O1 -S -fno-pic --target=x86_64-linux-gnu %s -o - | FileCheck %s --check-prefix=X86
// RUN: %clang -O1 -S -fno-pic --target=aarch64-linux-gnu %s -o - | FileCheck %s --check-prefix=ARM
// RUN: %clang -O1 -S -emit-llvm -DOWN %s -o - | FileCheck %s --check-prefix=OWN
typedef __SIZE_TYPE__ size_t;
void *malloc(size_t);
void *calloc(size_t, size_t);
void *aligned_alloc(size_t, size_t);
void *realloc(void *, size_t);
void free(void *);
void *_Znwm(size_t);
void _ZdlPvm(void *, size_t);

void *make(size_t n) { return malloc(n); }
void *zeroed(size_t n) { return calloc(n, 4); }
void *aligned(size_t n) { return aligned_alloc(64, n); }
void *grow(void *p, size_t n) { return realloc(p, n); }
void *object(size_t n) { return _Znwm(n); }
void destroy(void *p, size_t n) { _ZdlPvm(p, n); }

// A function that the module itself defines is not a hook.
// OWN-LABEL: define{{.*}} @give_back(
// OWN:         call void @__msl_gate.free(
void give_back(void *p) { free(p); }
#ifdef OWN
__attribute__((noinline)) void free(void *p) { *(void *volatile *)p = p; }
#endif
// OWN-NOT: @__msl_direct_free

// CHECK-DAG: declare extern_weak ptr @__msl_hook_malloc(i64)
// CHECK-DAG: declare extern_weak ptr @__msl_direct_malloc(i64, i32)
// CHECK-DAG: declare extern_weak ptr @__msl_direct_calloc(i64, i64, i32)
// CHECK-DAG: declare extern_weak void @__msl_direct_free(ptr, i32)
// An exception may leave operator new, so the declaration is not nounwind.
// CHECK-DAG: declare extern_weak ptr @__msl_direct__Znwm(i64, i32) #[[THROWS:[0-9]+]]
// CHECK-DAG: attributes #[[THROWS]] = { nonlazybind }
// CHECK-DAG: declare extern_weak void @__msl_direct__ZdlPvm(ptr, i64, i32)
// The hooks of these functions do not take a site.
// CHECK-NOT: @__msl_direct_aligned_alloc
// CHECK-NOT: @__msl_direct_realloc

// Code for a fixed address compares the callee's address in the GOT, not the address of a PLT entry.
// X86: {{^}}__msl_gate.malloc:
// X86:   malloc@GOTPCREL(%rip)
// X86:   __msl_direct_malloc@GOTPCREL(%rip)
// ARM: {{^}}__msl_gate.malloc:
// ARM:   :got:malloc
