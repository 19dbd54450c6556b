// msleaks sites FILE: lists the sites that the compiler plugin has stored in an executable, a library, an object file
// or an archive.
#include "analysis/places/site_table.h"
#include "analysis/text/site_text.h"
#include "verb.h"

#include <iostream>
#include <memory>

namespace msleaks::tools {
namespace {

constexpr size_t kColumns = 80;

// Calls f with each site, in the order of the file. For an archive, the text of a site's library contains the name of
// the archive's member.
template <class F> void forEachSite(const std::vector<analysis::ObjectSites> &objects, const std::string &file, F &&f) {
  for (const analysis::ObjectSites &object : objects)
    for (const analysis::SiteTable &table : object.tables)
      for (const analysis::Site &site : table.sites()) {
        analysis::SiteText text = analysis::textOf(site);
        if (!object.member.empty())
          text.library = file + "(" + object.member + ")";
        f(text);
      }
}

void writeSitesJson(const std::vector<analysis::ObjectSites> &objects, const std::string &file) {
  const char *separator = "[\n ";
  forEachSite(objects, file, [&](const analysis::SiteText &site) {
    std::cout << separator;
    analysis::writeSiteJson(std::cout, site);
    separator = ",\n ";
  });
  std::cout << (*separator == '[' ? "[" : "\n") << "]\n";
}

void writeSitesList(const std::vector<analysis::ObjectSites> &objects, const std::string &file) {
  size_t count = 0;
  forEachSite(objects, file, [&](const analysis::SiteText &site) {
    ++count;
    std::cout << analysis::placeOf(site, kColumns) << '\n';
    const std::string name = analysis::nameOf(site, kColumns - 4);
    const std::string callee = analysis::calleeOf(site, kColumns - 4);
    for (const std::string &line : {name, analysis::userPlaceOf(site, kColumns - 4), callee})
      if (!line.empty())
        std::cout << "    " << line << '\n';
  });
  std::cout << count << (count == 1 ? " site\n" : " sites\n");
}

struct SitesOptions {
  std::string file;
  bool json = false;
};

Result<ExitStatus> listSites(const SitesOptions &options) {
  const auto objects = MSL_TRY(analysis::readSiteSections(options.file));
  (options.json ? writeSitesJson : writeSitesList)(objects, options.file);
  return ExitStatus::Clean;
}

Action declareSites(CommandLine &line) {
  const auto options = std::make_shared<SitesOptions>();
  line.option("FILE", options->file, "names an executable, shared library, object file or static archive").required();
  line.flag("--json", options->json, "prints an array of sites as JSON (docs/report.md)");
  return [options] { return listSites(*options); };
}

} // namespace

MSL_REGISTER_VERB(sites, "lists the places that the compiler plugin marked in a file", declareSites)

} // namespace msleaks::tools
