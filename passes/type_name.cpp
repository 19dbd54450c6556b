#include "type_name.h"

#include "llvm/BinaryFormat/Dwarf.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

bool isQualifier(unsigned tag) {
  return tag == dwarf::DW_TAG_const_type || tag == dwarf::DW_TAG_volatile_type || tag == dwarf::DW_TAG_restrict_type ||
         tag == dwarf::DW_TAG_atomic_type;
}

// Returns "outer::inner::". Leaves out inline namespaces, since sources do not write them.
std::string scopePrefix(const DIScope *scope) {
  std::string prefix;
  for (; scope && (isa<DINamespace>(scope) || isa<DICompositeType>(scope)); scope = scope->getScope()) {
    if (const auto *space = dyn_cast<DINamespace>(scope); space && space->getExportSymbols())
      continue;
    const StringRef name = scope->getName();
    prefix.insert(0, (name.empty() ? "(anonymous)" : name.str()) + "::");
  }
  return prefix;
}

std::string compositeName(const DICompositeType &type, Spelling spelling) {
  if (type.getTag() == dwarf::DW_TAG_array_type) {
    std::string name = typeName(type.getBaseType(), spelling);
    for (const DINode *element : type.getElements())
      if (const auto *range = dyn_cast<DISubrange>(element)) {
        const auto *count = dyn_cast_if_present<ConstantInt *>(range->getCount());
        name += "[" + (count ? std::to_string(count->getSExtValue()) : std::string()) + "]";
      }
    return name;
  }
  if (type.getName().empty())
    return {};
  std::string word;
  if (spelling == Spelling::C)
    word = type.getTag() == dwarf::DW_TAG_union_type         ? "union "
           : type.getTag() == dwarf::DW_TAG_enumeration_type ? "enum "
                                                             : "struct ";
  return word + scopePrefix(type.getScope()) + type.getName().str();
}

std::string functionName(const DISubroutineType &type, StringRef star, Spelling spelling) {
  const auto nameOrVoid = [&](const DIType *part) {
    const std::string name = typeName(part, spelling);
    return name.empty() ? std::string("void") : name;
  };
  std::string text, separator;
  const DITypeRefArray types = type.getTypeArray();
  for (unsigned i = 1; i < types.size(); ++i) {
    text += separator + (types[i] ? typeName(types[i], spelling) : std::string("..."));
    separator = ", ";
  }
  return nameOrVoid(types.size() ? types[0] : nullptr) + " (" + star.str() + ")(" + text + ")";
}

std::string pointerName(const DIDerivedType &type, StringRef star, Spelling spelling) {
  if (const auto *function = dyn_cast_if_present<DISubroutineType>(type.getBaseType()))
    return functionName(*function, star, spelling);
  const DIType *base = type.getBaseType();
  // The name contains only one qualifier: `const` of the type that the pointer points to, as in "const char *".
  std::string qualifier;
  if (const auto *derived = dyn_cast_if_present<DIDerivedType>(base);
      derived && derived->getTag() == dwarf::DW_TAG_const_type)
    qualifier = "const ";
  std::string name = typeName(base, spelling);
  if (name.empty() && strippedType(base))
    return {};
  if (name.empty())
    name = "void";
  const bool packed = name.back() == '*';
  return qualifier + name + (packed ? "" : " ") + star.str();
}

} // namespace

const DIType *strippedType(const DIType *type) {
  while (const auto *derived = dyn_cast_if_present<DIDerivedType>(type)) {
    if (derived->getTag() != dwarf::DW_TAG_typedef && !isQualifier(derived->getTag()))
      break;
    type = derived->getBaseType();
  }
  return type;
}

uint64_t sizeInBytes(const DIType &type) {
  const DIType *stripped = strippedType(&type);
  return stripped ? stripped->getSizeInBits() / 8 : 0;
}

std::string typeName(const DIType *type, Spelling spelling) {
  if (const auto *composite = dyn_cast_if_present<DICompositeType>(type))
    return compositeName(*composite, spelling);
  const auto *derived = dyn_cast_if_present<DIDerivedType>(type);
  if (!derived)
    return type && !isa<DISubroutineType>(type) ? type->getName().str() : std::string();
  switch (derived->getTag()) {
  case dwarf::DW_TAG_typedef:
    return scopePrefix(derived->getScope()) + derived->getName().str();
  case dwarf::DW_TAG_pointer_type:
    return pointerName(*derived, "*", spelling);
  case dwarf::DW_TAG_reference_type:
    return pointerName(*derived, "&", spelling);
  case dwarf::DW_TAG_rvalue_reference_type:
    return pointerName(*derived, "&&", spelling);
  default:
    return isQualifier(derived->getTag()) ? typeName(derived->getBaseType(), spelling) : std::string();
  }
}

} // namespace msleaks::passes
