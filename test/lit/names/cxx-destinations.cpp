// In C++, a block's destination may be a member through `this` or a reference, or a smart pointer. Also tests containers and lambdas.
// RUN: %emit_cxx -O0 | %opt -passes='print<msl-sites>' -disable-output | FileCheck %s
// RUN: %emit_cxx -O2 | %opt -passes='print<msl-sites>' -disable-output | FileCheck %s
// RUN: %clangxx -g -O0 -c %s -o %t.o && %sites %t.o | FileCheck --check-prefix=TABLE %s
// RUN: %clangxx -g -O2 -c %s -o %t.o && %sites %t.o | FileCheck --check-prefix=TABLE %s
#include "keep.h"
#include <cstdlib>
#include <memory>
#include <vector>

namespace nn {
template <typename T> struct Block {
  T value;
  Block *next;
};

struct Base {
  char *text;
};

struct Cache : Base {
  explicit Cache(int n);
  void grow(int n);
  std::unique_ptr<float[]> owned_;
  Block<int> *blocks_;
  double *rows_[3];
};

// CHECK-LABEL: _ZN2nn5CacheC2Ei: _Znam
// CHECK-SAME: :[[#@LINE+2]]:{{.*}} type=float variable=this->owned_
// CHECK: :[[#@LINE+1]]:{{.*}} type=nn::Block<int> variable=this->blocks_
Cache::Cache(int n) : owned_(new float[n]), blocks_(new Block<int>[n]) {
  // CHECK: :[[#@LINE+1]]:{{.*}} type=double variable=this->rows_[1]
  rows_[1] = static_cast<double *>(std::malloc(n));
  // A member of a base class has the name that the source uses.
  // CHECK: :[[#@LINE+1]]:{{.*}} type=char variable=this->text
  text = new char[3];
}

// TABLE-DAG: _ZN2nn5Cache4growEi _Znwm type='nn::Block<int>' variable='this->blocks_->next'
void Cache::grow(int n) {
  // CHECK-LABEL: _ZN2nn5Cache4growEi: _Znwm
  // CHECK-SAME: :[[#@LINE+1]]:{{.*}} type=nn::Block<int> variable=this->blocks_->next
  blocks_->next = new Block<int>{n, nullptr};
}

struct Derived : Base {};

// The type comes from the new-expression. The pointer that stores the block has another type.
// TABLE-DAG: type='nn::Derived' variable='b'
void use(Cache &cache, std::vector<float> &numbers) {
  // CHECK-LABEL: _ZN2nn3useERNS_5CacheERSt6vectorIfSaIfEE: _ZnamRKSt9nothrow_t
  // CHECK-SAME: :[[#@LINE+1]]:{{.*}} type=char variable=cache.text
  cache.text = new (std::nothrow) char[9];
  // CHECK: :[[#@LINE+1]]:{{.*}} type=nn::Derived variable=b
  Base *b = new Derived;
  // CHECK: :[[#@LINE+1]]:{{.*}} type=int variable=owner
  std::unique_ptr<int> owner(new int(3));
  // CHECK: _ZZ{{.*}}clEv: _Znam {{.*}}:[[#@LINE+1]]:{{.*}} type=int variable=?
  auto make = [] { return new int[3]; };
  keep(b);
  delete b;
  delete[] make();
  numbers.resize(numbers.size() + 7);
}
} // namespace nn

// For a container, the element type is that of its allocator's result. The inline chain contains the source's line.
// CHECK: _ZNSt15__new_allocatorIfE8allocateEmPKv: _Znwm {{.*}} type=float variable=?
// TABLE-DAG: _ZNSt15__new_allocatorIfE8allocateEmPKv _Znwm type='float' variable=''
