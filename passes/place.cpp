#include "place.h"

#include "type_name.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/BinaryFormat/Dwarf.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

constexpr unsigned kMaxDepth = 24;

const DICompositeType *arrayOf(const DIType *type) {
  const auto *composite = dyn_cast_if_present<DICompositeType>(type);
  return composite && composite->getTag() == dwarf::DW_TAG_array_type ? composite : nullptr;
}

const DICompositeType *recordOf(const DIType *type) {
  const auto *composite = dyn_cast_if_present<DICompositeType>(type);
  if (!composite)
    return nullptr;
  const unsigned tag = composite->getTag();
  const bool isRecord =
      tag == dwarf::DW_TAG_structure_type || tag == dwarf::DW_TAG_class_type || tag == dwarf::DW_TAG_union_type;
  return isRecord ? composite : nullptr;
}

bool isPointer(const DIType *type) {
  type = strippedType(type);
  return type && type->getTag() == dwarf::DW_TAG_pointer_type;
}

// Returns the members and bases of `record` that cover the place's offset.
SmallVector<Place, 2> membersAt(const Place &place, const DICompositeType &record) {
  SmallVector<Place, 2> found;
  for (const DINode *node : record.getElements()) {
    const auto *member = dyn_cast_if_present<DIDerivedType>(node);
    if (!member || member->isStaticMember() || member->isBitField() || !member->getBaseType())
      continue;
    if (member->getTag() != dwarf::DW_TAG_member && member->getTag() != dwarf::DW_TAG_inheritance)
      continue;
    const uint64_t begin = member->getOffsetInBits() / 8;
    if (place.offset < begin || place.offset >= begin + sizeInBytes(*member->getBaseType()))
      continue;
    const bool named = member->getTag() == dwarf::DW_TAG_member && !member->getName().empty();
    Place at = {place.name, member->getBaseType(), named ? false : place.pointed, place.offset - begin};
    if (named)
      at.name += (place.pointed ? "->" : ".") + member->getName().str();
    found.push_back(std::move(at));
  }
  return found;
}

using Visit = function_ref<std::optional<Place>(const Place &)>;

// Calls `visit` for each member, and returns the only result. If there are several results, returns the only pointer
// among them.
std::optional<Place> onlyAnswer(ArrayRef<Place> members, Visit visit) {
  std::optional<Place> answer, pointer;
  unsigned answers = 0, pointers = 0;
  for (const Place &member : members)
    if (auto found = visit(member)) {
      ++answers;
      if (isPointer(found->type)) {
        ++pointers;
        pointer = found;
      }
      answer = std::move(found);
    }
  if (answers == 1)
    return answer;
  return pointers == 1 ? pointer : std::nullopt;
}

// Returns the element at a constant offset: in an array of 8-byte elements, offset 24 is element 3. The place may also
// be a pointer to such elements.
Place constantElement(const Place &place, const DIType *element, uint64_t size) {
  Place at = {place.name, element, false, place.offset % size};
  at.name += "[" + std::to_string(place.offset / size) + "]";
  return at;
}

// Steps into members and elements until `isThere` is true.
std::optional<Place> descend(const Place &place, function_ref<bool(const Place &)> isThere, unsigned depth = 0) {
  const DIType *type = strippedType(place.type);
  if (!type || depth > kMaxDepth)
    return std::nullopt;
  if (isThere(place))
    return place;
  const auto further = [&](const Place &next) { return descend(next, isThere, depth + 1); };
  const uint64_t size = sizeInBytes(*type);
  if (place.pointed && size && place.offset >= size)
    return further(constantElement(place, place.type, size));
  if (const DICompositeType *array = arrayOf(type)) {
    const uint64_t elementSize = array->getBaseType() ? sizeInBytes(*array->getBaseType()) : 0;
    if (!elementSize || (size && place.offset >= size))
      return std::nullopt;
    Place whole = place;
    if (place.pointed)
      whole.name = "(*" + place.name + ")";
    return further(constantElement(whole, array->getBaseType(), elementSize));
  }
  if (const DICompositeType *record = recordOf(type))
    return onlyAnswer(membersAt(place, *record), further);
  return std::nullopt;
}

std::optional<Place> elementOf(const Place &place, uint64_t stride, unsigned depth) {
  const DIType *type = strippedType(place.type);
  if (!type || depth > kMaxDepth)
    return std::nullopt;
  const uint64_t size = sizeInBytes(*type);
  if (place.pointed && size == stride)
    return Place{place.name + "[]", place.type, false, place.offset % stride};
  if (const DICompositeType *array = arrayOf(type)) {
    const uint64_t elementSize = array->getBaseType() ? sizeInBytes(*array->getBaseType()) : 0;
    if (!elementSize || stride % elementSize)
      return std::nullopt;
    // If the stride is larger than an element, the index counts an outer dimension.
    const DIType *element = stride == elementSize ? array->getBaseType() : place.type;
    return Place{place.name + "[]", element, false, place.offset % stride};
  }
  if (const DICompositeType *record = recordOf(type))
    return onlyAnswer(membersAt(place, *record),
                      [&](const Place &member) { return elementOf(member, stride, depth + 1); });
  return std::nullopt;
}

// Names the object that a pointer points to: "p" → "*p".
std::optional<Place> dereferenced(std::optional<Place> place) {
  if (place && place->pointed) {
    place->name.insert(0, "*");
    place->pointed = false;
  }
  return place;
}

} // namespace

std::optional<Place> scalarAt(const Place &place) {
  return dereferenced(descend(place, [](const Place &at) {
    const DIType *type = strippedType(at.type);
    return at.offset == 0 && !arrayOf(type) && !recordOf(type);
  }));
}

std::optional<Place> objectAt(const Place &place, const DIType &type) {
  return dereferenced(
      descend(place, [&](const Place &at) { return at.offset == 0 && strippedType(at.type) == &type; }));
}

std::optional<Place> elementAt(const Place &place, uint64_t stride) { return elementOf(place, stride, 0); }

std::optional<Place> pointeeOf(const Place &pointer) {
  const auto *type = dyn_cast_if_present<DIDerivedType>(strippedType(pointer.type));
  if (!type || pointer.offset != 0 || pointer.pointed)
    return std::nullopt;
  switch (type->getTag()) {
  case dwarf::DW_TAG_pointer_type:
    return Place{pointer.name, type->getBaseType(), true, 0};
  case dwarf::DW_TAG_reference_type:
  case dwarf::DW_TAG_rvalue_reference_type:
    return Place{pointer.name, type->getBaseType(), false, 0};
  default:
    return std::nullopt;
  }
}

} // namespace msleaks::passes
