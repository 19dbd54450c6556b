#include "analysis/collect/watch_answer.h"

#include "analysis/collect/definitions_file.h"
#include "analysis/collect/session_dir.h"
#include "analysis/places/definition_records.h"
#include "analysis/places/line_code.h"

#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace msleaks::analysis {
namespace {

struct LoadedImage {
  std::string path;
  uint64_t load_bias;
};

// The process has defined it before it asks. Nothing: it could not.
std::optional<LoadedImage> imageOf(const ArenaReader &arena, uint32_t number) {
  DefinitionsFile definitions(std::filesystem::path(arena.path()).replace_extension(kDefinitionsSuffix));
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

std::vector<abi::WatchRange> rangesOf(const ArenaReader &arena, uint32_t number, const abi::WatchWish &wish) {
  std::vector<abi::WatchRange> ranges;
  const std::string_view file(wish.what, strnlen(wish.what, sizeof wish.what));
  if (const auto image = imageOf(arena, number))
    for (const CodeRange &code : codeOfLine(image->path, file, wish.line))
      ranges.push_back({code.begin + image->load_bias, code.end + image->load_bias});
  return ranges;
}

} // namespace

void answerWatch(ArenaReader &arena, const abi::WatchWish &wish) {
  if (const uint32_t image = arena.askedImage(); image != 0)
    arena.answerImage(rangesOf(arena, image, wish));
}

} // namespace msleaks::analysis
