// The format of definitions. They give the meaning of the numbers in a process' events. The process writes definitions
// to a file. So a full ring, which drops events, loses no definition.
//
// A .defs file is a sequence of records. One write appends one or more whole records. A record:
//
//   DefinitionHeader | body (its fixed part, then strings or bytes) | zeros up to a multiple of 8
//
// If the process is killed, its last record may be incomplete. A reader recognises an incomplete record by its size or
// checksum.
#pragma once

#include <cstdint>

namespace msleaks::abi {

inline constexpr uint32_t kDefinitionMagic = 0x44534c4d; // "MLSD"

enum class DefinitionKind : uint32_t {
  Image = 1,        // ImageDefinition, then the path
  Unit = 2,         // UnitDefinition, then the unit's table (site_table.h) as it is in the image
  Note = 3,         // text for the session's log: why something could not be recorded
  String = 4,       // StringDefinition, then the text of a label
  Inherited = 5,    // InheritedDefinition
  PythonCode = 6,   // PythonCodeDefinition, then the file and the name of the function
  PythonModule = 7, // PythonModuleDefinition, then the name of the module
};

struct DefinitionHeader {
  uint32_t magic; // kDefinitionMagic
  DefinitionKind kind;
  uint32_t bytes;    // size of the body, without padding
  uint32_t checksum; // fnv1a32 (site_table.h) of the body
};

// An executable or shared library in the process.
struct ImageDefinition {
  uint32_t image;          // number, from 1, within the process
  uint32_t build_id_bytes; // size of build_id; 0 = the image has no build id
  uint64_t load_bias;      // difference between an address in memory and the address in the file
  uint64_t begin, end;     // range of addresses that the image is mapped to
  uint8_t build_id[32];
};

// A text that events refer to by its number (a Label). The text is defined once, before the first event that refers to
// it. A fork's child inherits the numbers of its parent. Label 0 means a null pointer, or a text that could not be
// defined.
struct StringDefinition {
  uint32_t number; // number of the text within the process, from 1
  uint32_t reserved;
};
inline constexpr uint32_t kMaxLabels = 65536;           // different texts in a process; further texts are kOtherLabel
inline constexpr uint32_t kOtherLabel = kMaxLabels + 1; // the label of the text "(other)"
inline constexpr uint32_t kMaxLabelBytes = 4096;        // largest size of a text; a longer text is cut off
inline constexpr uint32_t kMaxLabelsBytes = 16 << 20;   // largest size of all texts of a process

// A function or a module of Python code (PathNode). Its texts are those of Python's code object, without a NUL at their
// end, and in UTF-8.
struct PythonCodeDefinition {
  uint32_t number; // number of the code within the process, from 1
  uint32_t first_line;
  uint32_t file_bytes; // the size of the first text
  uint32_t reserved;
};
inline constexpr uint32_t kMaxPythonFileBytes = 3072, kMaxPythonNameBytes = 1024; // longer texts are cut

// The code calls a module of PyTorch. The definition of the code comes before. A name that begins with a dot, such as
// ".layers.3", is the path from the module of the next outer such call. Any other name is the module's class.
struct PythonModuleDefinition {
  uint32_t code; // PythonCodeDefinition::number
  uint32_t reserved;
};
inline constexpr uint32_t kMaxPythonModuleBytes = 512; // a longer name is cut

// The runtime has armed a unit (site_table.h). The site number of row n in the unit's table is base + n.
struct UnitDefinition {
  uint32_t image;
  uint32_t base;
};

// For a fork's child: the nearest process with an arena that it was forked from, often the parent. An exec ends this
// search. Only old traces contain this definition; now ArenaHeader::ancestor_pid stores the pid. If the child and this
// ancestor both define a number, the child's definition is valid for the child.
struct InheritedDefinition {
  uint32_t pid;
  uint32_t reserved;
  uint64_t attach_ns; // ArenaHeader::attach_ns of the ancestor
};

} // namespace msleaks::abi
