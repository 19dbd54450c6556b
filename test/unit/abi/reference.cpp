// Prints a page of docs/reference, generated from the .def tables.   usage: reference PAGE
#include "msleaks/abi/events.h"
#include "msleaks/abi/flags.h"
#include "msleaks/abi/handle_calls.h"
#include "msleaks/abi/symbols.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

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
      "Expanded from `functions/*.def`: the functions that msleaks instruments or hooks. Only hooks see functions "
      "with\n"
      "the verbs access, argument, kernel, device and show, and those with `(hooks)`. A number is the position of a\n"
      "parameter, counted from 0; the last parameter is -1.\n\n"
      "- `address` is the address of the block, the destination of a copy, or the written memory.\n"
      "- `source` is the source of a copy, the read memory, or the block to which addresses are mapped.\n"
      "- `returned`: the call returns the block.\n"
      "- `out(n)`: the call stores the block through parameter n, and returns 0 on success.\n"
      "- `handle(n)`: the call returns the block's handle, and stores its status through parameter n.\n"
      "- `at(n)`: the block is memory of the caller. Parameter n is its address.\n\n"
      "| symbol | verb | family | heap | result | size | count | address | source | kernel | stream | freed by |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|");
  for (const Symbol &symbol : kSymbols) {
    const std::string partner = symbol.partner < 0 ? "" : "`" + std::string(kSymbols[symbol.partner].name) + "`";
    std::printf("| `%s` | %s%s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", std::string(symbol.name).c_str(),
                nameOf(symbol.verb), symbol.only_hooks ? " (hooks)" : "", nameOf(symbol.family), nameOf(symbol.heap),
                resultOf(symbol).c_str(), position(symbol.size).c_str(), position(symbol.count).c_str(),
                position(symbol.address).c_str(), position(symbol.source).c_str(), position(symbol.kernel).c_str(),
                position(symbol.stream).c_str(), partner.c_str());
  }
  std::puts("\n## Families\n\nA hook uses the site that a callback has stored only if both are of the same family.\n\n"
            "| family | what it is |\n|---|---|");
#define MSL_FAMILY(name, text, doc) std::printf("| `%s` | %s |\n", text, doc);
#include "msleaks/abi/families.def"
}

void printCallbacks() {
  std::puts("# Callbacks\n\n    $ nm program.o | grep __msl_on        # the callbacks that an object calls\n\n"
            "Expanded from `callbacks.def`: the functions that instrumented code and hooks call. The runtime\n"
            "defines each of them as `void __msl_<name>(…)`.\n\n"
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
    return call.result == HandleResult::Return ? "opens the returned handle"
           : call.result == HandleResult::Pair ? "opens two handles, stored through " + at
           : call.result == HandleResult::Each ? "opens several handles, stored through " + at
                                               : "opens one handle, stored through " + at;
  case HandleVerb::Retains:
    return "adds an owner to " + at;
  case HandleVerb::Closes:
    return "closes " + at + (call.when == CloseWhen::Always ? ", even if the call fails" : "");
  }
  return "?";
}

void printHandles() {
  std::puts(
      "# Handles\n\n    $ msleaks dump RUN --kind opened,closed        # each handle that was opened or closed"
      "\n\n"
      "Expanded from `handles.def` and `functions/*.def`: the kinds of handles, and the functions that open or close\n"
      "them. Parameters are counted from 0; the last parameter is -1. If a kind counts its owners, `closes` removes\n"
      "one owner, and the last one closes the handle.\n\n"
      "| kind | number | what it is | closed by |\n|---|---|---|---|");
#define MSL_HANDLE(name, number, text, back, doc) std::printf("| `%s` | %d | %s | %s |\n", text, number, doc, back);
#include "msleaks/abi/handles.def"
  std::puts("\n| function | family | kind | what it does |\n|---|---|---|---|");
  for (const HandleCall &call : kHandleCalls)
    std::printf("| `%s` | %s | %s | %s |\n", std::string(call.name).c_str(), nameOf(call.family), nameOf(call.kind),
                whatOf(call).c_str());
}
std::string effectsOf(const Function &function) {
  std::string text;
  for (const Effect &effect : function.effects) {
    if (effect.on == Effect::On::Nothing)
      continue;
    constexpr const char *kHandleVerbs[] = {"opens", "retains", "closes"};
    text += text.empty() ? "" : ", ";
    text += effect.on == Effect::On::Memory ? std::string(nameOf(effect.memory.verb))
                                            : kHandleVerbs[static_cast<unsigned>(effect.handle.verb)] +
                                                  std::string(" ") + nameOf(effect.handle.kind);
  }
  return text.empty() ? "by its hook" : text;
}

void printDrivers() {
  std::puts(
      "# Functions of drivers\n\n    $ msleaks doctor -- ./program        # the functions that are hooked in a "
      "process\n\n"
      "Expanded from `functions/*.def`: the functions of drivers that are hooked, by library.\n\n"
      "- *Form*: the same function for programs with one default stream per thread, or the function below it. Its\n"
      "  calls are recorded in the same way.\n"
      "- *Recorded*: the effects of a call ([symbols](symbols.md), [handles](handles.md)). *By its hook*: only the "
      "hook\n"
      "  knows what the call does, or the hook only notes a fact that later events need.");
  std::vector<std::string_view> libraries;
  for (const Function &function : kFunctions)
    if (!function.library.empty() && std::ranges::find(libraries, function.library) == libraries.end())
      libraries.push_back(function.library);
  for (const std::string_view library : libraries) {
    std::printf("\n## %s\n\n| function | form | recorded |\n|---|---|---|\n", std::string(library).c_str());
    for (const Function &function : kFunctions)
      if (function.library == library)
        std::printf("| `%s` | %s | %s |\n", std::string(function.name).c_str(),
                    function.form.empty() ? "" : ("`" + std::string(function.form) + "`").c_str(),
                    effectsOf(function).c_str());
  }
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
  else if (page == "drivers")
    printDrivers();
  else
    return std::fputs("usage: reference events|symbols|flags|callbacks|handles|drivers\n", stderr), 2;
}
