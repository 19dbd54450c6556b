// Builds the bytes of a perf.data file, as `perf record` would write it for given events and records.
#pragma once

#include "analysis/counts/perf_file.h"
#include "analysis/counts/perf_samples.h"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>
#include <zstd.h>

namespace msleaks::analysis::profiles {

class PerfBytes {
public:
  template <class T> PerfBytes &add(T value) {
    text_.append(reinterpret_cast<const char *>(&value), sizeof value);
    return *this;
  }
  PerfBytes &u32(uint32_t value) { return add(value); }
  PerfBytes &u64(uint64_t value) { return add(value); }
  // Adds the text, and one to eight zeros, so that the text and the zeros are a multiple of eight bytes.
  PerfBytes &padded(const std::string &text) {
    text_ += text;
    text_.append(8 - text.size() % 8, '\0');
    return *this;
  }
  PerfBytes &raw(const std::string &text) {
    text_ += text;
    return *this;
  }
  const std::string &text() const { return text_; }

private:
  std::string text_;
};

class PerfFixture : public ::testing::Test {
protected:
  static constexpr uint64_t kFields = kPerfIp | kPerfTid | kPerfTime | kPerfPeriod;
  static constexpr uint64_t kFrequency = 1 << 10, kIdsEverywhere = 1 << 18;

  void SetUp() override { ASSERT_TRUE(std::filesystem::create_directories(folder_) || true); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void event(uint64_t fields, uint64_t id, uint64_t flags = kFrequency | kIdsEverywhere, uint64_t period = 999) {
    fields_ = fields;
    PerfBytes attribute;
    attribute.u32(1).u32(128).u64(0).u64(period).u64(fields).u64(0).u64(flags);
    attributes_.push_back(attribute.text() + std::string(128 - attribute.text().size(), '\0'));
    ids_.push_back(id);
  }
  void record(uint32_t kind, uint16_t misc, const std::string &body) {
    records_.add(kind).add(misc).add(static_cast<uint16_t>(8 + body.size())).raw(body);
  }
  // Returns the last fields of a record that is not a sample: pid, tid, time, and, if it is recorded, the event's id.
  std::string tail(uint64_t time) const {
    PerfBytes bytes;
    bytes.u32(7).u32(7).u64(time);
    if ((fields_ & kPerfIdentifier) != 0)
      bytes.u64(ids_.front());
    return bytes.text();
  }
  void map(uint32_t pid, uint64_t begin, uint64_t size, uint64_t offset, const std::string &path, uint64_t time,
           uint32_t protection = 5) {
    record(10, 2,
           PerfBytes()
               .u32(pid)
               .u32(pid)
               .u64(begin)
               .u64(size)
               .u64(offset)
               .raw(std::string(24, '\0'))
               .u32(protection)
               .u32(2)
               .padded(path)
               .raw(tail(time))
               .text());
  }
  void sample(uint32_t pid, uint64_t address, uint64_t time, uint64_t period, uint16_t misc = 2) {
    record(9, misc, PerfBytes().u64(address).u32(pid).u32(pid).u64(time).u64(period).text());
  }
  void fork(uint32_t pid, uint32_t parent, uint64_t time) {
    record(7, 0, PerfBytes().u32(pid).u32(parent).u32(pid).u32(parent).u64(time).raw(tail(time)).text());
  }
  void exec(uint32_t pid, uint64_t time) {
    record(3, 1 << 13, PerfBytes().u32(pid).u32(pid).padded("x").raw(tail(time)).text());
  }
  void round() { record(68, 0, ""); }
  // Adds the records that `make` writes as one compressed stream. The file stores the stream in compressed records of
  // `piece` bytes each.
  template <class Make> void packed(Make make, size_t piece, bool is_aligned = false) {
    PerfBytes before = std::exchange(records_, {});
    make();
    const std::string plain = std::exchange(records_, before).text();
    std::string stream(ZSTD_compressBound(plain.size()), '\0');
    stream.resize(ZSTD_compress(stream.data(), stream.size(), plain.data(), plain.size(), 1));
    for (size_t at = 0; at < stream.size(); at += piece) {
      const std::string part = stream.substr(at, piece);
      record(is_aligned ? 83 : 81, 0, is_aligned ? PerfBytes().u64(part.size()).padded(part).text() : part);
    }
  }

  std::string file() const {
    constexpr uint64_t kHeader = 104, kAttribute = 128 + 16;
    const uint64_t attributes = kHeader + 8 * ids_.size(), data = attributes + kAttribute * ids_.size();
    PerfBytes all;
    all.raw("PERFILE2")
        .u64(kHeader)
        .u64(kAttribute)
        .u64(attributes)
        .u64(kAttribute * ids_.size())
        .u64(data)
        .u64(records_.text().size());
    all.raw(std::string(16 + 32, '\0'));
    for (const uint64_t id : ids_)
      all.u64(id);
    for (size_t i = 0; i < ids_.size(); ++i)
      all.raw(attributes_[i]).u64(kHeader + 8 * i).u64(8);
    return all.raw(records_.text()).text();
  }
  // Returns this recording in the format that perf writes to a pipe, with the name of the first event.
  std::string pipe(const std::string &name) const {
    PerfBytes all, names;
    all.raw("PERFILE2").u64(16);
    for (size_t i = 0; i < ids_.size(); ++i)
      all.u32(64).u32((8 + 128 + 8) << 16).raw(attributes_[i]).u64(ids_[i]);
    names.u64(12).u32(1).u32(128).raw(attributes_[0]).u32(1);
    names.u32(static_cast<uint32_t>(name.size() + 1)).raw(name + '\0').u64(ids_[0]);
    all.u32(80).u32(static_cast<uint32_t>(8 + names.text().size()) << 16).raw(names.text());
    return all.raw(records_.text()).text();
  }
  std::string store(const std::string &content) {
    const std::string path = folder_ / "perf.data";
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  Result<PerfSamples> samplesOf(const std::string &content) {
    const auto input = MSL_TRY(InputFile::open(store(content)));
    const PerfFile perf = MSL_TRY(PerfFile::open(input));
    return readPerfSamples(input, perf);
  }
  // Returns the sum of the values of `event` in the samples at a place, or 0 if the place has no sample.
  static uint64_t at(const PerfSamples &samples, const std::string &path, uint64_t place, size_t event = 0) {
    for (const SampledImage &image : samples.images)
      for (size_t row = 0; image.path == path && row < image.sums.size(); ++row)
        if (image.sums.placeOf(row) == place)
          return image.sums.sumOf(row, event);
    return 0;
  }

  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("perf-test-" + std::to_string(::getpid()));
  uint64_t fields_ = 0;
  std::vector<std::string> attributes_;
  std::vector<uint64_t> ids_;
  PerfBytes records_;
};

} // namespace msleaks::analysis::profiles
