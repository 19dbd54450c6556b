#include "analysis/places/type_layouts.h"

#include "analysis/base/text.h"

#include <dwarf.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <optional>
#include <string>

namespace msleaks::analysis::inline places {
namespace {

constexpr uint64_t kMostEntries = 5'000'000; // takes a second
constexpr int kMostLevels = 32;              // of nested structs

std::string nameOf(Dwarf_Die &die) {
  const char *name = dwarf_diename(&die);
  return name ? name : "";
}

bool isStruct(int tag) { return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type; }

bool isDeclaration(Dwarf_Die &die) { return dwarf_hasattr(&die, DW_AT_declaration) != 0; }

std::optional<uint64_t> constantOf(Dwarf_Die &die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (!dwarf_attr_integrate(&die, name, &attribute) || dwarf_formudata(&attribute, &value) != 0)
    return std::nullopt;
  return value;
}

// The member's type, without typedefs, const and volatile.
std::optional<Dwarf_Die> typeOf(Dwarf_Die &die) {
  Dwarf_Attribute attribute;
  Dwarf_Die type, plain;
  if (!dwarf_formref_die(dwarf_attr_integrate(&die, DW_AT_type, &attribute), &type) ||
      dwarf_peel_type(&type, &plain) != 0)
    return std::nullopt;
  return plain;
}

std::optional<uint64_t> sizeOf(Dwarf_Die &type) {
  Dwarf_Word size = 0;
  return dwarf_aggregate_size(&type, &size) == 0 ? std::optional<uint64_t>(size) : std::nullopt;
}

// A member or a base class, and its offset.
struct Member {
  Dwarf_Die die;
  uint64_t begin = 0;
};

std::optional<Member> memberHolding(Dwarf_Die &type, uint64_t offset) {
  std::optional<Member> found;
  Dwarf_Die die;
  for (int end = dwarf_child(&type, &die); end == 0; end = dwarf_siblingof(&die, &die)) {
    const int tag = dwarf_tag(&die);
    if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || dwarf_hasattr(&die, DW_AT_external))
      continue; // a static member is not in the struct
    const uint64_t begin = constantOf(die, DW_AT_data_member_location).value_or(0);
    if (begin <= offset && (!found || begin > found->begin))
      found = Member{die, begin};
  }
  return found;
}

class Path {
public:
  // Appends the member at `offset` in the type to the text.
  void enter(Dwarf_Die type, uint64_t offset, int level = 0) {
    if (level == kMostLevels)
      return;
    if (isStruct(dwarf_tag(&type)))
      enterStruct(type, offset, level);
    else if (dwarf_tag(&type) == DW_TAG_array_type)
      enterArray(type, offset, level);
  }
  std::string take() { return std::move(text_); }

private:
  void enterStruct(Dwarf_Die &type, uint64_t offset, int level) {
    auto member = memberHolding(type, offset);
    if (!member)
      return;
    if (const std::string name = nameOf(member->die); !name.empty() && dwarf_tag(&member->die) == DW_TAG_member)
      text_ += text_.empty() ? name : "." + name;
    if (const auto inner = typeOf(member->die))
      enter(*inner, offset - member->begin, level + 1);
  }
  void enterArray(Dwarf_Die &type, uint64_t offset, int level) {
    auto element = typeOf(type);
    const auto size = element ? sizeOf(*element) : std::nullopt;
    if (!size || *size == 0)
      return;
    text_ += fmt::format("[{}]", offset / *size);
    enter(*element, offset % *size, level + 1);
  }

  std::string text_;
};

} // namespace

TypeLayouts::TypeLayouts(Dwarf *dwarf) : left_(kMostEntries) {
  Dwarf_CU *unit = nullptr;
  Dwarf_Die die;
  while (left_ > 0 && dwarf_get_units(dwarf, unit, &unit, nullptr, nullptr, &die, nullptr) == 0)
    add(die, "");
}

void TypeLayouts::add(Dwarf_Die holder, const std::string &scope) {
  Dwarf_Die die;
  for (int end = dwarf_child(&holder, &die); end == 0 && left_ > 0; end = dwarf_siblingof(&die, &die), --left_) {
    const int tag = dwarf_tag(&die);
    const std::string name = nameOf(die);
    if (name.empty())
      continue;
    if (tag == DW_TAG_namespace) {
      add(die, scope + name + "::");
    } else if (isStruct(tag) && !isDeclaration(die)) {
      types_.try_emplace(scope + name, die);
      add(die, scope + name + "::");
    } else if (Dwarf_Die type; tag == DW_TAG_typedef && dwarf_peel_type(&die, &type) == 0 &&
                               isStruct(dwarf_tag(&type)) && !isDeclaration(type)) {
      types_.try_emplace(scope + name, type);
    }
  }
}

std::string TypeLayouts::memberAt(std::string_view type, uint64_t offset) const {
  for (const std::string_view word : {"struct ", "class ", "union "})
    if (type.starts_with(word))
      type.remove_prefix(word.size());
  const auto found = types_.find(std::string(type));
  if (found == types_.end())
    return {};
  Dwarf_Die die = found->second;
  const auto size = sizeOf(die);
  Path path;
  path.enter(die, size && *size != 0 ? offset % *size : offset);
  return path.take();
}

namespace {

struct LibcType {
  const char *function, *type;
};

constexpr LibcType kTypes[] = {
#define MSL_LIBC_TYPE(function, type) {function, type},
#include "libc_types.def"
};

} // namespace

bool isOfLibc(const Site &call) {
  return call.origin == SiteOrigin::Hook && baseName(call.library).starts_with("libc.so");
}

std::string_view libcTypeOf(const Site &innermost, std::string_view callee) {
  const std::string inner(innermost.function), called(callee);
  for (const LibcType &row : kTypes)
    if (fnmatch(row.function, inner.c_str(), 0) == 0 || fnmatch(row.function, called.c_str(), 0) == 0)
      return row.type;
  return {};
}

} // namespace msleaks::analysis::inline places
