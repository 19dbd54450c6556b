#include "analysis/foreign/foreign_analyzer.h"

#include "analysis/foreign/foreign_conclusion.h"

#include <algorithm>
#include <array>
#include <dlfcn.h>
#include <exception>
#include <fmt/format.h>
#include <string_view>

namespace msleaks::analysis::inline foreign {
namespace {

analyzer::Block blockOf(const Block &block) {
  return {block.address,    block.size,
          block.bytes(),    block.time_ns,
          block.id.index,   block.cohort.index,
          block.site.index, block.process,
          block.stream,     static_cast<uint8_t>(block.heap),
          block.device,     0};
}

analyzer::Birth birthOf(AllocCause cause) {
  switch (cause) {
  case AllocCause::Allocated:
    return analyzer::Birth::Allocated;
  case AllocCause::Reallocated:
    return analyzer::Birth::Reallocated;
  case AllocCause::Restored:
    return analyzer::Birth::Restored;
  case AllocCause::Remainder:
    return analyzer::Birth::Remainder;
  case AllocCause::WasThere:
    return analyzer::Birth::WasThere;
  }
  return analyzer::Birth::Allocated;
}

analyzer::Death deathOf(FreeCause cause) {
  switch (cause) {
  case FreeCause::Freed:
    return analyzer::Death::Freed;
  case FreeCause::Reallocated:
    return analyzer::Death::Reallocated;
  case FreeCause::Replaced:
    return analyzer::Death::Replaced;
  case FreeCause::Remainder:
    return analyzer::Death::Remainder;
  case FreeCause::ProcessExited:
    return analyzer::Death::ProcessExited;
  case FreeCause::ProcessKilled:
    return analyzer::Death::ProcessKilled;
  case FreeCause::ProcessExec:
    return analyzer::Death::ProcessExec;
  case FreeCause::StillAlive:
    return analyzer::Death::StillAlive;
  }
  return analyzer::Death::Freed;
}

} // namespace

ForeignAnalyzer::ForeignAnalyzer(const AnalyzerLibrary &library) : plugin_(library.plugin()), file_(library.file()) {
  call([&] { return plugin_.make(&self_); });
  if (!failure_ && plugin_.eventKinds != nullptr)
    call([&] {
      event_kinds_ = plugin_.eventKinds(self_);
      return nullptr;
    });
}

ForeignAnalyzer::~ForeignAnalyzer() {
  if (self_ == nullptr)
    return;
  try {
    plugin_.destroy(self_);
  } catch (...) { // ignored: the report is already complete
  }
}

// An analyzer that does not use our header may throw exceptions.
template <class Call> void ForeignAnalyzer::call(Call call) const {
  if (failure_)
    return;
  const auto fails = [&](const char *why) {
    failure_ =
        fmt::format("analyzer '{}' ({}) failed, and nothing of it is in the report: {}", plugin_.name, file_, why);
  };
  try {
    if (const char *why = call(); why != nullptr)
      fails(why);
  } catch (const std::exception &thrown) {
    fails(thrown.what());
  } catch (...) {
    fails("something that is no std::exception");
  }
}

void ForeignAnalyzer::onAlloc(const Block &block, AllocCause cause, uint64_t time_ns) {
  if (plugin_.onAlloc == nullptr)
    return;
  const analyzer::Block told = blockOf(block);
  call([&] { return plugin_.onAlloc(self_, &told, birthOf(cause), time_ns); });
}

void ForeignAnalyzer::onFree(const Block &block, FreeCause cause, uint64_t time_ns) {
  if (plugin_.onFree == nullptr)
    return;
  const analyzer::Block told = blockOf(block);
  call([&] { return plugin_.onFree(self_, &told, deathOf(cause), time_ns); });
}

void ForeignAnalyzer::onRetarget(const Block &block, const Block &before, uint64_t time_ns) {
  if (plugin_.onRetarget == nullptr)
    return;
  const analyzer::Block told = blockOf(block), told_before = blockOf(before);
  call([&] { return plugin_.onRetarget(self_, &told, &told_before, time_ns); });
}

void ForeignAnalyzer::onEvent(const StreamEvent &event, SiteId site) {
  if (plugin_.onEvent == nullptr)
    return;
  constexpr uint32_t kMostFields = 16;
  std::array<uint64_t, kMostFields> fields{};
  uint32_t count = 0;
  abi::dispatch(event.event, [&](auto known) {
    abi::visitFields(known, [&](const char *, abi::Repr, auto value) {
      if (count < kMostFields)
        fields[count++] = value;
    });
  });
  const abi::EventHeader &header = event.event.header();
  const analyzer::Event told{header.time,
                             fields.data(),
                             count,
                             event.process,
                             event.stream,
                             site.index,
                             static_cast<uint16_t>(header.flags),
                             static_cast<uint8_t>(header.kind),
                             static_cast<uint8_t>(header.heap),
                             static_cast<uint8_t>(header.device),
                             {}};
  call([&] { return plugin_.onEvent(self_, &told); });
}

void ForeignAnalyzer::onProcessEnd(uint32_t process, const ProcessFate &fate) {
  if (plugin_.onProcessEnd != nullptr)
    call([&] { return plugin_.onProcessEnd(self_, process, deathOf(fate.cause), fate.exit_status, fate.time_ns); });
}

void ForeignAnalyzer::conclude(Conclusion &conclusion) const {
  if (plugin_.conclude == nullptr)
    return;
  ForeignConclusion foreign(plugin_.name, conclusion);
  call([&] { return plugin_.conclude(self_, &foreign.host()); });
  if (!failure_)
    foreign.commit();
}

namespace {

std::string refusalOf(const std::string &file, const std::string &why) {
  return fmt::format("analyzer '{}' is not used: {}", file, why);
}

// Whether the text can be a part of the names of findings and tables.
bool isName(const char *text) {
  const std::string_view name = text == nullptr ? "" : text;
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

std::string describe(const char *failure) { return failure == nullptr ? "the reason is not known" : failure; }

} // namespace

Result<AnalyzerLibrary> AnalyzerLibrary::load(const std::filesystem::path &given) {
  const auto refuse = [&](const std::string &why) { return fail(refusalOf(given.string(), why)); };
  // dlopen searches for a name without a folder in the system's folders.
  const std::filesystem::path file = given.has_parent_path() ? given : std::filesystem::path(".") / given;
  void *library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return refuse(fmt::format("it cannot be loaded: {}", describe(::dlerror())));
  const auto *plugin = static_cast<const analyzer::Plugin *>(::dlsym(library, analyzer::kPluginSymbol));
  if (plugin == nullptr)
    return refuse(fmt::format("it has no symbol {}: end its source with MSL_ANALYZER of msleaks/analyzer.h",
                              analyzer::kPluginSymbol));
  if (plugin->version == 0 || plugin->version > analyzer::kAnalyzerVersion)
    return refuse(fmt::format("it was built for version {} of msleaks/analyzer.h, and this msleaks knows up to {}: "
                              "build it again with the header of this msleaks",
                              plugin->version, analyzer::kAnalyzerVersion));
  if (plugin->bytes < sizeof(analyzer::Plugin) || plugin->make == nullptr || plugin->destroy == nullptr ||
      !isName(plugin->name))
    return refuse("its description is wrong: it needs a name of letters, digits, `_` and `-`, and the functions make "
                  "and destroy. End its source with MSL_ANALYZER of msleaks/analyzer.h");
  return AnalyzerLibrary(plugin, given.string());
}

LoadedAnalyzers loadAnalyzers(const std::vector<std::string> &files) {
  LoadedAnalyzers loaded;
  for (const std::string &file : files) {
    auto library = AnalyzerLibrary::load(file);
    if (!library) {
      loaded.refusals.push_back(library.error().message);
      continue;
    }
    const std::string_view name = library->plugin().name;
    const auto same = std::find_if(loaded.libraries.begin(), loaded.libraries.end(),
                                   [&](const AnalyzerLibrary &other) { return other.plugin().name == name; });
    if (same == loaded.libraries.end())
      loaded.libraries.push_back(std::move(*library));
    else
      loaded.refusals.push_back(
          refusalOf(file, fmt::format("'{}' is called {}, too: give one of them another name", same->file(), name)));
  }
  return loaded;
}

} // namespace msleaks::analysis::inline foreign
