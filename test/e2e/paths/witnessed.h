// Reads the samples that witness.c has written. As in the trace, a call consists of an image and an offset in its file.
#pragma once

#include "witness.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace msleaks::test {

struct Call {
  std::string image; // name of the image's file; empty for code of no image
  uint64_t offset;
  friend bool operator==(const Call &, const Call &) = default;
};

struct Witnessed {
  uint64_t address, size, thread;
  uint64_t time_ns; // time at the middle of libunwind's walk of the stack
  std::vector<Call> calls;
  size_t known;       // number of calls that libunwind found by unwind tables; the later calls are guesses
  bool ended = false; // libunwind reached the first call of the thread
};

inline std::string nameOf(std::string_view path) { return std::filesystem::path(path).filename(); }

class WitnessFile {
public:
  explicit WitnessFile(const std::filesystem::path &path) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    words_.resize(bytes.size() / sizeof(uint64_t));
    std::memcpy(words_.data(), bytes.data(), words_.size() * sizeof(uint64_t));
  }

  // Returns the samples before the first record that was cut off or never written.
  std::vector<Witnessed> samples() {
    std::vector<Witnessed> samples;
    for (size_t at = 0; at < words_.size();) {
      const uint64_t kind = words_[at];
      if (kind == WITNESS_IMAGES) {
        images_.clear();
        ++at;
      } else if (Image image; kind == WITNESS_IMAGE && read(at, image, sizeof image)) {
        addImage(image, at);
      } else if (Sample sample; kind == WITNESS_SAMPLE && read(at, sample, offsetof(Sample, calls))) {
        samples.push_back(sampleOf(sample, at));
      } else {
        break;
      }
    }
    return samples;
  }

private:
  struct Loaded {
    Image image;
    std::string name;
  };

  bool read(size_t &at, auto &record, size_t bytes) const {
    if (at + bytes / sizeof(uint64_t) > words_.size())
      return false;
    std::memcpy(&record, &words_[at], bytes);
    at += bytes / sizeof(uint64_t);
    return true;
  }

  void addImage(const Image &image, size_t &at) {
    const uint64_t words = std::min(image.name_bytes / sizeof(uint64_t), words_.size() - at);
    const std::string path(reinterpret_cast<const char *>(&words_[at]), words * sizeof(uint64_t));
    images_.push_back({image, nameOf(path.c_str())});
    at += words;
  }

  Witnessed sampleOf(const Sample &sample, size_t &at) const {
    Witnessed seen{.address = sample.address,
                   .size = sample.size,
                   .thread = sample.thread,
                   .time_ns = sample.before_ns + (sample.after_ns - sample.before_ns) / 2,
                   .calls = {},
                   .known = SIZE_MAX,
                   .ended = sample.ended != 0};
    for (const size_t end = std::min(at + sample.count, words_.size()); at < end; ++at) {
      seen.calls.push_back(callAt(words_[at] & ~WITNESS_NO_TABLE));
      if ((words_[at] & WITNESS_NO_TABLE) != 0 && seen.known == SIZE_MAX)
        seen.known = seen.calls.size();
    }
    seen.known = std::min(seen.known, seen.calls.size());
    return seen;
  }

  Call callAt(uint64_t address) const {
    for (const Loaded &loaded : images_)
      if (address - loaded.image.begin < loaded.image.end - loaded.image.begin)
        return {loaded.name, address - loaded.image.bias};
    return {"", address};
  }

  std::vector<uint64_t> words_;
  std::vector<Loaded> images_;
};

} // namespace msleaks::test
