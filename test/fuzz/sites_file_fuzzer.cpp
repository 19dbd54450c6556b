// Fuzzes the reader of `msleaks sites`: ELF files, archives, and the tables in them.
#include "analysis/places/site_table.h"
#include "analysis/text/site_text.h"
#include "named_memory.h"

#include <sstream>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  using namespace msleaks;
  static NamedMemory memory;
  const auto objects = analysis::readSiteSections(memory.store({bytes, size}));
  if (!objects)
    return objects.error().message.find('\n') == std::string::npos ? 0 : (std::abort(), 0);
  std::ostringstream out;
  for (const analysis::ObjectSites &object : *objects)
    for (const analysis::SiteTable &table : object.tables)
      for (const analysis::Site &site : table.sites())
        analysis::writeSiteJson(out, analysis::textOf(site));
  return 0;
}
