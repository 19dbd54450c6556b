#include "msleaks/runtime/note.h"

#include "definitions.h"
#include "ring.h"
#include "system.h"
#include "thread_exit.h"

void __msl_note(const char *text) noexcept {
  using namespace msleaks::runtime;
  const ArenaHeld held;
  if (Arena *arena = held.arena())
    defineNote(*arena, text);
}

void __msl_lost() noexcept { msleaks::runtime::countWithoutRing(); }
