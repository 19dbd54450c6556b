// Watches the outputs of the operation that --watch names.
#include "label_table.h"
#include "session.h"
#include "watch_list.h"

#include "msleaks/abi/hook.h"
#include "msleaks/runtime/record.h"

namespace msleaks::runtime {
namespace {

// Returns the label of an output's name. The name has the form that --watch uses, such as "relu:0".
uint64_t labelOfOutput(const char *operation, uint32_t number) noexcept {
  Text<sizeof(abi::WatchWish::begin) + 16> name;
  name << operation << ":" << uint64_t{number};
  return labelOf(name.c_str());
}

TensorForm formOf(const hook::Output &output) noexcept {
  TensorForm form{};
  if (output.type == nullptr || output.dimensions > hook::kMostDimensions)
    return form;
  const uint64_t length = __builtin_strlen(output.type);
  if (length >= sizeof form.type)
    return form; // the first characters of a name may be the name of another type
  __builtin_memcpy(form.type, output.type, length);
  form.dimensions = output.dimensions;
  for (uint64_t i = 0; i < form.dimensions; ++i)
    form.extents[i] = output.extents[i];
  return form;
}

// Whether --watch names the output. Call this in the range of the operation.
bool isWished(const Thread &thread, const hook::Output &output) noexcept {
  const abi::WatchWish &wish = session.control->watch;
  const OpenRange *range = innermostRange(thread);
  return range != nullptr && range->label == labelOf(wish.begin) &&
         (wish.output == 0 || wish.output == output.number + 1) && output.address != nullptr && output.size_bytes != 0;
}

} // namespace
} // namespace msleaks::runtime

using namespace msleaks;
using namespace msleaks::runtime;

// Watches the output if --watch names it. If an operation runs again, its new output replaces the earlier one.
void __msl_hook_output(const hook::Output *output) noexcept {
  Thread &thread = __msl_thread;
  if (session.control == nullptr || session.control->watch.kind != abi::WatchKind::Output ||
      thread.call.inside == kInsideRuntime || !isEnabled(abi::EventKind::Changed) || !isWished(thread, *output))
    return;
  const abi::WatchWish &wish = session.control->watch;
  const uint64_t name = labelOfOutput(wish.begin, output->number);
  WatchList *list = makeList();
  if (list == nullptr)
    return noteUnwatched();
  const ListHeld held(*list);
  if (!held)
    return;
  for (WatchedBlock &block : list->blocks)
    if (block.address != 0 && block.name == name)
      endWatch(*list, thread, block);
  const uint64_t bytes = wish.bytes != 0 && wish.bytes < output->size_bytes ? wish.bytes : output->size_bytes;
  watch(*list, reinterpret_cast<uint64_t>(output->address), bytes, name, formOf(*output));
}
