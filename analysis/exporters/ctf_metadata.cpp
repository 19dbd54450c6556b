#include "analysis/exporters/ctf_metadata.h"

#include "analysis/base/text.h"
#include "analysis/exporters/cause_names.h"
#include "analysis/exporters/trace_names.h"
#include "analysis/result/fields.h"
#include "msleaks/abi/events.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace msleaks::analysis::inline exporters {
namespace {

constexpr char kBasics[] = R"(/* CTF 1.8 */

typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 16; align = 8; signed = false; base = hex; } := flags_t;
typealias integer { size = 64; align = 8; signed = false; base = hex; } := address_t;

trace {
  major = 1;
  minor = 8;
  byte_order = le;
  packet.header := struct { uint32_t magic; uint32_t stream_id; };
};

clock {
  name = monotonic;
  description = "CLOCK_MONOTONIC";
  freq = 1000000000;
};

typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := time_t;

)";

constexpr char kStream[] = R"(stream {
  id = 0;
  packet.context := struct {
    time_t timestamp_begin;
    time_t timestamp_end;
    uint64_t content_size;
    uint64_t packet_size;
    uint64_t events_discarded;
  };
  event.header := struct { uint16_t id; time_t timestamp; };
  event.context := struct { uint32_t _pid; uint32_t _tid; };
};

)";

// Quotes a printable text, which has no control characters.
std::string literal(std::string_view text) {
  std::string quoted = "\"";
  for (const char character : printable(text)) {
    if (character == '"' || character == '\\')
      quoted += '\\';
    quoted += character;
  }
  return quoted + '"';
}

void writeTexts(std::ostream &out, const char *type, const Numbered<std::string> &texts) {
  out << "typealias enum : uint32_t {\n  \"(unknown)\" = 0";
  uint32_t number = 0;
  for (const std::string *text : texts.items())
    out << fmt::format(",\n  {} = {}", literal(*text == "(unknown)" ? "(unknown) " : *text), ++number);
  out << fmt::format("\n}} := {};\n\n", type);
}

const char *typeOf(abi::Repr repr, size_t bytes) {
  if (repr == abi::Repr::Label)
    return "text_t";
  if (repr == abi::Repr::Address || repr == abi::Repr::Handle)
    return "address_t";
  return bytes == sizeof(uint16_t) ? "uint16_t" : bytes == sizeof(uint32_t) ? "uint32_t" : "uint64_t";
}

void writeEvent(std::ostream &out, std::string_view name, uint16_t id, const std::string &fields) {
  out << fmt::format("event {{\n  name = {};\n  id = {};\n  stream_id = 0;\n  fields := struct {{ {}}};\n}};\n\n",
                     literal(name), id, fields);
}

// A name begins with _, because some names are words of the language. Readers remove it.
template <class Event> std::string fieldsOf() {
  std::string fields = "heap_t _heap; uint8_t _device; flags_t _flags; place_t _place; ";
  const Event event{};
  abi::visitFields(event, [&](const char *name, abi::Repr repr, auto value) {
    if (repr == abi::Repr::Label || holdsAnything(name))
      fields += fmt::format("{} _{}; ", typeOf(repr, sizeof value), name);
  });
  return fields + (Event::kKind == abi::EventKind::Launch ? "text_t _name; " : "");
}

template <class Name> void writeEnum(std::ostream &out, const char *type, size_t count, Name &&name) {
  out << "typealias enum : uint8_t { ";
  for (size_t number = 0; number < count; ++number)
    out << fmt::format("{}{} = {}", number == 0 ? "" : ", ", literal(name(number)), number);
  out << fmt::format(" }} := {};\n\n", type);
}

} // namespace

void writeCtfMetadata(std::ostream &out, const Report &report, const Numbered<std::string> &places,
                      const Numbered<std::string> &texts) {
  out << kBasics
      << fmt::format("env {{\n  tracer_name = \"msleaks\";\n  command = {};\n}};\n\n",
                     literal(fmt::format("{}", fmt::join(report.command, " "))))
      << kStream;
  writeEnum(out, "heap_t", static_cast<size_t>(abi::Heap::Count),
            [](size_t number) { return abi::nameOf(static_cast<abi::Heap>(number)); });
  writeEnum(out, "begin_t", static_cast<size_t>(AllocCause::WasThere) + 1,
            [](size_t number) { return nameOf(static_cast<AllocCause>(number)); });
  writeEnum(out, "end_t", static_cast<size_t>(FreeCause::StillAlive) + 1,
            [](size_t number) { return nameOfEnd(static_cast<FreeCause>(number)); });
  writeTexts(out, "place_t", places);
  writeTexts(out, "text_t", texts);
  writeEvent(out, "block_begin", kCtfBlockBegin,
             "uint64_t _block; address_t _address; uint64_t _bytes; heap_t _heap; uint8_t _device; begin_t _cause; "
             "place_t _place; text_t _owner; text_t _module; ");
  writeEvent(out, "block_end", kCtfBlockEnd,
             "uint64_t _block; uint64_t _bytes; heap_t _heap; uint8_t _device; end_t _cause; ");
#define MSL_EVENT(name, number, slots, doc) writeEvent(out, #name, number, fieldsOf<abi::name##Event>());
#include "msleaks/abi/events.def"
}

} // namespace msleaks::analysis::inline exporters
