// Prints the reference pages that are expanded from the .def tables.   usage: reference events|symbols|flags
#include "msleaks/abi/events.h"
#include "msleaks/abi/flags.h"
#include "msleaks/abi/symbols.h"

#include <cstdio>
#include <string>

namespace {
using namespace msleaks::abi;

void printEvents() {
  std::puts("# Events\n\nExpanded from `events.def`, `heaps.def` and `event_flags.def`. Every event also has kind, heap, device, flags,\n"
            "site and time.\n");
#define MSL_EVENT(name, number, slots, doc)                                                                            \
  std::printf("## %s\n\nNumber %d, %d slot%s: %s.\n\n| field | type | meaning |\n|---|---|---|\n", #name, number,     \
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

void printSymbols() {
  std::puts("# Symbols\n\nExpanded from `symbols.def`: the functions whose calls the pass marks. Positions count parameters from 0, or\n"
            "from the end (-1).\n\n| symbol | verb | family | heap | size | count | address | freed by |\n|---|---|---|---|---|---|---|---|");
  for (const Symbol &symbol : kSymbols)
    std::printf("| `%.*s` | %s | %s | %s | %s | %s | %s | %s%.*s%s |\n", static_cast<int>(symbol.name.size()),
                symbol.name.data(), nameOf(symbol.verb), nameOf(symbol.family), nameOf(symbol.heap),
                position(symbol.size).c_str(), position(symbol.count).c_str(), position(symbol.address).c_str(),
                symbol.partner < 0 ? "" : "`",
                symbol.partner < 0 ? 0 : static_cast<int>(kSymbols[symbol.partner].name.size()),
                symbol.partner < 0 ? "" : kSymbols[symbol.partner].name.data(), symbol.partner < 0 ? "" : "`");
}

void printFlags() {
  std::puts("# Flags of a session\n\nExpanded from `flags.def`: options of `msleaks-run` that reach the runtime.\n\n"
            "| option | default | range | what it does |\n|---|---|---|---|");
#define MSL_FLAG(type, name, value, option, minimum, maximum, doc)                                                     \
  std::printf("| `%s` | %s | %s to %s | %s |\n", option, #value, #minimum, #maximum, doc);
#define MSL_CHOICE(type, name, value, option, doc)                                                                     \
  std::printf("| `%s` | `%s` | see below | %s |\n", option, nameOf(type::value), doc);
#include "msleaks/abi/flags.def"
  std::puts("");
#define MSL_VALUE(type, name, text, doc) std::printf("- `%s` `%s`: %s\n", #type, text, doc);
#include "msleaks/abi/flags.def"
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
  else
    return std::fputs("usage: reference events|symbols|flags\n", stderr), 2;
}
