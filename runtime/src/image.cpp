#include "image.h"

#include "arm.h"
#include "definitions.h"
#include "loaded_object.h"
#include "python/calls.h"
#include "system.h"

#include "msleaks/abi/site_table.h"
#include "msleaks/runtime/page.h"

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

namespace msleaks::runtime {
namespace {

constexpr uint64_t aligned4(uint64_t value) { return (value + 3) & ~uint64_t{3}; }

void takeBuildId(const char *notes, uint64_t bytes, abi::ImageDefinition &image) noexcept {
  for (uint64_t at = 0; at + sizeof(ElfW(Nhdr)) <= bytes;) {
    const auto *note = reinterpret_cast<const ElfW(Nhdr) *>(notes + at);
    const uint64_t name = at + sizeof *note, description = name + aligned4(note->n_namesz);
    if (description + note->n_descsz > bytes)
      return;
    if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && std::memcmp(notes + name, "GNU", 4) == 0) {
      image.build_id_bytes = note->n_descsz < sizeof image.build_id ? note->n_descsz : sizeof image.build_id;
      std::memcpy(image.build_id, notes + description, image.build_id_bytes);
      return;
    }
    at = description + aligned4(note->n_descsz);
  }
}

void takeHeaders(const ElfW(Phdr) * headers, unsigned count, abi::ImageDefinition &image) noexcept {
  for (unsigned i = 0; i < count; ++i) {
    const ElfW(Phdr) &header = headers[i];
    const uint64_t begin = image.load_bias + header.p_vaddr;
    if (header.p_type == PT_NOTE && image.build_id_bytes == 0)
      takeBuildId(reinterpret_cast<const char *>(begin), header.p_memsz, image);
    if (header.p_type != PT_LOAD)
      continue;
    if (image.begin == 0 || begin < image.begin)
      image.begin = begin & ~(pageBytes() - 1);
    if (begin + header.p_memsz > image.end)
      image.end = begin + header.p_memsz;
  }
}

} // namespace

bool findImage(const void *address, ImagePlace &place) noexcept {
  LoadedObject object;
  place.address = reinterpret_cast<uint64_t>(address);
  if (!findLoadedObject(place.address, object))
    return false;
  place.name = object.name;
  place.headers = object.headers;
  place.header_count = object.header_count;
  abi::ImageDefinition &image = place.definition;
  image.load_bias = object.load_bias;
  takeHeaders(object.headers, object.header_count, image);
  if (image.end <= object.begin) {
    image.begin = object.begin;
    image.end = object.end;
  }
  return true;
}

namespace {

// Returns a hash that identifies the image's file, from its build id and name.
uint32_t identityOf(const ImagePlace &place) noexcept {
  const uint32_t id = abi::fnv1a32(place.definition.build_id, place.definition.build_id_bytes);
  return place.name == nullptr
             ? id
             : abi::fnv1a32(reinterpret_cast<const unsigned char *>(place.name), std::strlen(place.name), id);
}

bool isSame(const Image &known, const ImagePlace &place) noexcept {
  const abi::ImageDefinition &found = place.definition;
  return known.begin == found.begin && known.end == found.end && known.load_bias == found.load_bias &&
         known.identity == identityOf(place);
}

struct LoadedSearch {
  const Arena &arena;
  uint32_t count;
  LoadedImages found;
};

bool isIn(const dl_phdr_info &object, uint64_t address) noexcept {
  for (unsigned i = 0; i < object.dlpi_phnum; ++i)
    if (const ElfW(Phdr) &header = object.dlpi_phdr[i];
        header.p_type == PT_LOAD && address - (object.dlpi_addr + header.p_vaddr) < header.p_memsz)
      return true;
  return false;
}

int visitLoaded(dl_phdr_info *object, size_t, void *argument) noexcept {
  auto &search = *static_cast<LoadedSearch *>(argument);
  for (uint32_t i = 0; i < search.count; ++i) {
    const Image &image = search.arena.images[i];
    if (image.load_bias != object->dlpi_addr || !isIn(*object, image.address))
      continue;
    ImagePlace place{};
    place.name = object->dlpi_name;
    place.definition.load_bias = object->dlpi_addr;
    takeHeaders(object->dlpi_phdr, object->dlpi_phnum, place.definition);
    if (image.identity == identityOf(place))
      search.found.add(i);
  }
  return 0;
}

} // namespace

LoadedImages findLoaded(const Arena &arena, uint32_t count) noexcept {
  LoadedSearch search{arena, count, {}};
  ::dl_iterate_phdr(visitLoaded, &search);
  return search.found;
}

namespace {

// Returns the absolute path of a library that was opened by a relative path such as ./plugin.so. The loader stores only
// the relative path. So the result is wrong if the process has changed its current folder since then. The symbolizer
// then finds no file, or finds a file with another build id and rejects it.
std::string_view wholePathOf(Arena &arena, std::string_view relative) noexcept {
  constexpr std::string_view kHere = "./";
  const long bytes = callKernel(SYS_getcwd, arena.executable, sizeof arena.executable); // size of the path with its NUL
  while (relative.starts_with(kHere))
    relative.remove_prefix(kHere.size());
  if (bytes <= 1 || arena.executable[0] != '/' || bytes + relative.size() > sizeof arena.executable)
    return relative;
  const auto folder = static_cast<uint64_t>(bytes) - 1;
  arena.executable[folder] = '/';
  std::memcpy(arena.executable + folder + 1, relative.data(), relative.size());
  return {arena.executable, folder + 1 + relative.size()};
}

} // namespace

std::string_view pathOf(Arena &arena, const ImagePlace &place) noexcept {
  if (place.name != nullptr && place.name[0] != 0) {
    const std::string_view name = place.name;
    return name[0] != '/' && name.find('/') != name.npos ? wholePathOf(arena, name) : name;
  }
  const long count = callKernel(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", arena.executable, sizeof arena.executable);
  return {arena.executable, count > 0 ? static_cast<uint64_t>(count) : 0};
}

static ImageKind kindHere(const abi::ImageDefinition &image, std::string_view path) noexcept {
  if (isInstrumented(image))
    return ImageKind::Own;
  return kindOf(image, path, ::getauxval(AT_BASE), python::python.symbols.import_module);
}

uint32_t numberOf(Arena &arena, const ImagePlace &place) noexcept {
  const abi::ImageDefinition &wanted = place.definition;
  for (uint32_t i = 0; i < arena.image_count; ++i) {
    Image &known = arena.images[i];
    if (!isSame(known, place))
      continue;
    __atomic_store_n(&known.gone, false, __ATOMIC_RELAXED);
    return i + 1;
  }
  if (arena.image_count >= kMaxImages)
    return 0;
  abi::ImageDefinition definition = wanted;
  definition.image = arena.image_count + 1;
  const std::string_view path = pathOf(arena, place);
  if (!defineImage(arena, definition, path))
    return 0;
  arena.images[arena.image_count] = {wanted.begin,      wanted.end, wanted.load_bias,      place.address,
                                     identityOf(place), false,      kindHere(wanted, path)};
  __atomic_store_n(&arena.image_count, arena.image_count + 1, __ATOMIC_RELEASE);
  return definition.image;
}

} // namespace msleaks::runtime
