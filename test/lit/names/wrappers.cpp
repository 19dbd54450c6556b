// A function that allocates a block for its caller is a wrapper. A function that also stores the block elsewhere is no wrapper.
// RUN: %emit_cxx -O0 | %opt -passes='print<msl-sites>' -disable-output | FileCheck --implicit-check-not=wrapper: %s
// RUN: %emit_cxx -O2 | %opt -passes='print<msl-sites>' -disable-output | FileCheck --implicit-check-not=wrapper: %s
// RUN: echo 'wrapper of_a_row' > %t.rows
// RUN: %emit_cxx -O0 -DROW | %opt -passes='print<msl-sites>' -disable-output | FileCheck --check-prefix=NAMED %s
// RUN: %emit_cxx -O0 -DROW > %t.ll && env MSLEAKS_PASS=rows=%t.rows %opt -passes='print<msl-sites>' -disable-output < %t.ll | FileCheck --check-prefix=ROW %s
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <vector>

struct Node {
  Node *next;
  int value;
};
struct Image {
  float *data;
  int width, height;
};
struct Large {
  float *data;
  int sizes[20];
};
struct Layer {
  float *weights, *output;
  int count[20];
};
Node *first;
struct Lattice {
  std::vector<Node *> all;
  Node *make();
  Node *add();
};
void use(void *);
extern "C" Node *of_another_file(int);

extern "C" {

// NAMED: wrapper: annotated at wrappers.cpp:0:0
// CHECK: wrapper: annotated at wrappers.cpp:0:0
__attribute__((annotate("msleaks.wrapper"))) int annotated(void **out) { return (*out = malloc(8)) != nullptr; }

// CHECK-NEXT: wrapper: behind_a_header at wrappers.cpp:[[#@LINE+1]]:62
char *behind_a_header(size_t n) { return static_cast<char *>(malloc(n + 16)) + 16; }

// CHECK-NEXT: wrapper: by_out_parameter at wrappers.cpp:[[#@LINE+3]]
void *by_out_parameter(size_t n) {
  void *block = nullptr;
  return posix_memalign(&block, 64, n) == 0 ? block : nullptr;
}

// kept_by_another() is no wrapper, since keep() stores the block elsewhere. In Lattice::make, push_back stores the block.
static void keep(Node *node) {
  node->next = first;
  first = node;
}
Node *kept_by_another() {
  auto *node = static_cast<Node *>(malloc(sizeof(Node)));
  keep(node);
  return node;
}

Node *cached() {
  if (first == nullptr)
    first = static_cast<Node *>(malloc(sizeof(Node)));
  return first;
}

static void *not_null(void *block) {
  if (block == nullptr)
    abort();
  return block;
}

// CHECK-NEXT: wrapper: checked at wrappers.cpp:[[#@LINE+1]]
void *checked(size_t n) { return not_null(malloc(n)); }

// Returns a block that a wrapper allocated.
// CHECK-NEXT: wrapper: copied at wrappers.cpp:[[#@LINE+1]]
char *copied(const char *text) { return strcpy(static_cast<char *>(checked(strlen(text) + 1)), text); }

// Returns a block that libc allocated.
// CHECK-NEXT: wrapper: duplicate at wrappers.cpp:[[#@LINE+1]]
char *duplicate(const char *text) { return strdup(text); }

// CHECK-NEXT: wrapper: filled at wrappers.cpp:[[#@LINE+2]]
Node *filled(int value) {
  auto *node = static_cast<Node *>(malloc(sizeof(Node)));
  node->value = value;
  node->next = nullptr;
  use(node);
  return node;
}

// CHECK-NEXT: wrapper: formatted at wrappers.cpp:[[#@LINE+3]]
char *formatted(int number) {
  char *text = nullptr;
  if (asprintf(&text, "%d", number) < 0)
    return nullptr;
  return text;
}

// CHECK-NEXT: wrapper: image at wrappers.cpp:[[#@LINE+5]]
Image image(int width, int height) {
  Image made;
  made.width = width;
  made.height = height;
  made.data = static_cast<float *>(calloc(static_cast<size_t>(width) * height, sizeof(float)));
  return made;
}

int kept(size_t n) {
  void *scratch = checked(n);
  use(scratch);
  return 0;
}

// Returns a struct that is passed in two registers.
// CHECK-NEXT: wrapper: image_of_default_size at wrappers.cpp:[[#@LINE+1]]
Image image_of_default_size() { return image(640, 480); }

// CHECK-NEXT: wrapper: large at wrappers.cpp:[[#@LINE+3]]
Large large(int n) {
  Large made = {};
  made.data = static_cast<float *>(malloc(n));
  return made;
}

// CHECK-NEXT: wrapper: large_of_default_size at wrappers.cpp:[[#@LINE+2]]
Large large_of_default_size() {
  Large made = large(100);
  made.sizes[0] = 100;
  return made;
}

Node *listed() {
  auto *node = static_cast<Node *>(malloc(sizeof(Node)));
  node->next = nullptr;
  first = node;
  return node;
}

// CHECK-NEXT: wrapper: made at wrappers.cpp:[[#@LINE+1]]
Node *made() { return new Node{first, 1}; }

// Only the second allocation is for the caller.
// CHECK-NEXT: wrapper: mixed at wrappers.cpp:[[#@LINE+4]]
void *mixed(size_t n) {
  void *scratch = malloc(n);
  use(scratch);
  return malloc(n);
}

// open() returns a file descriptor that the caller must close. So functions that return this descriptor are wrappers.
// CHECK-NEXT: wrapper: open_again at wrappers.cpp:[[#@LINE+8]]
// CHECK-NEXT: wrapper: open_or_die at wrappers.cpp:[[#@LINE+2]]
int open_or_die(const char *name) {
  int file = open(name, O_RDONLY);
  if (file < 0)
    abort();
  return file;
}
int open_again() { return open_or_die("again"); }

int reads(const char *name) {
  int file = open_or_die(name);
  use(&file);
  return 0;
}

// perhaps() is a wrapper only if of_another_file() is a wrapper. So the pass lists it as a forward.
Node *perhaps(int n) {
  Node *node = of_another_file(n);
  node->value = n;
  return node;
}
Node *perhaps_too() { return perhaps(7); }

#ifdef ROW
// ROW: wrapper: of_a_row at wrappers.cpp:0:0
int of_a_row(void **out) { return (*out = malloc(8)) != nullptr; }
#endif

// The block points to itself, and a variable inside the block points to it. No other code can reach the block.
static void close(Node *node, Node **last) {
  node->next = node;
  *last = node;
}
// CHECK-NEXT: wrapper: ring at wrappers.cpp:[[#@LINE+3]]
Node *ring() {
  Node *last = nullptr;
  auto *node = static_cast<Node *>(malloc(sizeof(Node)));
  close(node, &last);
  return node;
}

// The returned struct has two blocks. Only the lines of the allocations tell the blocks apart, so the function is no wrapper.
Layer two_blocks(size_t n) {
  Layer layer = {};
  layer.weights = static_cast<float *>(malloc(n));
  layer.output = static_cast<float *>(malloc(n));
  return layer;
}
}

Node *Lattice::make() {
  Node *node = new Node{};
  all.push_back(node);
  return node;
}
Node *Lattice::add() { return make(); }

// CHECK-NEXT: forward: perhaps at wrappers.cpp:{{[0-9]+}}:16
// CHECK-NEXT: forward: perhaps_too at wrappers.cpp:{{[0-9]+}}:30
// CHECK-NOT: forward:
