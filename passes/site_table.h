// Builds the bytes of a module's table of sites (abi/site_table.h).
#pragma once

#include "site.h"
#include "table_bytes.h"

#include "msleaks/abi/site_table.h"

#include <map>
#include <string>
#include <vector>

namespace msleaks::passes {

class SiteTable {
public:
  SiteTable(std::string_view source, std::string_view producer);

  // Returns the number of the site's row. Copies of one call, as in an unrolled loop, share one row.
  uint32_t add(const Site &site);
  // Call this after all sites were added.
  void setWrappers(const WrapperCalls &calls);
  std::string bytes() const;

private:
  abi::FrameRow frameOf(const SourcePlace &place);
  uint32_t addChain(const std::vector<SourcePlace> &chain);

  TableStrings strings_;
  std::vector<abi::SiteRow> rows_;
  std::vector<abi::FrameRow> frames_;
  uint32_t first_wrapper_ = 0, first_forward_ = 0;
  std::map<std::string, uint32_t> row_by_bytes_;
  std::map<std::string, uint32_t> chain_by_bytes_;
  abi::StringOffset source_, producer_;
};

} // namespace msleaks::passes
