#include "analysis/counts/perf_profile.h"

#include "analysis/base/machine.h"
#include "analysis/base/text.h"
#include "analysis/counts/disassembly.h"
#include "analysis/counts/perf_samples.h"
#include "analysis/places/elf_file.h"
#include "analysis/places/symbolizer.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

namespace msleaks::analysis::profiles {
namespace {

constexpr uint64_t kMostFunctionBytes = 16 << 20; // limit, because a symbol may claim any size

// A place that samples met, and its row of sums. The address is the one in the file.
struct Hit {
  uint64_t address = 0;
  uint32_t row = 0;
};

// The hits in one function of an image.
struct HitFunction {
  std::string name;
  uint64_t begin = 0, end = 0; // end == begin: the function's end is not known
  std::vector<Hit> hits;       // by address
};

// Converts offsets in a file to addresses of the file's symbols.
class Segments {
public:
  Segments() = default; // without a file, no offset has an address
  explicit Segments(Elf *elf) {
    size_t count = 0;
    if (elf_getphdrnum(elf, &count) != 0)
      return;
    for (size_t i = 0; i < count && i < UINT16_MAX; ++i)
      if (GElf_Phdr header; gelf_getphdr(elf, static_cast<int>(i), &header) && header.p_type == PT_LOAD)
        loaded_.push_back(header);
  }
  std::optional<uint64_t> addressOf(uint64_t offset) const {
    for (const GElf_Phdr &header : loaded_)
      if (offset >= header.p_offset && offset - header.p_offset < header.p_filesz)
        return offset - header.p_offset + header.p_vaddr;
    return std::nullopt;
  }

private:
  std::vector<GElf_Phdr> loaded_;
};

// The functions and instructions that the samples of an image met, from the image's own file.
struct ReadImage {
  std::vector<HitFunction> functions;
  std::vector<Instruction> instructions; // instructions of functions with many samples
  std::vector<std::string> notes;
};

using Sums = std::vector<uint64_t>; // sums of periods, one for each counter

class PerfImport {
public:
  PerfImport(const PerfFile &perf, PerfSamples samples, std::string objdump, const PerfOptions &options,
             std::vector<std::string> &notes);
  Profile run();

private:
  // Reads one image. The result does not depend on other images, so several images are read in parallel.
  ReadImage readImage(const SampledImage &) const;
  static std::optional<ElfFile> openImage(const SampledImage &, std::vector<std::string> &notes);
  static std::vector<HitFunction> functionsOf(const SampledImage &, const Segments &);
  void readText(const SampledImage &, ReadImage &) const;
  void addFunction(const SampledImage &, const HitFunction &, std::span<const Instruction>);

  void addTo(Sums &, const SampledImage &, uint32_t row) const;
  Sums sumOf(const SampledImage &, const HitFunction &) const;
  bool isHot(const Sums &) const;
  std::string freeName(const std::string &name, const SampledImage &, uint64_t begin) const;
  void tellLosses();

  const PerfFile &perf_;
  const PerfSamples samples_;
  const std::string objdump_;
  const PerfOptions &options_;
  std::vector<std::string> &notes_;
  std::vector<size_t> column_of_event_; // Two events with one name have one column.
  Sums totals_;
  Profile profile_;
};

PerfImport::PerfImport(const PerfFile &perf, PerfSamples samples, std::string objdump, const PerfOptions &options,
                       std::vector<std::string> &notes)
    : perf_(perf), samples_(std::move(samples)), objdump_(std::move(objdump)), options_(options), notes_(notes) {
  for (size_t event = 0; event < perf_.events.size(); ++event)
    profile_.counters[perf_.events[event].name] += samples_.totals[event];
  for (const PerfEvent &event : perf_.events)
    column_of_event_.push_back(
        static_cast<size_t>(std::distance(profile_.counters.begin(), profile_.counters.find(event.name))));
  for (const auto &[name, total] : profile_.counters)
    totals_.push_back(total);
}

void PerfImport::addTo(Sums &sums, const SampledImage &image, uint32_t row) const {
  for (size_t event = 0; event < column_of_event_.size(); ++event)
    sums[column_of_event_[event]] += image.sums.sumOf(row, event);
}

Sums PerfImport::sumOf(const SampledImage &image, const HitFunction &function) const {
  Sums sums(totals_.size());
  for (const Hit &hit : function.hits)
    addTo(sums, image, hit.row);
  return sums;
}

double percentOf(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : 100 * (static_cast<double>(part) / static_cast<double>(whole));
}

bool PerfImport::isHot(const Sums &sums) const {
  for (size_t i = 0; i < sums.size(); ++i)
    if (sums[i] > 0 && percentOf(sums[i], totals_[i]) >= options_.least_percent)
      return true;
  return false;
}

// Returns the name for functions of an image that have no known names.
std::string nameOf(const SampledImage &image) {
  if (image.path.empty())
    return "[unknown]";
  if (image.path.starts_with('['))
    return image.path.substr(0, image.path.find(']')) + "]"; // perf may write "[kernel.kallsyms]_text"
  return fmt::format("[{}]", baseName(image.path));
}

// Returns a name that the profile does not have yet. Several images may have functions of one name, and so may several
// files of one image.
std::string PerfImport::freeName(const std::string &name, const SampledImage &image, uint64_t begin) const {
  std::string candidate = name;
  for (unsigned i = 0; profile_.functions.contains(candidate); ++i)
    candidate = i == 0   ? fmt::format("{} [{}]", name, baseName(image.path))
                : i == 1 ? fmt::format("{} [{}+{:#x}]", name, baseName(image.path), begin)
                         : fmt::format("{} [{}+{:#x}] {}", name, baseName(image.path), begin, i);
  return candidate;
}

// Opens the image's file. Returns nothing if the file is not the file that ran.
std::optional<ElfFile> PerfImport::openImage(const SampledImage &image, std::vector<std::string> &notes) {
  if (image.kernel || !image.path.starts_with('/') || image.path.starts_with("//"))
    return std::nullopt;
  auto elf = ElfFile::open(image.path);
  if (!elf) {
    notes.push_back(elf.error().message + "; its functions have no names");
    return std::nullopt;
  }
  if (!image.build_id.empty() && buildIdOf(elf->handle()) != image.build_id) {
    notes.push_back(fmt::format("{}: changed since it was recorded; its functions have no names", image.path));
    return std::nullopt;
  }
  return std::optional<ElfFile>(std::move(*elf));
}

std::vector<HitFunction> PerfImport::functionsOf(const SampledImage &image, const Segments &segments) {
  std::vector<Hit> hits;
  HitFunction unnamed{nameOf(image), 0, 0, {}};
  for (uint32_t row = 0; row < image.sums.size(); ++row) {
    const uint64_t offset = image.sums.placeOf(row);
    if (const auto address = segments.addressOf(offset))
      hits.push_back({*address, row});
    else
      unnamed.hits.push_back({offset, row});
  }
  std::sort(hits.begin(), hits.end(), [](const Hit &left, const Hit &right) { return left.address < right.address; });
  const ImageFile file{image.path, image.build_id};
  Symbolizer symbolizer;
  std::vector<HitFunction> functions;
  std::unordered_map<uint64_t, size_t> numbers; // by begin: index in `functions`
  size_t current = 0;
  for (const Hit &hit : hits) {
    if (functions.empty() || hit.address < functions[current].begin || hit.address >= functions[current].end) {
      const FunctionExtent extent = symbolizer.extentAt(file, hit.address);
      if (extent.name.empty()) {
        unnamed.hits.push_back(hit);
        continue;
      }
      const auto [known, fresh] = numbers.try_emplace(extent.begin, functions.size());
      current = known->second; // If a function contains another one, its later hits come after the other's hits.
      if (fresh)
        functions.push_back({demangle(extent.name), extent.begin, extent.end, {}});
    }
    functions[current].hits.push_back(hit);
  }
  std::sort(unnamed.hits.begin(), unnamed.hits.end(),
            [](const Hit &left, const Hit &right) { return left.address < right.address; });
  if (!unnamed.hits.empty())
    functions.push_back(std::move(unnamed));
  return functions;
}

// Reads the instructions of functions with many samples.
void PerfImport::readText(const SampledImage &image, ReadImage &read) const {
  std::vector<AddressRange> ranges;
  for (const HitFunction &function : read.functions)
    if (function.end > function.begin && function.end - function.begin <= kMostFunctionBytes &&
        isHot(sumOf(image, function)))
      ranges.push_back({function.begin, function.end});
  if (ranges.empty() || objdump_.empty())
    return;
  std::sort(ranges.begin(), ranges.end(),
            [](const AddressRange &left, const AddressRange &right) { return left.begin < right.begin; });
  read.instructions = disassemble(objdump_, image.path, ranges);
  if (read.instructions.empty())
    read.notes.push_back(
        fmt::format("{}: {} shows no instructions of it; its lines have offsets instead", image.path, objdump_));
}

// Adds the function to the profile. A hit counts for the instruction that contains it. Without instructions, each hit
// gets a line of its own.
void PerfImport::addFunction(const SampledImage &image, const HitFunction &function,
                             std::span<const Instruction> instructions) {
  const Sums whole = sumOf(image, function);
  const bool listed = function.end > function.begin && isHot(whole);
  const auto by_address = [](const Instruction &left, uint64_t address) { return left.address < address; };
  auto next =
      std::lower_bound(instructions.begin(), instructions.end(), listed ? function.begin : UINT64_MAX, by_address);
  const auto end = std::lower_bound(next, instructions.end(), listed ? function.end : UINT64_MAX, by_address);
  ProfiledFunction made;
  size_t column = 0;
  for (const auto &[name, total] : profile_.counters) {
    made.counters[name] = percentOf(whole[column], total);
    ++column;
  }
  const auto addLine = [&](uint64_t address, std::string text, const Sums &of_line) {
    ProfiledLine line{std::vector<double>(whole.size()), address, std::move(text)};
    for (size_t i = 0; i < whole.size(); ++i)
      line.shares[i] = percentOf(of_line[i], whole[i]);
    made.lines.push_back(std::move(line));
  };
  auto hit = function.hits.begin();
  const auto addHit = [&](const Hit &alone) {
    Sums of_hit(totals_.size());
    addTo(of_hit, image, alone.row);
    addLine(alone.address,
            function.begin == 0 ? std::string() : fmt::format("<+{:#x}>", alone.address - function.begin), of_hit);
  };
  Sums sums(totals_.size());
  made.lines.reserve(static_cast<size_t>(end - next));
  for (; next != end; ++next) {
    for (; hit != function.hits.end() && hit->address < next->address; ++hit)
      addHit(*hit);
    std::fill(sums.begin(), sums.end(), 0);
    const uint64_t behind = next + 1 != end ? (next + 1)->address : function.end;
    for (; hit != function.hits.end() && hit->address < behind; ++hit)
      addTo(sums, image, hit->row);
    addLine(next->address, next->text, sums);
  }
  for (; hit != function.hits.end(); ++hit)
    addHit(*hit);
  profile_.functions.emplace(freeName(function.name, image, function.begin), std::move(made));
}

ReadImage PerfImport::readImage(const SampledImage &image) const {
  ReadImage read;
  if (image.sums.size() == 0)
    return read;
  if (const auto elf = openImage(image, read.notes)) {
    read.functions = functionsOf(image, Segments(elf->handle()));
    readText(image, read);
  } else {
    read.functions = functionsOf(image, Segments());
  }
  return read;
}

void PerfImport::tellLosses() {
  if (samples_.samples == 0)
    notes_.push_back("has no samples");
  if (samples_.lost > 0)
    notes_.push_back(fmt::format("perf lost {} samples while it recorded", samples_.lost));
  if (samples_.unknown_events > 0)
    notes_.push_back(fmt::format("{} samples are of events that the file does not describe; they are left out",
                                 samples_.unknown_events));
  if (options_.text && objdump_.empty())
    notes_.push_back("there is no objdump or llvm-objdump on PATH: lines have offsets instead of instructions");
}

Profile PerfImport::run() {
  tellLosses();
  std::vector<ReadImage> read(samples_.images.size());
  eachInParallel(read.size(), [&](size_t i) { read[i] = readImage(samples_.images[i]); });
  for (size_t i = 0; i < read.size(); ++i) {
    notes_.insert(notes_.end(), read[i].notes.begin(), read[i].notes.end());
    for (const HitFunction &function : read[i].functions)
      addFunction(samples_.images[i], function, read[i].instructions);
  }
  return std::move(profile_);
}

} // namespace

Result<Profile> readPerfProfile(const InputFile &file, const PerfOptions &options, std::vector<std::string> &notes) {
  std::string objdump = options.text ? MSL_TRY(findObjdump(options.objdump)) : std::string();
  const PerfFile perf = MSL_TRY(PerfFile::open(file));
  PerfSamples samples = MSL_TRY(readPerfSamples(file, perf));
  Profile profile = PerfImport(perf, std::move(samples), std::move(objdump), options, notes).run();
  MSL_TRY(checkProfile(profile));
  return profile;
}

} // namespace msleaks::analysis::profiles
