// The program deletes a node by a pointer to a base class without a virtual destructor. So the node's names leak.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

struct Node {
  int kind = 0;
};
struct Named : Node {
  std::vector<std::string> names;
  explicit Named(int count) {
    for (int i = 0; i < count; ++i)
      names.push_back(std::string(100, 'n')); // guilty:
  }
};

__attribute__((noinline)) static Node *parse(int count) { return new Named(count); }

int main() {
  for (int i = 0; i < 10; ++i) {
    Node *node = parse(20);
    std::printf("%d", node->kind);
    delete node;
  }
}
