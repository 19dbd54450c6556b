#include "analysis/second_run/thread_stack.h"

#include "analysis/reach/process_memory.h"

#include <cstring>
#include <elfutils/libdwfl.h>

namespace msleaks::analysis::inline second_run {
namespace {

struct DwflEnd {
  void operator()(Dwfl *session) const { dwfl_end(session); }
};

constexpr Dwfl_Callbacks kFindFiles{
    .find_elf = dwfl_linux_proc_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = nullptr,
    .debuginfo_path = nullptr,
};

} // namespace

struct ThreadStacks::State {
  pid_t pid = 0;
  std::unique_ptr<Dwfl, DwflEnd> session{dwfl_begin(&kFindFiles)};
  bool attached = false;
  const StoppedThread *thread = nullptr; // the thread whose stack is read
  size_t most = 0;
  std::vector<std::pair<uint64_t, bool>> found; // the address of an instruction, and whether it follows a call

  bool readMappings();
  bool attach();
  void walk();
  StackFrame frameAt(uint64_t instruction, bool is_call);

  // The callbacks that libdwfl asks for.
  static pid_t nextThread(Dwfl *, void *state, void **thread);
  static bool readMemory(Dwfl *, Dwarf_Addr address, Dwarf_Word *word, void *state);
  static bool setRegisters(Dwfl_Thread *, void *state);
  static int takeFrame(Dwfl_Frame *, void *state);
};

// Returns only the thread that has stopped.
pid_t ThreadStacks::State::nextThread(Dwfl *, void *state, void **thread) {
  if (*thread != nullptr)
    return 0;
  *thread = state;
  return static_cast<State *>(state)->thread->tid();
}

bool ThreadStacks::State::readMemory(Dwfl *, Dwarf_Addr address, Dwarf_Word *word, void *state) {
  const auto to = std::as_writable_bytes(std::span(word, 1));
  return analysis::readMemory(static_cast<State *>(state)->pid, address, to) == to.size();
}

bool ThreadStacks::State::setRegisters([[maybe_unused]] Dwfl_Thread *thread, void *state) {
  const auto registers = static_cast<State *>(state)->thread->registers();
  if (!registers)
    return false;
#if defined(__x86_64__)
  const user_regs_struct &r = *registers;
  const Dwarf_Word words[] = {r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8,
                              r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip};
  return dwfl_thread_state_registers(thread, 0, std::size(words), words);
#else
  return false;
#endif
}

int ThreadStacks::State::takeFrame(Dwfl_Frame *frame, void *argument) {
  State &state = *static_cast<State *>(argument);
  Dwarf_Addr instruction = 0;
  bool is_stopped_at = false;
  if (!dwfl_frame_pc(frame, &instruction, &is_stopped_at))
    return DWARF_CB_ABORT;
  state.found.emplace_back(instruction, !is_stopped_at);
  return state.found.size() < state.most ? DWARF_CB_OK : DWARF_CB_ABORT;
}

// Reads the mappings again, because libraries may be loaded and unloaded at any time.
bool ThreadStacks::State::readMappings() {
  if (!session)
    return false;
  dwfl_report_begin_add(session.get());
  return dwfl_linux_proc_report(session.get(), pid) == 0 && dwfl_report_end(session.get(), nullptr, nullptr) == 0;
}

bool ThreadStacks::State::attach() {
  static constexpr Dwfl_Thread_Callbacks kAnswers{
      .next_thread = nextThread,
      .get_thread = nullptr,
      .memory_read = readMemory,
      .set_initial_registers = setRegisters,
      .detach = nullptr,
      .thread_detach = nullptr,
  };
  if (!attached)
    attached = readMappings() && dwfl_attach_state(session.get(), nullptr, pid, &kAnswers, this);
  return attached;
}

void ThreadStacks::State::walk() {
  found.clear();
  dwfl_getthread_frames(session.get(), thread->tid(), takeFrame, this);
}

StackFrame ThreadStacks::State::frameAt(uint64_t instruction, bool is_call) {
  StackFrame frame;
  frame.is_call = is_call;
  const uint64_t within = instruction - (is_call ? 1 : 0);
  frame.address = within;
  Dwfl_Module *module = dwfl_addrmodule(session.get(), within);
  if (module == nullptr)
    return frame;
  Dwarf_Addr bias = 0;
  const char *path = nullptr;
  if (dwfl_module_getelf(module, &bias) == nullptr)
    return frame;
  dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, &path, nullptr);
  const unsigned char *build_id = nullptr;
  GElf_Addr where = 0;
  const int bytes = dwfl_module_build_id(module, &build_id, &where);
  if (bytes > 0) {
    const auto *begin = reinterpret_cast<const std::byte *>(build_id);
    frame.image.build_id.assign(begin, begin + bytes);
  }
  frame.image.path = path != nullptr ? path : "";
  frame.address = within - bias;
  return frame;
}

ThreadStacks::ThreadStacks(pid_t pid) : state_(std::make_unique<State>()) { state_->pid = pid; }
ThreadStacks::~ThreadStacks() = default;

std::vector<StackFrame> ThreadStacks::of(const StoppedThread &thread, size_t most) {
  State &state = *state_;
  state.thread = &thread;
  state.most = most;
  if (!state.attach())
    return {};
  state.walk();
  // The innermost known code may belong to a library that was loaded meanwhile.
  if (state.found.empty() || dwfl_addrmodule(state.session.get(), state.found.back().first - 1) == nullptr) {
    state.readMappings();
    state.walk();
  }
  std::vector<StackFrame> frames;
  for (const auto &[instruction, is_call] : state.found)
    frames.push_back(state.frameAt(instruction, is_call));
  return frames;
}

SiteText textOf(Symbolizer &symbolizer, const StackFrame &frame) {
  Site site;
  site.origin = SiteOrigin::Hook;
  site.library = frame.image.path;
  site.offset = frame.address + (frame.is_call ? 1 : 0);
  std::vector<InlineFrame> lines;
  for (const CodePlace &place : symbolizer.placesAt(frame.image, frame.address))
    lines.push_back({place.function, place.file, place.line, place.column});
  if (!lines.empty()) {
    site.function = lines.front().function;
    site.file = lines.front().file;
    site.line = lines.front().line;
    site.column = lines.front().column;
    site.inlined_at = std::span(lines).subspan(1);
  }
  return textOf(site);
}

std::vector<StackFrame> ThreadCalls::framesOf(const StoppedThread &thread, pid_t process, size_t most) {
  auto &stacks = stacks_[process];
  if (!stacks)
    stacks = std::make_unique<ThreadStacks>(process);
  return stacks->of(thread, most);
}

std::vector<SiteText> ThreadCalls::of(const StoppedThread &thread, pid_t process, size_t most) {
  std::vector<SiteText> calls;
  for (const StackFrame &frame : framesOf(thread, process, most))
    calls.push_back(textOf(symbolizer_, frame));
  return calls;
}

} // namespace msleaks::analysis::inline second_run
