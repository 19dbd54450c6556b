#include "unwind/cfa_program.h"

namespace msleaks::runtime::unwind {
namespace {

enum Instruction : uint8_t {
  kNop = 0x00,
  kSetLocation = 0x01,
  kAdvance1 = 0x02,
  kAdvance2 = 0x03,
  kAdvance4 = 0x04,
  kOffsetExtended = 0x05,
  kRestoreExtended = 0x06,
  kUndefined = 0x07,
  kSameValue = 0x08,
  kRegister = 0x09,
  kRememberState = 0x0a,
  kRestoreState = 0x0b,
  kDefineCfa = 0x0c,
  kDefineCfaRegister = 0x0d,
  kDefineCfaOffset = 0x0e,
  kDefineCfaExpression = 0x0f,
  kExpression = 0x10,
  kOffsetExtendedSigned = 0x11,
  kDefineCfaSigned = 0x12,
  kDefineCfaOffsetSigned = 0x13,
  kValueOffset = 0x14,
  kValueOffsetSigned = 0x15,
  kValueExpression = 0x16,
  kToggleReturnAddressState = 0x2d, // AArch64: from here on, the return address is signed or not
  kArgumentsSize = 0x2e,
  // These instructions have an operand in their low six bits.
  kAdvance = 0x40,
  kOffset = 0x80,
  kRestore = 0xc0,
};

enum ExpressionOperator : uint8_t {
  kDereference = 0x06,
  kAnd = 0x1a,
  kPlus = 0x22,
  kShiftLeft = 0x24,
  kGreaterOrEqual = 0x2a,
  kLiteral = 0x30,      // the first of 32 opcodes
  kRegisterPlus = 0x70, // the first of 32 opcodes
};

struct BasePlus {
  uint64_t base;
  int64_t offset;
  bool known;
};

// Reads the operator DW_OP_breg<n> and its offset.
BasePlus readBasePlus(TableCursor &expression) noexcept {
  const uint8_t first = expression.byte();
  const bool known = first >= kRegisterPlus && first < kRegisterPlus + 32;
  const int64_t offset = known ? expression.sleb() : 0;
  return {uint64_t{first} - kRegisterPlus, offset, known && !expression.failed()};
}

// Whether this is the linker's expression for the PLT: breg7 8; breg16 0; lit15; and; lit<n>; ge; lit3; shl; plus. Its
// value is the stack pointer + 8, or + 16 if the address is at byte n of the 16-byte entry or later. Sets `limit` to n.
bool readPlt(TableCursor expression, int64_t &limit) noexcept {
  const BasePlus stack = readBasePlus(expression), address = readBasePlus(expression);
  if (!stack.known || stack.base != machine::kStackPointer || stack.offset != 8 || !address.known ||
      address.base != machine::kReturnAddress || address.offset != 0)
    return false;
  const bool begins = expression.byte() == kLiteral + 15 && expression.byte() == kAnd;
  limit = int64_t{expression.byte()} - kLiteral;
  return begins && limit >= 0 && limit < 16 && expression.byte() == kGreaterOrEqual &&
         expression.byte() == kLiteral + 3 && expression.byte() == kShiftLeft && expression.byte() == kPlus &&
         !expression.more() && !expression.failed();
}

class Program {
public:
  Program(const Cie &cie, Run &run, uint64_t address) noexcept : cie_(cie), run_(run), address_(address) {}

  // Runs the instructions up to the address. Returns false for an unknown instruction, or if the table is damaged.
  bool run(TableCursor &program) noexcept {
    while (program.more() && run_.location <= address_)
      if (!step(program))
        return false;
    return !program.failed();
  }

  Rule rule() const noexcept {
    if (cie_.is_signal)
      return {.kind = RuleKind::Signal};
    if (run_.row.link.kind == Place::Undefined)
      return {.kind = RuleKind::Outermost};
    Rule rule{.base = run_.row.base == machine::kStackPointer ? Base::StackPointer : Base::FramePointer};
    const bool known_base = run_.row.base == machine::kStackPointer || run_.row.base == machine::kFramePointer;
    if (run_.row.kind == Row::Elsewhere || !known_base || run_.row.offset > kMaxOffset || run_.row.offset < -kMaxOffset)
      return {};
    rule.offset = static_cast<int32_t>(run_.row.offset);
    if (run_.row.kind == Row::Plt)
      return {.kind = RuleKind::Plt, .offset = rule.offset};
    const bool is_word = run_.row.kind == Row::Word;
    if (!takeSlot(run_.row.frame, is_word && rule.base == Base::FramePointer ? Place::AtBase : Place::AtCfa,
                  rule.frame_slot) ||
        !takeSlot(run_.row.link, Place::AtCfa, rule.return_slot))
      return {};
    if (!machine::kHasLinkRegister && rule.return_slot == Rule::kNotSaved)
      return {};
    if (is_word && rule.base == Base::StackPointer && rule.frame_slot != Rule::kNotSaved)
      return {};
    rule.kind = is_word ? RuleKind::Realigned : RuleKind::Plain;
    return rule;
  }

private:
  static bool takeSlot(const Place &place, Place::Kind saved, int16_t &slot) noexcept {
    if (place.kind == Place::Kept)
      return true;
    if (place.kind != saved || place.offset <= INT16_MIN || place.offset > INT16_MAX)
      return false;
    slot = static_cast<int16_t>(place.offset);
    return true;
  }

  Place *placeOf(uint64_t number) noexcept {
    return number == machine::kFramePointer    ? &run_.row.frame
           : number == machine::kReturnAddress ? &run_.row.link
                                               : nullptr;
  }
  void setPlace(uint64_t number, const Place &place) noexcept {
    if (Place *at = placeOf(number))
      *at = place;
  }
  // Returns an offset in bytes. The multiplication is unsigned, so it cannot overflow, whatever offset a damaged table
  // contains.
  int64_t scaled(int64_t factored) const noexcept {
    return static_cast<int64_t>(static_cast<uint64_t>(factored) * static_cast<uint64_t>(cie_.data_factor));
  }
  void setOffset(uint64_t number, int64_t factored) noexcept { setPlace(number, {Place::AtCfa, scaled(factored)}); }
  void restore(uint64_t number) noexcept {
    setPlace(number, number == machine::kFramePointer ? run_.initial.frame : run_.initial.link);
  }

  static TableCursor takeBlock(TableCursor &program) noexcept {
    const uint64_t bytes = program.uleb(), at = program.at();
    program.skip(bytes);
    return program.failed() ? TableCursor(0, 0) : TableCursor(at, at + bytes);
  }

  void defineCfaExpression(TableCursor expression) noexcept {
    run_.row.kind = Row::Elsewhere;
    if (int64_t limit = 0; readPlt(expression, limit)) {
      run_.row.kind = Row::Plt;
      run_.row.base = machine::kStackPointer;
      run_.row.offset = limit;
      return;
    }
    const BasePlus base = readBasePlus(expression);
    if (base.known && expression.byte() == kDereference && !expression.more()) {
      run_.row.kind = Row::Word;
      run_.row.base = base.base;
      run_.row.offset = base.offset;
    }
  }

  void setExpression(uint64_t number, TableCursor expression) noexcept {
    const BasePlus base = readBasePlus(expression);
    const bool at_base = base.known && !expression.more() && base.base == machine::kFramePointer;
    setPlace(number, at_base ? Place{Place::AtBase, base.offset} : Place{Place::Elsewhere});
  }

  void advance(uint64_t factored) noexcept { run_.location += factored * cie_.code_factor; }

  bool remember() noexcept {
    if (run_.remembered == Run::kRemembered)
      return false;
    run_.stack[run_.remembered++] = run_.row;
    return true;
  }
  bool forget() noexcept {
    if (run_.remembered == 0)
      return false;
    run_.row = run_.stack[--run_.remembered];
    return true;
  }

  bool step(TableCursor &program) noexcept {
    const uint8_t instruction = program.byte(), operand = instruction & 0x3f;
    switch (instruction & 0xc0) {
    case kAdvance:
      advance(operand);
      return true;
    case kOffset:
      setOffset(operand, static_cast<int64_t>(program.uleb()));
      return true;
    case kRestore:
      restore(operand);
      return true;
    default:
      return stepExtended(instruction, program);
    }
  }

  bool stepExtended(uint8_t instruction, TableCursor &program) noexcept {
    switch (instruction) {
    case kNop:
      return true;
    case kSetLocation:
      run_.location = program.pointer(cie_.encoding);
      return true;
    case kAdvance1:
      advance(program.byte());
      return true;
    case kAdvance2:
      advance(program.fixed<uint16_t>());
      return true;
    case kAdvance4:
      advance(program.fixed<uint32_t>());
      return true;
    case kRememberState:
      return remember();
    case kRestoreState:
      return forget();
    case kToggleReturnAddressState: // has no effect, since the walk removes the signature from each return address
      return machine::kHasLinkRegister;
    case kArgumentsSize:
      program.uleb();
      return true;
    default:
      return stepCfa(instruction, program) || stepRegister(instruction, program);
    }
  }

  bool stepCfa(uint8_t instruction, TableCursor &program) noexcept {
    switch (instruction) {
    case kDefineCfa:
      run_.row.kind = Row::Register;
      run_.row.base = program.uleb();
      run_.row.offset = static_cast<int64_t>(program.uleb());
      return true;
    case kDefineCfaSigned:
      run_.row.kind = Row::Register;
      run_.row.base = program.uleb();
      run_.row.offset = scaled(program.sleb());
      return true;
    case kDefineCfaRegister:
      run_.row.kind = Row::Register;
      run_.row.base = program.uleb();
      return true;
    case kDefineCfaOffset:
      run_.row.offset = static_cast<int64_t>(program.uleb());
      return true;
    case kDefineCfaOffsetSigned:
      run_.row.offset = scaled(program.sleb());
      return true;
    case kDefineCfaExpression:
      defineCfaExpression(takeBlock(program));
      return true;
    default:
      return false;
    }
  }

  bool stepRegister(uint8_t instruction, TableCursor &program) noexcept {
    if (instruction < kOffsetExtended || (instruction > kRegister && instruction < kExpression) ||
        instruction > kValueExpression)
      return false;
    const uint64_t number = program.uleb();
    switch (instruction) {
    case kOffsetExtended:
      setOffset(number, static_cast<int64_t>(program.uleb()));
      return true;
    case kOffsetExtendedSigned:
      setOffset(number, program.sleb());
      return true;
    case kRestoreExtended:
      restore(number);
      return true;
    case kUndefined:
      setPlace(number, {Place::Undefined});
      return true;
    case kSameValue:
      setPlace(number, {Place::Kept});
      return true;
    case kExpression:
      setExpression(number, takeBlock(program));
      return true;
    case kRegister:
    case kValueOffset:
    case kValueOffsetSigned:
      program.uleb(); // also skips a signed number, which has the same length
      setPlace(number, {Place::Elsewhere});
      return true;
    case kValueExpression:
      takeBlock(program);
      setPlace(number, {Place::Elsewhere});
      return true;
    default:
      return false;
    }
  }

  const Cie &cie_;
  Run &run_;
  uint64_t address_;
};

} // namespace

Rule runProgram(const Cie &cie, TableCursor program, uint64_t begin, uint64_t address, Run &run) noexcept {
  const bool goes_on = run.function == begin && run.address <= address;
  if (!goes_on) {
    run = {};
    run.location = begin;
    run.rest = program;
  }
  run.function = 0; // the state is valid only if the program below succeeds
  Program state(cie, run, address);
  if (!goes_on) {
    TableCursor common = cie.program;
    if (!state.run(common))
      return {};
    run.initial = run.row;
  }
  if (!state.run(run.rest))
    return {};
  run.function = begin;
  run.address = address;
  return state.rule();
}

} // namespace msleaks::runtime::unwind
