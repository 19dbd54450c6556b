// Allocates in templates, virtual calls, recursion and exceptions. Exceptions pass through frames whose destructors
// allocate. The program throws caught exceptions again, and throws a std::exception_ptr again in another thread.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <variant>
#include <vector>

namespace {

unsigned state = 1;
unsigned randomNumber(unsigned below) { return (state = state * 1664525 + 1013904223) / 65536 % below; }

struct Shape {
  virtual ~Shape() = default;
  virtual std::string name() const = 0;
};
template <int kSides> struct Polygon : Shape {
  std::string name() const override { return std::string(20 + kSides, 'p'); }
};

struct AllocatesAtItsEnd {
  std::vector<std::string> *log;
  ~AllocatesAtItsEnd() { log->push_back(std::string(30 + log->size() % 7, 'e')); }
};

std::vector<std::string> ended;

template <int kDepth> [[gnu::noinline]] void throwFrom(unsigned depth) {
  const AllocatesAtItsEnd end{&ended};
  alignas(64) volatile char filler[64 * (kDepth % 2 + 1)];
  filler[0] = static_cast<char>(depth);
  if (depth == 0)
    throw std::runtime_error(std::string(40, 'x'));
  if constexpr (kDepth > 0)
    throwFrom<kDepth - 1>(depth - 1);
  else
    throw std::make_unique<int>(static_cast<int>(filler[0]));
}

template <class... Types> std::string visitAll(const std::variant<Types...> &value) {
  return std::visit([](const auto &held) { return std::string(25 + sizeof held, 'v'); }, value);
}

[[gnu::noinline]] void catchAndThrowAgain(unsigned depth) {
  try {
    throwFrom<8>(depth);
  } catch (const std::runtime_error &error) {
    const std::string copy = std::string(error.what()) + " again";
    throw std::logic_error(copy);
  }
}

std::exception_ptr keep(unsigned depth) {
  try {
    catchAndThrowAgain(depth);
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

[[gnu::noinline]] std::map<std::string, std::unique_ptr<Shape>> makeShapes(unsigned count) {
  std::map<std::string, std::unique_ptr<Shape>> shapes;
  for (unsigned i = 0; i < count; ++i) {
    std::unique_ptr<Shape> shape;
    if (randomNumber(2) != 0)
      shape = std::make_unique<Polygon<3>>();
    else
      shape = std::make_unique<Polygon<5>>();
    shapes.emplace(shape->name() + std::to_string(randomNumber(100)), std::move(shape));
  }
  return shapes;
}

[[gnu::noinline]] size_t recurse(unsigned depth, const std::function<size_t(unsigned)> &leaf) {
  std::vector<unsigned> numbers(depth + 1);
  if (depth == 0)
    return leaf(randomNumber(9));
  const auto next = [&](unsigned below) { return recurse(below, leaf) + numbers.size(); };
  return next(depth - 1);
}

size_t doOne(unsigned round) {
  switch (randomNumber(5)) {
  case 0:
    return makeShapes(1 + randomNumber(4)).size();
  case 1:
    return recurse(randomNumber(12), [](unsigned depth) { return makeShapes(depth % 3).size(); });
  case 2:
    return visitAll(std::variant<int, double, std::string>(std::string(round % 50, 's'))).size();
  case 3: {
    std::vector<std::string> words;
    for (unsigned i = 0; i < randomNumber(5); ++i)
      words.push_back(std::to_string(randomNumber(1000)) + std::string(20, 'w'));
    std::stable_sort(words.begin(), words.end());
    return words.size();
  }
  default: {
    ended.clear();
    const std::exception_ptr kept = keep(randomNumber(9));
    try {
      std::rethrow_exception(kept);
    } catch (const std::logic_error &error) {
      return std::string(error.what()).size();
    } catch (const std::unique_ptr<int> &number) {
      return static_cast<size_t>(*number);
    }
  }
  }
}

size_t doMany(unsigned rounds) {
  size_t sum = 0;
  for (unsigned i = 0; i < rounds; ++i)
    sum += doOne(i);
  return sum;
}

} // namespace

int main() {
  size_t sum = doMany(3000), of_thread = 0;
  std::thread([&] { of_thread = doMany(1000); }).join();
  std::printf("%zu %zu\n", sum, of_thread);
  return 0;
}
