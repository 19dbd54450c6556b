// Has objects with static lifetime, which allocate in constructors before main and free in destructors after main.
#include <memory>
#include <string>
#include <vector>

struct Registry {
  std::vector<std::string> names;
  int *forgotten = new int[250];
  explicit Registry(int count) {
    for (int i = 0; i < count; ++i)
      names.emplace_back(100, static_cast<char>('a' + i % 26));
  }
};

Registry early(100);
std::unique_ptr<double[]> table = std::make_unique<double[]>(5000);
thread_local std::vector<int> scratch;

Registry &local() {
  static Registry registry(10);
  return registry;
}

Registry &immortal() {
  static Registry *registry = new Registry(3); // the program never deletes this object
  return *registry;
}

int main() {
  scratch.resize(3000);
  return local().names.size() + immortal().names.size() == 13 ? 0 : 1;
}
