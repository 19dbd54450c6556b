// The pass replaces each call by a call of a gate. The gate has a load, a branch, and a part that rarely runs.
// RUN: %clang -g -O2 -S -emit-llvm -fno-discard-value-names %s -o - | FileCheck %s
#include <stdlib.h>

// CHECK: @__msl_unit = internal externally_initialized global { i32, i16, i16, i16, [3 x i16], ptr } { i32 0, i16 2, i16 2, i16 24, [3 x i16] zeroinitializer, ptr @__msl_table }, section "msl_units_v2", align 8
// CHECK: @__msl_table = internal constant [{{[0-9]+}} x i8] c"MSL1{{.*}}", section "msl_sites", align 8
// CHECK: @llvm.compiler.used = {{.*}}@__msl_unit
// CHECK: @__start_msl_units_v2 = extern_weak hidden global i8
// CHECK: @__stop_msl_units_v2 = extern_weak hidden global i8
// CHECK: @llvm.global_ctors = {{.*}}{ i32 1, ptr @__msl_image_ctor_v2, ptr @__msl_image_ctor_v2 }
// CHECK: @llvm.global_dtors = {{.*}}{ i32 1, ptr @__msl_image_dtor_v2, ptr @__msl_image_dtor_v2 }

// The call keeps its place and its line. Only its target and one argument are new.
// CHECK-LABEL: define{{.*}} @make(
// CHECK:         %[[P:.*]] = tail call noalias ptr @__msl_gate.malloc(i64 noundef %n, i32 0) #[[AT_CALL:[0-9]+]], !dbg !{{[0-9]+$}}
// CHECK-NEXT:    ret ptr %[[P]]
void *make(size_t n) { return malloc(n); }

// Calls with the same callee and types use one gate. Each call passes its own row.
// CHECK-LABEL: define{{.*}} @make_other(
// CHECK:         tail call noalias {{.*}}ptr @__msl_gate.malloc(i64 noundef 4, i32 1)
void *make_other(void) { return malloc(4); }

// CHECK-LABEL: define{{.*}} @zeroed(
// CHECK:         tail call noalias {{.*}}ptr @__msl_gate.calloc(i64 noundef %n, i64 noundef %size, i32 2)
void *zeroed(size_t n, size_t size) { return calloc(n, size); }

// CHECK-LABEL: define{{.*}} @grow(
// CHECK:         tail call {{.*}}ptr @__msl_gate.realloc(ptr noundef %p, i64 noundef %n, i32 3)
void *grow(void *p, size_t n) { return realloc(p, n); }

// CHECK-LABEL: define{{.*}} @give_back(
// CHECK:         tail call void @__msl_gate.free(ptr {{.*}}%p, i32 4)
// CHECK-NEXT:    ret void
void give_back(void *p) { free(p); }

// CHECK:       define internal noalias{{.*}} ptr @__msl_gate.malloc(i64 %0, i32 %row) #[[GATE:[0-9]+]]
// CHECK:         %base = load atomic i32, ptr @__msl_unit monotonic, align 4
// CHECK-NEXT:    %[[ARMED:.*]] = icmp ne i32 %base, 0
// CHECK-NEXT:    br i1 %[[ARMED]], label %armed, label %plain, !prof ![[UNLIKELY:.*]]
// CHECK:       plain:
// CHECK-NEXT:    %[[P:.*]] = tail call noalias {{.*}}ptr @malloc(i64 %0) #[[IN_GATE:[0-9]+]]
// CHECK-NEXT:    ret ptr %[[P]]
// CHECK:       armed:
// CHECK-NEXT:    %site = add i32 %row, %base
// CHECK-NEXT:    icmp ne {{\(?}}ptr @malloc, {{(ptr )?}}@__msl_hook_malloc
// CHECK:         label %callbacks, label %hooked, !prof ![[UNLIKELY]]
// CHECK:       hooked:
// CHECK-NEXT:    %[[D:.*]] = tail call noalias {{.*}}ptr @__msl_direct_malloc(i64 %0, i32 %site) #[[IN_GATE]]
// CHECK-NEXT:    ret ptr %[[D]]
// CHECK:       callbacks:
// CHECK-NEXT:    %[[Q:.*]] = tail call noalias {{.*}}ptr @__msl_armed.malloc(i64 %0, i32 %site)
// CHECK-NEXT:    ret ptr %[[Q]]

// CHECK:       define internal noalias{{.*}} ptr @__msl_armed.malloc(i64 %0, i32 %site) #[[GATE]] {
// CHECK:         call void @__msl_before(i32 %site, i32 0)
// CHECK-NEXT:    %[[P:.*]] = call noalias {{.*}}ptr @malloc(i64 %0) #[[IN_GATE]]
// CHECK-NEXT:    call void @__msl_on_alloc(i32 %site, i32 0, ptr %[[P]], i64 %0)
// CHECK-NEXT:    ret ptr %[[P]]

// If the product overflows, the callback gets the largest size, and calloc refuses the call.
// CHECK-LABEL: define internal {{.*}} @__msl_armed.calloc(
// CHECK:         call { i64, i1 } @llvm.umul.with.overflow.i64(i64 %{{.*}}, i64 %{{.*}})
// CHECK:         select i1 %{{.*}}, i64 -1, i64
// CHECK:         call void @__msl_on_alloc

// CHECK-LABEL: define internal {{.*}} @__msl_armed.realloc(
// CHECK:         call void @__msl_on_free(i32 %site, i32 {{.*}}, ptr %0, i64 0)
// CHECK-NEXT:    %[[P:.*]] = call {{.*}} @realloc(ptr %0, i64 %1)
// CHECK-NEXT:    call void @__msl_on_alloc(i32 %site, i32 {{.*}}, ptr %[[P]], i64 %1)

// A free has one callback before it and none after it.
// CHECK-LABEL: define internal {{.*}} @__msl_armed.free(
// CHECK:         call void @__msl_on_free(i32 %site, i32 50331648, ptr %0, i64 0)
// CHECK-NEXT:    call void @free(ptr %0)
// CHECK-NEXT:    ret void

// CHECK:       declare extern_weak void @__msl_arm_v2(ptr, ptr)
// CHECK:       define linkonce_odr hidden void @__msl_image_ctor_v2() {{.*}}comdat
// CHECK:         call void @__msl_arm_v2(ptr @__start_msl_units_v2, ptr @__stop_msl_units_v2)

// The memory attributes of malloc's declaration are not true for its gate, nor for the call of malloc in the gate.
// CHECK:       attributes #[[GATE]] = { disable_sanitizer_instrumentation noinline noprofile nosanitize_coverage nounwind uwtable "target-cpu"={{.*}}
// CHECK:       attributes #[[AT_CALL]] = { nounwind }
// CHECK:       attributes #[[IN_GATE]] = { nobuiltin nounwind }
// The marks of the calls are no longer needed, so the pass removes them.
// CHECK-NOT: !{!"msleaks
// CHECK: ![[UNLIKELY]] = !{!"branch_weights", {{.*}}i32 1, i32 1048575}
