// Reads site tables (abi/site_table.h) from bytes that may be damaged. Checks each offset and size before it is used.
// Time and memory are linear in the size of the input.
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

// The sites of one translation unit. It can be moved and copied; copies share the strings.
class SiteTable {
public:
  // Reads the table at the front of `bytes`. More bytes may follow the table.
  static Result<SiteTable> read(std::span<const std::byte> bytes);

  std::string_view source() const { return source_; }     // the unit's main file
  std::string_view producer() const { return producer_; } // the pass that wrote it
  std::span<const Site> sites() const { return sites_; }  // in row order
  // Calls in functions that only pass the block on to their caller. Without a line: all calls of the function.
  std::span<const InlineFrame> wrappers() const { return wrappers_; }
  // The same for calls of another unit's functions, if those functions are wrappers.
  std::span<const InlineFrame> forwards() const { return forwards_; }
  size_t bytes() const { return bytes_; } // size of the table

private:
  std::shared_ptr<const std::vector<char>> strings_;
  std::shared_ptr<const std::vector<InlineFrame>> frames_;
  std::string_view source_, producer_;
  std::vector<Site> sites_;
  std::span<const InlineFrame> wrappers_, forwards_; // parts of frames_
  size_t bytes_ = 0;
};

// Reads all tables of a section msl_sites. The tables follow one another, with zeros between them.
Result<std::vector<SiteTable>> readSiteTables(std::span<const std::byte> section);

// Reads the sections msl_sites of executables, shared libraries, object files and archives, also of stripped ones.

// The tables of one object: of a whole file, or of one member of an archive.
struct ObjectSites {
  std::string member; // name of the member in the archive; empty for a whole file
  std::vector<SiteTable> tables;
};

// Returns only objects that have sites. Fails if no object has sites, and then says what to do.
Result<std::vector<ObjectSites>> readSiteSections(const std::filesystem::path &file);

} // namespace msleaks::analysis::inline places
