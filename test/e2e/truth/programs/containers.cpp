// Allocates through containers of the C++ library. The calls of the allocator are in the library's headers.
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

struct Model {
  std::vector<float> weights = std::vector<float>(4096, 0.5f);
  std::map<int, std::string> names;
  std::unordered_map<std::string, double> scores;
};

Model *volatile kept;
std::shared_ptr<std::string> shared;

int main() {
  auto *model = new Model;
  for (int i = 0; i < 40; ++i) {
    model->names[i] = std::string(20 + i, 'n');
    model->scores["score " + std::to_string(i)] = i;
  }
  kept = model;

  std::list<std::vector<int>> batches;
  for (int i = 0; i < 50; ++i)
    batches.emplace_back(1000);
  shared = std::make_shared<std::string>(100, 's');
  new std::shared_ptr<std::string>(shared); // leaks, so the string always has an owner
}
