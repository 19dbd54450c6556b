// Reads site tables (abi/site_table.h) from bytes that nobody vouches for: every offset and size is checked before use,
// time and memory are linear in the input.
#pragma once

#include "analysis/base/result.h"
#include "analysis/places/site.h"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace msleaks::analysis::inline places {

// The sites of one translation unit. Movable and copyable; the strings are shared between copies.
class SiteTable {
public:
  // The table at the front of `bytes`, which may go on behind it.
  static Result<SiteTable> read(std::span<const std::byte> bytes);

  std::string_view source() const { return source_; }     // the unit's main file
  std::string_view producer() const { return producer_; } // which pass wrote it
  std::span<const Site> sites() const { return sites_; }  // in row order
  // Calls in functions that only take the block for their caller; without a line, any call of the function.
  std::span<const InlineFrame> wrappers() const { return wrappers_; }
  // The same of calls of another unit's functions, if those are wrappers.
  std::span<const InlineFrame> forwards() const { return forwards_; }
  size_t bytes() const { return bytes_; } // of the table

private:
  std::shared_ptr<const std::vector<char>> strings_;
  std::shared_ptr<const std::vector<InlineFrame>> frames_;
  std::string_view source_, producer_;
  std::vector<Site> sites_;
  std::span<const InlineFrame> wrappers_, forwards_; // in frames_
  size_t bytes_ = 0;
};

// Every table of a whole msl_sites section: tables side by side, zeros between them.
Result<std::vector<SiteTable>> readSiteTables(std::span<const std::byte> section);

// The msl_sites sections of files: executables, shared libraries, object files, static archives; also stripped ones.

// The tables of one object: of the file itself, or of one member of an archive.
struct ObjectSites {
  std::string member; // name in the archive; empty for the file itself
  std::vector<SiteTable> tables;
};

// Only objects that have sites. A file without any fails, and says what to do.
Result<std::vector<ObjectSites>> readSiteSections(const std::filesystem::path &file);

} // namespace msleaks::analysis::inline places
