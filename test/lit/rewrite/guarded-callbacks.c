// The shape of what is inserted: a load, a branch, and a block that is hardly ever run.
// RUN: %clang -g -O2 -S -emit-llvm %s -o - | FileCheck %s
#include <stdlib.h>

// CHECK: @__msl_unit = internal externally_initialized global { i32, i16, i16, i16, [3 x i16], ptr } { i32 0, i16 2, i16 2, i16 24, [3 x i16] zeroinitializer, ptr @__msl_table }, section "msl_units_v2", align 8
// CHECK: @__msl_table = internal constant [{{[0-9]+}} x i8] c"MSL1{{.*}}", section "msl_sites", align 8
// CHECK: @llvm.compiler.used = {{.*}}@__msl_unit
// CHECK: @__start_msl_units_v2 = extern_weak hidden global i8
// CHECK: @__stop_msl_units_v2 = extern_weak hidden global i8
// CHECK: @llvm.global_ctors = {{.*}}{ i32 1, ptr @__msl_image_ctor_v2, ptr @__msl_image_ctor_v2 }
// CHECK: @llvm.global_dtors = {{.*}}{ i32 1, ptr @__msl_image_dtor_v2, ptr @__msl_image_dtor_v2 }

// CHECK-LABEL: define{{.*}} @make(
// CHECK:         %[[BASE:.*]] = load atomic i32, ptr @__msl_unit monotonic, align 4
// CHECK-NEXT:    %[[ARMED:.*]] = icmp ne i32 %[[BASE]], 0
// CHECK-NEXT:    br i1 %[[ARMED]], label %[[BEFORE:[0-9]+]], label %[[CALL:[0-9]+]], !dbg !{{.*}}, !prof ![[UNLIKELY:.*]]
// CHECK:       [[BEFORE]]:
// CHECK-NEXT:    %[[SITE:.*]] = add i32 %[[BASE]], 0
// CHECK-NEXT:    call void @__msl_before(i32 %[[SITE]], i32 0)
// CHECK-NEXT:    br label %[[CALL]]
// CHECK:       [[CALL]]:
// CHECK:         %[[P:.*]] = tail call {{.*}}ptr @malloc(i64 noundef %[[N:.*]])
// CHECK:         load atomic i32, ptr @__msl_unit monotonic, align 4
// CHECK:         call void @__msl_on_alloc(i32 %{{.*}}, i32 0, ptr %[[P]], i64 %[[N]])
// CHECK:         ret ptr %[[P]]
// The mark has done its work.
// CHECK-NOT: !msleaks
void *make(size_t n) { return malloc(n); }

// A product that does not fit says so; the real call refuses it.
// CHECK-LABEL: define{{.*}} @zeroed(
// CHECK:         call { i64, i1 } @llvm.umul.with.overflow.i64(i64 %{{.*}}, i64 %{{.*}})
// CHECK:         select i1 %{{.*}}, i64 -1, i64
// CHECK:         call void @__msl_on_alloc
void *zeroed(size_t n, size_t size) { return calloc(n, size); }

// Constants are multiplied here.
// CHECK-LABEL: define{{.*}} @constant(
// CHECK:         call void @__msl_on_alloc(i32 %{{.*}}, i32 1048576, ptr %{{.*}}, i64 56)
void *constant(void) { return calloc(7, 8); }

// One callback before a free, none behind it.
// CHECK-LABEL: define{{.*}} @give_back(
// CHECK:         call void @__msl_on_free(i32 %{{.*}}, i32 50331648, ptr %[[Q:.*]], i64 0)
// CHECK:         tail call void @free(ptr {{.*}}%[[Q]])
// CHECK-NEXT:    ret void
void give_back(void *p) { free(p); }

// CHECK:       declare extern_weak void @__msl_before(i32, i32)
// CHECK:       define linkonce_odr hidden void @__msl_image_ctor_v2() {{.*}}comdat
// CHECK:         call void @__msl_arm_v2(ptr @__start_msl_units_v2, ptr @__stop_msl_units_v2)
// CHECK: ![[UNLIKELY]] = !{!"branch_weights", {{.*}}i32 1, i32 1048575}
