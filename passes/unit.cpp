#include "unit.h"

#include "msleaks/abi/site_table.h"

#include "llvm/IR/Constants.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include <cstddef>

using namespace llvm;

namespace msleaks::passes {
namespace {

constexpr char kUnitName[] = "__msl_unit";
constexpr char kConstructorName[] = "__msl_image_ctor_v2", kDestructorName[] = "__msl_image_dtor_v2";
constexpr uint64_t kSectionAlign = 8;
// The first version of the runtime that has every callback that this plugin calls.
constexpr uint16_t kNeeds = 2;

// With this priority, the constructor runs before the program's constructors, and the destructor after its destructors.
// Priority 0 is left free for the runtime.
constexpr int kFirstPriority = 1;

// abi::Unit: { base, version, needs, bytes, reserved, table }
StructType *unitType(LLVMContext &context) {
  Type *word = Type::getInt32Ty(context), *half = Type::getInt16Ty(context);
  return StructType::get(context, {word, half, half, half, ArrayType::get(half, 3), PointerType::get(context, 0)});
}

Constant *unitContent(StructType &type, GlobalVariable *table) {
  static_assert(sizeof(abi::Unit) == 24 && offsetof(abi::Unit, base) == 0 && offsetof(abi::Unit, version) == 4 &&
                offsetof(abi::Unit, needs) == 6 && offsetof(abi::Unit, bytes) == 8 && offsetof(abi::Unit, table) == 16);
  const auto number = [&](unsigned field, uint64_t value) {
    return ConstantInt::get(type.getElementType(field), value);
  };
  return ConstantStruct::get(&type,
                             {number(0, 0), number(1, abi::kObjectVersion), number(2, kNeeds),
                              number(3, sizeof(abi::Unit)), Constant::getNullValue(type.getElementType(4)), table});
}

GlobalVariable *makeTable(Module &module, StringRef bytes) {
  Constant *content = ConstantDataArray::getString(module.getContext(), bytes, /*AddNull=*/false);
  auto *table = new GlobalVariable(module, content->getType(), /*isConstant=*/true, GlobalValue::InternalLinkage,
                                   content, "__msl_table");
  table->setSection(abi::kSitesSection);
  table->setAlignment(Align(kSectionAlign));
  return table;
}

// Declares the symbol that the linker defines at one end of the section of the units. It is weak, because --gc-sections
// may remove all units, and hidden, because each image has its own section.
GlobalVariable *boundary(Module &module, const char *prefix) {
  const std::string name = std::string(prefix) + abi::kUnitsSection;
  if (GlobalVariable *known = module.getGlobalVariable(name))
    return known;
  auto *symbol = new GlobalVariable(module, Type::getInt8Ty(module.getContext()), /*isConstant=*/false,
                                    GlobalValue::ExternalWeakLinkage, nullptr, name);
  symbol->setVisibility(GlobalValue::HiddenVisibility);
  return symbol;
}

// Makes the constructor or the destructor of an image. It calls `target`, if the process has this function:
//
// define linkonce_odr hidden void @__msl_image_ctor_v2() comdat {
//   br (@__msl_arm_v2 != null), call, rest
//   call: call void @__msl_arm_v2(ptr @__start_msl_units_v2, ptr @__stop_msl_units_v2)
//   rest: ret void
// }
Function *makeImageFunction(Module &module, const char *name, FunctionCallee target) {
  LLVMContext &context = module.getContext();
  // The function gets the module's branch-target-enforcement, uwtable and frame-pointer. Without
  // branch-target-enforcement, LLVM 18 and later would generate no landing pad (`bti c`), but the module flag would
  // still mark the object for enforcement. Then the indirect call through .init_array would trap. Up to LLVM 17, a
  // function without the attribute follows the module.
  auto *function = Function::createWithDefaultAttr(FunctionType::get(Type::getVoidTy(context), false),
                                                   GlobalValue::LinkOnceODRLinkage,
                                                   module.getDataLayout().getProgramAddressSpace(), name, &module);
  function->setVisibility(GlobalValue::HiddenVisibility);
  function->setComdat(module.getOrInsertComdat(name));
  function->setDoesNotThrow();
  auto *entry = BasicBlock::Create(context, "entry", function);
  auto *call = BasicBlock::Create(context, "call", function);
  auto *rest = BasicBlock::Create(context, "rest", function);
  IRBuilder<> builder(entry);
  builder.CreateCondBr(builder.CreateIsNotNull(target.getCallee()), call, rest);
  builder.SetInsertPoint(call);
  builder.CreateCall(target, {boundary(module, "__start_"), boundary(module, "__stop_")});
  builder.CreateBr(rest);
  builder.SetInsertPoint(rest);
  builder.CreateRetVoid();
  return function;
}

} // namespace

GlobalVariable *makeUnit(Module &module) {
  StructType *type = unitType(module.getContext());
  auto *unit = new GlobalVariable(module, type, /*isConstant=*/false, GlobalValue::InternalLinkage,
                                  Constant::getNullValue(type), kUnitName);
  unit->setSection(abi::kUnitsSection);
  unit->setAlignment(Align(kSectionAlign));
  unit->setDSOLocal(true);
  return unit;
}

void finishUnit(GlobalVariable &unit, StringRef table) {
  Module &module = *unit.getParent();
  unit.setInitializer(unitContent(*cast<StructType>(unit.getValueType()), makeTable(module, table)));
  // No code of the module writes the field `base`. So without the next two calls, the optimiser would assume that it is
  // always 0.
  unit.setExternallyInitialized(true);
  appendToCompilerUsed(module, {&unit});
}

void addImageFunctions(Module &module) {
  if (module.getFunction(kConstructorName))
    return;
  RuntimeDecls runtime(module);
  Function *constructor = makeImageFunction(module, kConstructorName, runtime.arm());
  Function *destructor = makeImageFunction(module, kDestructorName, runtime.disarm());
  appendToGlobalCtors(module, constructor, kFirstPriority, constructor);
  appendToGlobalDtors(module, destructor, kFirstPriority, destructor);
}

} // namespace msleaks::passes
