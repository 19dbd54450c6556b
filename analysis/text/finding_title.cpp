#include "analysis/text/finding_title.h"

#include "analysis/base/text.h"
#include "analysis/places/function_name.h"
#include "analysis/result/finding_kinds.h"
#include "analysis/text/parts.h"
#include "analysis/text/site_text.h"

#include <fmt/format.h>
#include <iterator>

namespace msleaks::analysis::inline text {
namespace {

// Returns for example "device 1" or "host".
std::string accountText(const Finding &finding) {
  return finding.device == 0 ? std::string(abi::nameOf(finding.heap))
                             : fmt::format("{} {}", abi::nameOf(finding.heap), finding.device);
}

const std::string &typeOf(const Finding &finding) {
  return finding.site.type.empty() ? finding.allocator.type : finding.site.type;
}

// Returns the type. A short type keeps its template arguments: "std::vector<float>".
std::string shortTypeOf(const Finding &finding) {
  constexpr size_t kWidestType = 40;
  const std::string type = plainName(printable(typeOf(finding)));
  return widthOf(type) <= kWidestType ? type : withoutTemplateArguments(type);
}

// Returns for example "1 block of `float` (512 B)" or "1,234 blocks (3.2 MiB)".
std::string blocksOf(const Finding &finding) {
  const std::string type = shortTypeOf(finding);
  return fmt::format("{}{} ({})", blocksText(finding.count), type.empty() ? "" : fmt::format(" of `{}`", type),
                     bytesText(finding.bytes));
}

const char *are(const Finding &finding) { return finding.count == 1 ? "is" : "are"; }
// Returns the ending of a verb: "s" for one block ("stays"), else nothing ("stay").
const char *singularEnding(const Finding &finding) { return finding.count == 1 ? "s" : ""; }
const char *its(const Finding &finding) { return finding.count == 1 ? "its" : "their"; }

// Returns the first holder on the way to a block: "`cache` (a.c:4)" or "the stack of thread 7".
std::string rootIn(const std::string &holders) {
  constexpr std::string_view kGlobal = "global ", kArrow = " → ";
  const std::string root = holders.substr(0, holders.find(kArrow));
  const size_t place = root.rfind(" (");
  if (!root.starts_with(kGlobal))
    return root.starts_with("memory") || root.starts_with("thread-local") ? root : "the " + root;
  return place == std::string::npos
             ? "the " + root
             : fmt::format("`{}`{}", root.substr(kGlobal.size(), place - kGlobal.size()), root.substr(place));
}

// Returns for example ", 2.9 KiB a step" or ", 316 B a round (27 found, each begins at a.c:29)". A round is a repeated
// part of the run that msleaks itself has found.
std::string growthOf(const Finding &finding) {
  const auto bytes = numberIn(finding, "growth_bytes_per_step");
  if (!bytes)
    return {};
  const std::string anchor = textIn(finding, "period_found");
  if (anchor.empty())
    return fmt::format(", {} a step", bytesText(*bytes));
  return fmt::format(", {} a round ({} found, each begins at {})", bytesText(*bytes),
                     countText(numberIn(finding, "period_rounds").value_or(0)), anchor);
}

// Returns for example ", nor to 3 blocks (2.9 KiB) that only they lead to".
std::string ledTo(const Finding &finding) {
  const auto blocks = numberIn(finding, "leads_to_blocks");
  if (!blocks)
    return {};
  return fmt::format(", nor to {} ({}) that only {} to", blocksText(*blocks),
                     bytesText(numberIn(finding, "leads_to_bytes").value_or(0)),
                     finding.count == 1 ? "it leads" : "they lead");
}

std::string leakText(const Finding &finding) {
  const std::string blocks = blocksOf(finding), reach = textIn(finding, "reach"), holders = holdersOf(finding);
  if (!finding.closed_library.empty())
    return fmt::format("`{}` still has {} at exit", printable(baseName(finding.closed_library)), blocks);
  if (reach == "lost")
    return fmt::format("nothing points to {} any more{}", blocks, ledTo(finding));
  if (reach == "indirect")
    return fmt::format("only lost blocks lead to {}", blocks);
  if (reach == "held" && !holders.empty())
    return fmt::format("{} {} still held by {} at exit", blocks, are(finding), rootIn(holders));
  return fmt::format("{} {} still there at exit", blocks, are(finding));
}

std::string forTime(const Finding &finding) {
  const auto idle_ns = numberIn(finding, "idle_ns");
  return idle_ns ? durationText(*idle_ns) + " " : "";
}

std::string earlyText(const Finding &finding) {
  const char *first = numberIn(finding, "touched_bytes") ? "touch" : "use";
  return fmt::format("{} {} allocated {}before {} first {}", blocksOf(finding), are(finding), forTime(finding),
                     its(finding), first);
}

std::string lateText(const Finding &finding) {
  if (!textIn(finding, "replaced_by").empty())
    return fmt::format("{} of an optimizer's state stay{} allocated {}after another optimizer has replaced it",
                       blocksOf(finding), singularEnding(finding), forTime(finding));
  return fmt::format("{} stay{} allocated {}after {} last use", blocksOf(finding), singularEnding(finding),
                     forTime(finding), its(finding));
}

std::string unusedText(const Finding &finding) {
  return fmt::format("{} {} never {}", blocksOf(finding), are(finding),
                     numberIn(finding, "touched_bytes") ? "touched" : "used");
}

std::string overallocatedText(const Finding &finding) {
  if (const auto sampled = numberIn(finding, "sampled_blocks"))
    return fmt::format("{} of {} hold only zeros, by a sample of {}", bytesText(finding.bytes),
                       blocksText(finding.count), countText(*sampled));
  return fmt::format("{} of {} {} never touched", bytesText(finding.bytes), blocksText(finding.count),
                     finding.count == 1 ? "is" : "are");
}

std::string capacityText(const Finding &finding) {
  const bool is_one = finding.count == 1;
  return fmt::format("{} of {} {} not touched after {} last grew", bytesText(finding.bytes), blocksText(finding.count),
                     is_one ? "was" : "were", is_one ? "it" : "they");
}

std::string copyText(const Finding &finding) {
  if (const std::string source = textIn(finding, "copied_from"); !source.empty())
    return fmt::format("{} {} {} of the block of {}, alive {}beside {}", blocksOf(finding), are(finding),
                       finding.count == 1 ? "a copy" : "copies", source, forTime(finding),
                       finding.count == 1 ? "it" : "them");
  const bool beside_parameters = !textIn(finding, "parameters_at").empty();
  const bool beside_state = !textIn(finding, "state_at").empty();
  if (beside_parameters || beside_state)
    return fmt::format("{} from a file stay{} alive {}beside {}{}{} of the same size", blocksOf(finding),
                       singularEnding(finding), forTime(finding), beside_parameters ? "parameters" : "",
                       beside_parameters && beside_state ? " and " : "", beside_state ? "optimizer states" : "");
  return fmt::format("{} stay{} alive {}beside {} cop{} on the device", blocksOf(finding), singularEnding(finding),
                     forTime(finding), its(finding), finding.count == 1 ? "y" : "ies");
}

std::string idleText(const Finding &finding) {
  const auto launches = numberIn(finding, "idle_launches");
  return fmt::format("{} {} not used for {}", blocksOf(finding), are(finding),
                     launches ? fmt::format("{} launches around the peak", countText(*launches))
                              : durationText(numberIn(finding, "idle_ns").value_or(0)));
}

std::string peakText(const Finding &finding) {
  const uint64_t peak = numberIn(finding, "peak_bytes").value_or(0);
  return fmt::format("{} {} {} of the {} peak", blocksOf(finding), are(finding), percentText(finding.bytes, peak),
                     accountText(finding));
}

std::string firstStepText(const Finding &finding) {
  return fmt::format("{} of {} are alive before the first step ends, later at most {}",
                     bytesText(numberIn(finding, "first_bytes").value_or(0)), accountText(finding),
                     bytesText(numberIn(finding, "later_bytes").value_or(0)));
}

std::string recomputeText(const Finding &finding) {
  return fmt::format("{} of activations in {} layers wait for the backward part at the peak", bytesText(finding.bytes),
                     countText(numberIn(finding, "layers").value_or(0)));
}

std::string float64Text(const Finding &finding) {
  return fmt::format("{} tensor{} of float64 {} {} at the peak, and would need half of it as float32",
                     countText(finding.count), finding.count == 1 ? "" : "s", finding.count == 1 ? "has" : "have",
                     bytesText(finding.bytes));
}

std::string fragmentationText(const Finding &finding) {
  return fmt::format("{} {} free in {} segment{} of a pool at the peak", bytesText(finding.bytes),
                     finding.bytes == 1 ? "is" : "are", countText(finding.count), finding.count == 1 ? "" : "s");
}

// "malloc keeps 154.2 MiB of freed memory resident, in [heap] and 3 other arenas".
std::string residentText(const Finding &finding) {
  const bool in_main = numberIn(finding, "main_arena_bytes").value_or(0) != 0;
  const uint64_t arenas = finding.count - (in_main ? 1 : 0);
  const std::string others =
      arenas == 0 ? "" : fmt::format("{} other arena{}", countText(arenas), arenas == 1 ? "" : "s");
  return fmt::format("malloc keeps {} of freed memory resident, in {}{}{}", bytesText(finding.bytes),
                     in_main ? "[heap]" : "", in_main && arenas != 0 ? " and " : "", others);
}

// "2 processes copied about 154.2 MiB that fork had shared, 38.1 MiB a second".
std::string unsharedText(const Finding &finding) {
  const auto rate = numberIn(finding, "copied_bytes_per_s");
  return fmt::format("{} process{} copied about {} that fork had shared{}", countText(finding.count),
                     finding.count == 1 ? "" : "es", bytesText(finding.bytes),
                     rate ? fmt::format(", {} a second", bytesText(*rate)) : "");
}

std::string deadWriteText(const Finding &finding) {
  return fmt::format("{} write{} ({}) {} overwritten before anything reads {}", countText(finding.count),
                     finding.count == 1 ? "" : "s", bytesText(finding.bytes), are(finding),
                     finding.count == 1 ? "it" : "them");
}

std::string wrongDeviceText(const Finding &finding) {
  const uint64_t tensors = numberIn(finding, "tensors").value_or(0);
  return fmt::format("{} tensor{} of the host {} copied to a device again {} time{} ({}), in {} steps",
                     countText(tensors), tensors == 1 ? "" : "s", tensors == 1 ? "is" : "are", countText(finding.count),
                     finding.count == 1 ? "" : "s", bytesText(finding.bytes),
                     countText(numberIn(finding, "steps").value_or(0)));
}

std::string churnText(const Finding &finding) {
  const uint64_t temporary = numberIn(finding, "temporary").value_or(0);
  return fmt::format("{} {} allocated{}", blocksOf(finding), are(finding),
                     temporary == 0 ? " again and again"
                                    : fmt::format(", and {} of them freed before the next one", countText(temporary)));
}

std::string recompilesText(const Finding &finding) {
  return fmt::format("a function is compiled {} times; all but the first keep {}",
                     countText(numberIn(finding, "compilations").value_or(0)), blocksOf(finding));
}

std::string refusedText(const Finding &finding) {
  const auto alive = numberIn(finding, "alive_bytes");
  const std::string when =
      alive ? fmt::format(" when {} of {} were alive", bytesText(*alive), accountText(finding)) : "";
  return fmt::format("{} {} refused{}", bytesText(finding.bytes), finding.bytes == 1 ? "was" : "were", when);
}

// A block has changed during an operation that did not get it as an argument.
std::string trampledText(const Finding &finding) {
  const std::string operation = textIn(finding, "operation");
  return fmt::format("{} of `{}` changed{}", bytesText(finding.bytes), textIn(finding, "block"),
                     operation.empty() ? "" : fmt::format(" during `{}`", operation));
}

std::string handlesText(const Finding &finding) {
  std::string text = fmt::format("{} {}{} {} never given back", countText(finding.count), finding.part,
                                 finding.count == 1 ? "" : "s", finding.count == 1 ? "was" : "were");
  if (const auto bytes = numberIn(finding, "keeps_bytes"))
    text +=
        fmt::format("; {} keep{} {}", finding.count == 1 ? "it" : "they", singularEnding(finding), bytesText(*bytes));
  return text;
}

// Returns for example "a.py:4", or "`make`" if the line is not known.
std::string madeAt(const Finding &finding) {
  const SiteText &site = finding.site;
  return site.line != 0 ? fmt::format("{}:{}", printable(baseName(site.file)), site.line)
                        : fmt::format("`{}`", plainName(printable(site.function)));
}

std::string growsText(const Finding &finding) {
  if (numberIn(finding, kSampledEvidence))
    return fmt::format("Python objects made at {} grow by about{} (sampled)", madeAt(finding),
                       growthOf(finding).substr(1));
  return fmt::format("{} stay{} behind{}", blocksOf(finding), singularEnding(finding), growthOf(finding));
}

struct Sentence {
  std::string_view kind;
  std::string (*text)(const Finding &);
};
constexpr Sentence kSentences[] = {
    {finding_kinds::kLeak.name, [](const Finding &finding) { return leakText(finding) + growthOf(finding); }},
    {finding_kinds::kGrowth.name, growsText},
    {finding_kinds::kEarlyAllocation.name, earlyText},
    {finding_kinds::kLateFree.name, lateText},
    {finding_kinds::kUnused.name, unusedText},
    {finding_kinds::kOverallocated.name, overallocatedText},
    {finding_kinds::kCapacity.name, capacityText},
    {finding_kinds::kCopy.name, copyText},
    {finding_kinds::kIdle.name, idleText},
    {finding_kinds::kRedundant.name,
     [](const Finding &finding) {
       return fmt::format("{} could use the memory of the block of {}", blocksOf(finding),
                          textIn(finding, "fits_into"));
     }},
    {finding_kinds::kDeadWrite.name, deadWriteText},
    {finding_kinds::kWrongDevice.name, wrongDeviceText},
    {finding_kinds::kFragmentation.name, fragmentationText},
    {finding_kinds::kResident.name, residentText},
    {finding_kinds::kUnshared.name, unsharedText},
    {finding_kinds::kPeak.name, peakText},
    {finding_kinds::kFirstStep.name, firstStepText},
    {finding_kinds::kRecompute.name, recomputeText},
    {finding_kinds::kFloat64.name, float64Text},
    {finding_kinds::kTrampled.name, trampledText},
    {finding_kinds::kOutOfMemory.name, refusedText},
    {finding_kinds::kChurn.name, churnText},
    {finding_kinds::kRecompiles.name, recompilesText},
    {finding_kinds::kHandles.name, handlesText},
};

} // namespace

std::optional<uint64_t> numberIn(const Finding &finding, std::string_view wanted) {
  for (const auto &[name, value] : finding.evidence)
    if (const auto *number = std::get_if<uint64_t>(&value); number && name == wanted)
      return *number;
  return std::nullopt;
}

std::string textIn(const Finding &finding, std::string_view wanted) {
  for (const auto &[name, value] : finding.evidence)
    if (const auto *text = std::get_if<std::string>(&value); text && name == wanted)
      return plainName(printable(*text));
  return {};
}

std::string holdersOf(const Finding &finding) {
  for (const auto &[name, value] : finding.evidence)
    if (const auto *holders = std::get_if<std::vector<std::string>>(&value); holders && name == "holders")
      return holders->empty() ? std::string() : plainName(printable(holders->front()));
  return {};
}

std::string titleOf(const Finding &finding) {
  std::string text = blocksOf(finding);
  for (const Sentence &sentence : kSentences)
    if (sentence.kind == finding.kind && finding.analyzer.empty())
      text = sentence.text(finding);
  return fmt::format("{}: {} ({})", printable(finding.kind), text, nameOf(finding.confidence));
}

std::string savingOf(const Finding &finding) {
  if (finding.concern == Concern::Time) {
    std::string share;
    for (const auto &[name, value] : finding.evidence)
      if (const auto *real = std::get_if<double>(&value); real && name == "share_of_time")
        share = fmt::format(", {:.0f}% of the time", 100 * *real);
    return fmt::format("Saves about {}{}.", durationText(finding.saves_ns), share);
  }
  if (finding.concern != Concern::Memory)
    return {};
  if (numberIn(finding, kSampledEvidence))
    return fmt::format("About {} in about {} objects, by samples.", bytesText(finding.bytes), countText(finding.count));
  if (isOf(finding, finding_kinds::kResident))
    return fmt::format("malloc_trim(0) would give back about {}.", bytesText(finding.bytes));
  if (isOf(finding, finding_kinds::kUnshared))
    return fmt::format("Saves about {} of resident memory if it stays shared.", bytesText(finding.bytes));
  if (finding.saves_bytes == 0)
    return "Saves nothing of the peak.";
  std::string text = fmt::format("Saves {} of the {} peak", bytesText(finding.saves_bytes), accountText(finding));
  if (finding.saves_cumulative_bytes > finding.saves_bytes)
    text += fmt::format(", {} with those above", bytesText(finding.saves_cumulative_bytes));
  return text + ".";
}

} // namespace msleaks::analysis::inline text
