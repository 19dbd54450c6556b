// ctf: a folder in the Common Trace Format 1.8, for babeltrace2 and Trace Compass (docs/formats.md).
#include "analysis/base/text.h"
#include "analysis/exporters/ctf_metadata.h"
#include "analysis/exporters/kernel_facts.h"
#include "analysis/exporters/numbered.h"
#include "analysis/exporters/registry.h"
#include "analysis/exporters/trace_names.h"
#include "analysis/live/owners.h"
#include "analysis/places/place.h"
#include "analysis/text/site_text.h"

#include <algorithm>
#include <optional>

namespace msleaks::analysis::inline exporters {
namespace {

// All values are little-endian. None of them needs padding, because each has whole bytes.
class CtfBytes {
public:
  template <class T> void add(T value) {
    for (size_t i = 0; i < sizeof value; ++i)
      bytes_ += static_cast<char>(static_cast<uint64_t>(value) >> 8 * i);
  }
  std::string &bytes() { return bytes_; }

private:
  std::string bytes_;
};

class CtfExporter final : public BlockExporter {
public:
  uint32_t eventKinds() const override { return UINT32_MAX; }
  void begin(ReadRun &) override;
  void onAlloc(ReadRun &, const Block &, BlockNumber, AllocCause, uint64_t time_ns) override;
  void onFree(ReadRun &, const Block &, BlockNumber, FreeCause, uint64_t time_ns) override;
  void onEvent(ReadRun &, const StreamEvent &, SiteId) override;
  void end(ReadRun &) override;

private:
  static constexpr size_t kPacketBytes = 256 << 10;

  struct Thread {
    uint32_t pid, tid;
  };
  Thread threadOf(uint32_t process, uint32_t stream) const {
    return {names_->pid(process).value_or(0), names_->tid(process, stream).value_or(0)};
  }
  Thread threadOf(const StreamEvent &event) const {
    const auto kernel = kernelFactsOf(event.event);
    return kernel ? Thread{kernel->pid, kernel->tid} : threadOf(event.process, event.stream);
  }
  void beginEvent(uint16_t id, uint64_t time_ns, Thread);
  void finishEvent() {
    if (content_.bytes().size() >= kPacketBytes)
      finishPacket(0);
  }
  void finishPacket(uint64_t discarded);
  uint32_t placeNumber(SiteCatalog &, SiteId);
  uint32_t textNumber(std::string_view text) {
    return text.empty() ? 0 : static_cast<uint32_t>(texts_.numberOf(printable(text))) + 1;
  }
  void addKernel(const ReadRun &, const StreamEvent &);

  std::ostream *events_ = nullptr;
  std::optional<TraceNames> names_;
  std::optional<Places> places_;
  Numbered<std::string> place_texts_, texts_;
  std::vector<uint32_t> place_numbers_; // by site
  CtfBytes content_;                    // events of the present packet
  uint64_t packet_begin_ns_ = 0, last_ns_ = 0;
};

void CtfExporter::begin(ReadRun &run) {
  events_ = &folder().file("events");
  names_.emplace(run.trace, run.catalog.labels());
  places_.emplace(run.catalog);
}

// Equal texts have one number, because a name may be in an enumeration only once. 0 = not known.
uint32_t CtfExporter::placeNumber(SiteCatalog &catalog, SiteId site) {
  if (!site.known())
    return 0;
  uint32_t &number = elementAt(place_numbers_, site.index);
  if (number == 0)
    number = static_cast<uint32_t>(place_texts_.numberOf(placeOf(textOf(catalog, places_->of(site)), SIZE_MAX))) + 1;
  return number;
}

// The time of a block that ends with its process may be a little earlier than the last event. A reader refuses a time
// that goes back.
void CtfExporter::beginEvent(uint16_t id, uint64_t time_ns, Thread thread) {
  last_ns_ = std::max(last_ns_, time_ns);
  if (content_.bytes().empty())
    packet_begin_ns_ = last_ns_;
  content_.add(id);
  content_.add(last_ns_);
  content_.add(thread.pid);
  content_.add(thread.tid);
}

void CtfExporter::finishPacket(uint64_t discarded) {
  CtfBytes header;
  const uint64_t bits = (kCtfHeaderBytes + content_.bytes().size()) * 8;
  header.add(kCtfMagic);
  header.add(uint32_t{0}); // stream
  header.add(packet_begin_ns_);
  header.add(last_ns_);
  header.add(bits); // content
  header.add(bits); // packet
  header.add(discarded);
  *events_ << header.bytes() << content_.bytes();
  content_.bytes().clear();
}

void CtfExporter::onAlloc(ReadRun &run, const Block &block, BlockNumber number, AllocCause cause, uint64_t time_ns) {
  const Cohort &cohort = run.cohorts[block.cohort];
  beginEvent(kCtfBlockBegin, time_ns, threadOf(block.process, block.stream));
  content_.add(number);
  content_.add(block.address);
  content_.add(block.bytes());
  content_.add(static_cast<uint8_t>(block.heap));
  content_.add(block.device);
  content_.add(static_cast<uint8_t>(cause));
  content_.add(placeNumber(run.catalog, block.site));
  content_.add(textNumber(ownerOf(cohort, run.catalog)));
  content_.add(textNumber(moduleOf(cohort, run.catalog)));
  finishEvent();
}

void CtfExporter::onFree(ReadRun &, const Block &block, BlockNumber number, FreeCause cause, uint64_t time_ns) {
  beginEvent(kCtfBlockEnd, time_ns, threadOf(block.process, block.stream));
  content_.add(number);
  content_.add(block.bytes());
  content_.add(static_cast<uint8_t>(block.heap));
  content_.add(block.device);
  content_.add(static_cast<uint8_t>(cause));
  finishEvent();
}

void CtfExporter::onEvent(ReadRun &run, const StreamEvent &event, SiteId site) {
  const abi::EventHeader &header = event.event.header();
  beginEvent(static_cast<uint16_t>(header.kind), header.time, threadOf(event));
  content_.add(static_cast<uint8_t>(header.heap));
  content_.add(static_cast<uint8_t>(header.device));
  content_.add(static_cast<uint16_t>(header.flags));
  content_.add(placeNumber(run.catalog, site));
  abi::dispatch(event.event, [&](const auto &fields) {
    abi::visitFields(fields, [&](const char *name, abi::Repr repr, auto value) {
      if (repr == abi::Repr::Label)
        content_.add(textNumber(run.catalog.labels().textOf(event.process, value)));
      else if (holdsAnything(name))
        content_.add(value);
    });
  });
  if (header.kind == abi::EventKind::Launch)
    addKernel(run, event);
  finishEvent();
}

void CtfExporter::addKernel(const ReadRun &run, const StreamEvent &event) {
  const LabelId name = run.kernels.nameOf(event.process, event.event.as<abi::LaunchEvent>().kernel);
  content_.add(textNumber(run.catalog.labels().textOf(name)));
}

// The metadata comes last, because it has the texts.
void CtfExporter::end(ReadRun &run) {
  finishPacket(run.report.events.dropped + run.report.events.missing);
  writeCtfMetadata(folder().file("metadata"), run.report, place_texts_, texts_);
}

} // namespace

MSL_REGISTER_FOLDER_EXPORTER(ctf, "events and blocks, as a folder for babeltrace2 and Trace Compass", CtfExporter)

} // namespace msleaks::analysis::inline exporters
