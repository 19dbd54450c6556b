#include "analysis/collect/watch_answer.h"

#include "analysis/collect/definitions_file.h"
#include "analysis/collect/session_dir.h"
#include "analysis/places/definition_records.h"
#include "analysis/places/line_code.h"

#include <cstring>
#include <exception>
#include <string_view>
#include <system_error>

namespace msleaks::analysis::inline collect {
namespace {

struct LoadedImage {
  std::string path;
  uint64_t load_bias;
};

// Returns an image. A process writes the image's definition before it asks. Nothing: it could not write the definition.
std::optional<LoadedImage> imageOf(const std::filesystem::path &file, uint32_t number) {
  DefinitionsFile definitions(file);
  std::optional<LoadedImage> found;
  for (auto records = definitions.readNew(); !records.empty() && !found; records = definitions.readNew())
    forEachDefinition(records, [&](abi::DefinitionKind kind, std::span<const std::byte> body) {
      abi::ImageDefinition image;
      if (kind != abi::DefinitionKind::Image || body.size() < sizeof image)
        return;
      std::memcpy(&image, body.data(), sizeof image);
      const auto *path = reinterpret_cast<const char *>(body.data()) + sizeof image;
      if (image.image == number)
        found = {{path, body.size() - sizeof image}, image.load_bias};
    });
  return found;
}

} // namespace

std::vector<abi::WatchRange> rangesOfLine(const std::filesystem::path &definitions, uint32_t number,
                                          const abi::WatchWish &wish) {
  std::vector<abi::WatchRange> ranges;
  const std::string_view file(wish.what, strnlen(wish.what, sizeof wish.what));
  if (const auto image = imageOf(definitions, number))
    for (const CodeRange &code : codeOfLine(image->path, file, wish.line))
      ranges.push_back({code.begin + image->load_bias, code.end + image->load_bias});
  return ranges;
}

WatchAnswers::~WatchAnswers() {
  {
    const std::lock_guard held(lock_);
    stopped_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable())
    thread_.join();
}

// The process may have given up its last question, and may ask another one now.
void WatchAnswers::serve(ArenaReader &arena) {
  const uint32_t image = arena.askedImage();
  if (image == 0)
    return;
  const std::lock_guard held(lock_);
  const auto [at, fresh] = questions_.try_emplace(arena.path().string(), Question{image});
  Question &question = at->second;
  if (fresh && !startThread())
    question.answer.emplace();
  else if (fresh)
    waiting_.push_back(at->first);
  changed_.notify_all();
  if (!question.answer)
    return;
  if (question.image == image)
    arena.answerImage(*question.answer);
  questions_.erase(at);
}

bool WatchAnswers::startThread() {
  if (thread_.joinable())
    return true;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error &) { // no more threads are possible: the process continues without its watch
    return false;
  }
  return true;
}

void WatchAnswers::run() noexcept {
  std::unique_lock held(lock_);
  while (true) {
    changed_.wait(held, [this] { return stopped_ || !waiting_.empty(); });
    if (stopped_)
      return;
    const std::string arena = std::move(waiting_.front());
    waiting_.pop_front();
    const uint32_t image = questions_.at(arena).image;
    held.unlock();
    std::vector<abi::WatchRange> ranges = search(arena, image);
    held.lock();
    questions_.at(arena).answer = std::move(ranges);
    found_();
  }
}

std::vector<abi::WatchRange> WatchAnswers::search(const std::string &arena, uint32_t image) const noexcept {
  try {
    return find_(std::filesystem::path(arena).replace_extension(kDefinitionsSuffix), image);
  } catch (const std::exception &) {
    return {};
  }
}

} // namespace msleaks::analysis::inline collect
