// The image's constructor and destructor are compiled with the module's settings. If one function had no landing pads for
// indirect branches, the linker would disable landing pads for the whole image. No stack walk passes a function without unwind tables. Up
// to LLVM 17 only the module requests landing pads. A function without its own attribute follows the module.
// RUN: %if default-attributes %{ %clang -O2 --target=aarch64-linux-gnu -mbranch-protection=standard -S -emit-llvm %s -o - | FileCheck --check-prefix=BTI %s %}
// RUN: %clang -O2 -fasynchronous-unwind-tables -S -emit-llvm %s -o - | FileCheck --check-prefix=TABLES %s
// BTI: define linkonce_odr hidden void @__msl_image_ctor_v2() #[[CTOR:[0-9]+]]
// BTI: attributes #[[CTOR]] = {{.*}}"branch-target-enforcement"
// TABLES: define linkonce_odr hidden void @__msl_image_ctor_v2() #[[CTOR:[0-9]+]]
// TABLES: attributes #[[CTOR]] = {{.*}}uwtable
void *malloc(unsigned long size);
void *make(unsigned long size) { return malloc(size); }
