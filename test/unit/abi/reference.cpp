// Prints a page of docs/reference, generated from the .def tables.   usage: reference PAGE
#include "msleaks/abi/events.h"
#include "msleaks/abi/flags.h"
#include "msleaks/abi/handle_calls.h"
#include "msleaks/abi/symbols.h"

#include <cstdio>
#include <string>

namespace {
using namespace msleaks::abi;

void printEvents() { // NOLINT: one case for each event
  std::puts("# Events\n\n    $ msleaks dump RUN --kind alloc,free        # these events, one a line\n\n"
            "Expanded from `events.def`, `heaps.def` and `event_flags.def`. Every event also has kind, "
            "heap, device, flags,\n"
            "site and time.\n");
#define MSL_EVENT(name, number, slots, doc)                                                                            \
  std::printf("## %s\n\nNumber %d, %d slot%s:\n%s.\n\n| field | type | meaning |\n|---|---|---|\n", #name, number,     \
              slots, slots == 1 ? "" : "s", doc);
#define MSL_FIELD(type, field, repr, doc) std::printf("| `%s` | `%s`, %s | %s |\n", #field, #type, #repr, doc);
#define MSL_EVENT_END(name) std::puts("");
#include "msleaks/abi/events.def"
  std::puts("## Heaps\n\n| heap | adds to the total | what it is |\n|---|---|---|");
#define MSL_HEAP(name, text, physical, doc) std::printf("| `%s` | %s | %s |\n", text, physical ? "yes" : "no", doc);
#include "msleaks/abi/heaps.def"
  std::puts("\n## Flags\n\n| flag | meaning |\n|---|---|");
#define MSL_EVENT_FLAG(name, bit, text, doc) std::printf("| `%s` | %s |\n", text, doc);
#include "msleaks/abi/event_flags.def"
}

std::string position(Position at) { return at.present() ? std::to_string(at.index()) : "-"; }

std::string resultOf(const Symbol &symbol) {
  switch (symbol.result.kind) {
  case ResultKind::None:
    return "-";
  case ResultKind::Return:
    return "returned";
  case ResultKind::Out:
    return "out(" + position(symbol.result.at) + ")";
  case ResultKind::Handle:
    return "handle(" + position(symbol.result.at) + ")";
  case ResultKind::At:
    return "at(" + position(symbol.result.at) + ")";
  }
  return "?";
}

void printSymbols() {
  std::puts(
      "# Symbols\n\n    $ msleaks sites ./program        # the calls of these functions that the plugin marked\n\n"
      "Expanded from `symbols.def`: the functions whose calls the pass marks. Only hooks see rows with the verbs\n"
      "access, argument, kernel, device and show. Positions count parameters from 0, or from the end (-1).\n\n"
      "- `address` is the destination, or the written memory; `source` is the source, the read memory, or the shown "
      "block.\n"
      "- A result is returned, or stored through parameter n by a call that returns 0 (`out(n)`).\n"
      "- `handle(n)`: it is returned, and its status is stored through parameter n.\n"
      "- `at(n)`: the caller's memory begins where parameter n says.\n\n"
      "| symbol | verb | family | heap | result | size | count | address | source | kernel | stream | freed by |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|");
  for (const Symbol &symbol : kSymbols) {
    const std::string partner = symbol.partner < 0 ? "" : "`" + std::string(kSymbols[symbol.partner].name) + "`";
    std::printf("| `%s` | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", std::string(symbol.name).c_str(),
                nameOf(symbol.verb), nameOf(symbol.family), nameOf(symbol.heap), resultOf(symbol).c_str(),
                position(symbol.size).c_str(), position(symbol.count).c_str(), position(symbol.address).c_str(),
                position(symbol.source).c_str(), position(symbol.kernel).c_str(), position(symbol.stream).c_str(),
                partner.c_str());
  }
  std::puts("\n## Families\n\nA hook takes the site that a callback left only within one family.\n\n"
            "| family | what it is |\n|---|---|");
#define MSL_FAMILY(name, text, doc) std::printf("| `%s` | %s |\n", text, doc);
#include "msleaks/abi/families.def"
}

void printCallbacks() {
  std::puts("# Callbacks\n\n    $ nm program.o | grep __msl_on        # the callbacks that an object calls\n\n"
            "Expanded from `callbacks.def`: the functions that the pass calls and the runtime defines, each as\n"
            "`void __msl_<name>(…)`.\n\n"
            "| callback | called | parameters |\n|---|---|---|");
#define MSL_CALLBACK(name, doc, ...) std::printf("| `%s` | %s | `%s` |\n", #name, doc, #__VA_ARGS__);
#include "msleaks/abi/callbacks.def"
}

void printFlags() {
  std::puts("# Flags of a session\n\n    $ msleaks-run --help\n\n"
            "Expanded from `flags.def`: options of `msleaks-run` that reach the runtime.\n\n"
            "| option | default | range | what it does |\n|---|---|---|---|");
#define MSL_FLAG(type, name, value, option, minimum, maximum, group, doc)                                              \
  std::printf("| `%s` | %s | %s to %s | %s |\n", option, #value, #minimum, #maximum, doc);
#define MSL_CHOICE(type, name, value, option, group, doc)                                                              \
  std::printf("| `%s` | `%s` | see below | %s |\n", option, nameOf(type::value), doc);
#include "msleaks/abi/flags.def"
  std::puts("");
#define MSL_VALUE(type, name, text, doc) std::printf("- `%s` `%s`: %s\n", #type, text, doc);
#include "msleaks/abi/flags.def"
}

std::string whatOf(const HandleCall &call) {
  const std::string at = call.at.present() ? "parameter " + position(call.at) : "";
  switch (call.verb) {
  case HandleVerb::Opens:
    return call.result == HandleResult::Return ? "opens what it returns"
           : call.result == HandleResult::Pair ? "opens two at " + at
           : call.result == HandleResult::Each ? "opens a list at " + at
                                               : "opens one at " + at;
  case HandleVerb::Retains:
    return "one more owner of " + at;
  case HandleVerb::Closes:
    return "closes " + at + (call.when == CloseWhen::Always ? ", also where it fails" : "");
  }
  return "?";
}

void printHandles() {
  std::puts(
      "# Handles\n\n    $ msleaks dump RUN --kind opened,closed        # each handle that was made or given back"
      "\n\n"
      "Expanded from `handles.def` and `handle_calls.def`: the kinds of handles, and the functions that make them\n"
      "or give them back. Positions count parameters from 0, or from the end (-1).\n\n"
      "| kind | number | what it is | given back by |\n|---|---|---|---|");
#define MSL_HANDLE(name, number, text, back, doc) std::printf("| `%s` | %d | %s | %s |\n", text, number, doc, back);
#include "msleaks/abi/handles.def"
  std::puts("\n| function | family | kind | what it does |\n|---|---|---|---|");
  for (const HandleCall &call : detail::Handles::kCalls)
    std::printf("| `%s` | %s | %s | %s |\n", std::string(call.name).c_str(), nameOf(call.family), nameOf(call.kind),
                whatOf(call).c_str());
}
} // namespace

int main(int argc, char **argv) {
  const std::string page = argc == 2 ? argv[1] : "";
  if (page == "events")
    printEvents();
  else if (page == "symbols")
    printSymbols();
  else if (page == "flags")
    printFlags();
  else if (page == "callbacks")
    printCallbacks();
  else if (page == "handles")
    printHandles();
  else
    return std::fputs("usage: reference events|symbols|flags|callbacks|handles\n", stderr), 2;
}
