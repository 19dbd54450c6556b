// Writes the .defs file: definitions of images, armed units and labels, and notes.
#pragma once

#include "arena.h"

#include "msleaks/abi/definitions.h"
#include "msleaks/abi/site_table.h"

#include <string_view>

namespace msleaks::runtime {

// Each of these functions appends one record. Call with signals blocked and Process::lock held. If the file is full or
// cannot be opened now, the function counts the record as refused and returns false.
bool defineImage(Arena &arena, const abi::ImageDefinition &image, std::string_view path) noexcept;
bool defineNote(Arena &arena, std::string_view text) noexcept;
bool definePythonCode(Arena &arena, abi::PythonCodeDefinition code, std::string_view file,
                      std::string_view name) noexcept;
bool definePythonModule(Arena &arena, uint32_t code, std::string_view name) noexcept;
bool defineLabel(Arena &arena, uint32_t number, std::string_view text) noexcept;

// Collects the definitions of many units, and writes them with few system calls.
class UnitBatch {
public:
  explicit UnitBatch(Arena &arena) noexcept : arena_(arena) {}
  ~UnitBatch();
  UnitBatch(const UnitBatch &) = delete;
  UnitBatch &operator=(const UnitBatch &) = delete;

  // Adds a record. `table` must stay mapped until flush(). After one refused record, all later records are refused.
  bool add(const abi::UnitDefinition &unit, const abi::UnitHeader &table) noexcept;
  bool flush() noexcept; // true = all added records are written

private:
  struct Batch;
  bool fail() noexcept;
  Arena &arena_;
  Batch *batch_ = nullptr;
  bool failed_ = false;
};

} // namespace msleaks::runtime
