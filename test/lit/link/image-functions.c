// The image's constructor and destructor get the module's settings. Without branch-target-enforcement, LLVM 18 and later would
// generate no landing pad (`bti c`), but the object would still be marked for enforcement. Then the call through .init_array would
// trap. Up to LLVM 17, a function without the attribute follows the module. A stack walk ends at a function without unwind tables.
// RUN: %if default-attributes %{ %clang -O2 --target=aarch64-linux-gnu -mbranch-protection=standard -S -emit-llvm %s -o - | FileCheck --check-prefix=BTI %s %}
// RUN: %clang -O2 -fasynchronous-unwind-tables -S -emit-llvm %s -o - | FileCheck --check-prefix=TABLES %s
// BTI: define linkonce_odr hidden void @__msl_image_ctor_v2() #[[CTOR:[0-9]+]]
// BTI: attributes #[[CTOR]] = {{.*}}"branch-target-enforcement"
// TABLES: define linkonce_odr hidden void @__msl_image_ctor_v2() #[[CTOR:[0-9]+]]
// TABLES: attributes #[[CTOR]] = {{.*}}uwtable
void *malloc(unsigned long size);
void *make(unsigned long size) { return malloc(size); }
