// Evaluates nodes of a backward pass of PyTorch (test/standins/pytorch): in several threads, inside each other, too
// deep, and with exceptions. After each part, the thread must evaluate no node. Prints the addresses that msleaks
// should record, in the order of each thread.
#include "operators.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <thread>

namespace {

using namespace torch::autograd;

constexpr int kMost = 16; // nodes of a thread that msleaks records

void evaluate(Node *node) {
  std::shared_ptr<GraphTask> task;
  const std::shared_ptr<ReadyQueue> queue;
  InputBuffer inputs;
  Engine().evaluate_function(task, node, inputs, queue);
}

void expect(const Node *node) {
  std::printf("%llu ", static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(node)));
}

Node inner{[] {}}, outer{[] { evaluate(&inner); }}, failing{[] { throw std::runtime_error("a node may fail"); }},
    fails_inside{[] { evaluate(&failing); }}, goes_on{[] {
      try {
        evaluate(&failing);
      } catch (const std::runtime_error &) {
      }
      evaluate(&inner);
    }};

void one() {
  evaluate(&inner);
  for (const Node *node : {&inner, static_cast<Node *>(nullptr)})
    expect(node);
}

void nested() {
  evaluate(&outer);
  for (const Node *node : {&outer, &inner, &outer, static_cast<Node *>(nullptr)})
    expect(node);
}

void exceptions() {
  try {
    evaluate(&fails_inside);
  } catch (const std::runtime_error &) {
  }
  evaluate(&goes_on);
  for (const Node *node : {&fails_inside, &failing, &fails_inside, static_cast<Node *>(nullptr), &goes_on, &failing,
                           &goes_on, &inner, &goes_on, static_cast<Node *>(nullptr)})
    expect(node);
}

int left = 0;
Node deep{[] {
  if (--left != 0)
    evaluate(&deep);
}};

void tooDeep() {
  left = 2 * kMost;
  evaluate(&deep);
  for (int i = 0; i < 2 * kMost - 1; ++i)
    expect(&deep);
  expect(nullptr);
}

} // namespace

int main() {
  for (void (*const part)() : {one, nested, exceptions, tooDeep, one}) {
    std::thread(part).join();
    std::printf("\n");
  }
}
