// Bodies of hooks for memory that graphs allocate and free, by nodes or by calls on a captured stream
// (devices/graph_nodes.h).
#pragma once

#include "devices/batches.h"
#include "devices/graph_nodes.h"
#include "devices/memory.h"

namespace msleaks::hooks {

// The layouts of CUDA_MEM_ALLOC_NODE_PARAMS and CUgraphNodeParams, and of those of the runtime library and of HIP.
struct AllocNode {
  int type, handle_types, place, device;
  const void *security;
  unsigned char rest[64];
  const void *access;
  size_t access_count, bytes;
  uint64_t address; // the driver stores it
};
struct AnyNode {
  int type, reserved[3];
  union {
    AllocNode memory;
    uint64_t freed;
  };
};

template <abi::Family kFamily> using ReservedByGraph = Take<kFamily, 1, abi::Heap::Device, abi::kReserve | abi::kFile>;
template <abi::Family kFamily>
constexpr uint32_t kGraphTraits = abi::Traits(abi::Verb::Alloc, kFamily, abi::Heap::Device, abi::kFromHook).packed();

template <abi::Family kFamily> void tellInGraph(const void *caller, const GraphNode &node, hook::InGraph what) {
  if (__msl_hook_in_graph != nullptr)
    __msl_hook_in_graph(kGraphTraits<kFamily>, reinterpret_cast<uint64_t>(caller), node.address, node.bytes,
                        static_cast<uint32_t>(what));
}

template <abi::Family kFamily, class Real, class Graph>
auto allocNodeRecorded(Real real, void *caller, Graph graph, AllocNode *node) {
  if (node == nullptr)
    return real();
  const hook::WithDevice device(kFamily, static_cast<uint32_t>(node->device));
  const auto with_size = [&](uint64_t *, size_t) { return real(); };
  const auto status =
      hook::callRecorded<ReservedByGraph<kFamily>>(with_size, caller, &node->address, size_t{node->bytes});
  if (static_cast<int>(status) == 0 && node->bytes != 0)
    addNode(kFamily, numberOf(graph), {node->address, node->bytes});
  return status;
}
template <abi::Family kFamily, class Status, class Graph>
Status afterFreeNode(Status status, Graph graph, uint64_t of) {
  if (static_cast<int>(status) == 0)
    addNode(kFamily, numberOf(graph), {of, 0});
  return status;
}

template <abi::Family kFamily>
inline constexpr auto kAllocNode =
    [](auto real, void *caller, auto *node, auto graph, auto *after, size_t count, auto *what) {
      const auto as_given = [=] { return real(node, graph, after, count, what); };
      return allocNodeRecorded<kFamily>(as_given, caller, graph, reinterpret_cast<AllocNode *>(what));
    };
template <abi::Family kFamily>
inline constexpr auto kFreeNode = [](auto real, void *, auto *node, auto graph, auto *after, size_t count, auto block) {
  return afterFreeNode<kFamily>(real(node, graph, after, count, block), graph, numberOf(block));
};
// Adds a node of any kind. `kNodeOf(real, rest...)` returns its description.
template <abi::Family kFamily, auto kNodeOf>
inline constexpr auto kAnyNode = [](auto real, void *caller, auto *node, auto graph, auto... rest) {
  constexpr int kAllocates = 10, kFrees = 11;
  auto *const what = static_cast<AnyNode *>(const_cast<void *>(static_cast<const void *>(kNodeOf(real, rest...))));
  if (what != nullptr && what->type == kAllocates) {
    const auto as_given = [=] { return real(node, graph, rest...); };
    return allocNodeRecorded<kFamily>(as_given, caller, graph, &what->memory);
  }
  const auto status = real(node, graph, rest...);
  return what != nullptr && what->type == kFrees ? afterFreeNode<kFamily>(status, graph, what->freed) : status;
};

// An allocation or a free in the order of a stream. If the stream is captured, it becomes a node of the graph
// `kGraphOf(stream)`; 0: it is not captured.
template <class Row, auto kGraphOf>
inline constexpr auto kAllocInOrder = [](auto real, void *caller, auto *block, size_t bytes, auto... rest) {
  constexpr abi::Family kFamily = Row::kRow.family;
  const uint64_t graph = kGraphOf(lastOf(rest...));
  if (graph == 0)
    return hook::callRecorded<Row>(real, caller, block, bytes, rest...);
  const auto in_graph = [=](auto... as_given) {
    if (__msl_hook_flags != nullptr)
      __msl_hook_flags(kGraphTraits<kFamily>, abi::kReserve | abi::kFile);
    return real(as_given...);
  };
  const auto status = hook::callRecorded<Row>(in_graph, caller, block, bytes, rest...);
  if (static_cast<int>(status) == 0 && bytes != 0)
    addNode(kFamily, graph, {numberOf(*block), bytes});
  return status;
};
template <class Row, auto kGraphOf>
inline constexpr auto kFreeInOrder = [](auto real, void *caller, auto block, auto stream) {
  constexpr abi::Family kFamily = Row::kRow.family;
  const uint64_t graph = kGraphOf(stream);
  if (graph == 0)
    return hook::callRecorded<Row>(real, caller, block, stream);
  hook::Call call{kGraphTraits<kFamily>, hook::kPass, reinterpret_cast<uint64_t>(caller), 0, 0, 0};
  __msl_hook_begin(&call);
  const auto status = real(block, stream);
  __msl_hook_end(&call);
  return afterFreeNode<kFamily>(status, graph, numberOf(block));
};

// Returns the graph into which a stream is captured; 0: it is not captured. `kAsk` passes its arguments to the driver.
// The driver refuses to answer for the default stream while another stream is captured. Then the default stream is not.
using CaptureInfo = int(const void *, int *, uint64_t *, void **, const void *, size_t *);
template <auto kAsk> uint64_t capturedGraph(const void *stream) {
  constexpr int kActive = 1;
  int state = 0;
  uint64_t id = 0;
  void *graph = nullptr;
  return kAsk(stream, &state, &id, &graph, nullptr, nullptr) == 0 && state == kActive ? numberOf(graph) : 0;
}

// The ways of a graph: it is made ready to run, launched, and destroyed. The memory of its nodes outlives it.
template <hook::Name kName>
inline constexpr auto kInstantiated = [](auto real, void *caller, auto *made, auto graph, auto... rest) {
  const auto status = hook::callRecorded<hook::Known<kName>>(real, caller, made, graph, rest...);
  if (static_cast<int>(status) == 0 && hasNodes())
    copyNodes(hook::Known<kName>::kRow.family, numberOf(graph), numberOf(*made));
  return status;
};
template <hook::Name kName>
inline constexpr auto kGraphGone = [](auto real, void *caller, auto graph) {
  using Row = hook::Known<kName>;
  // Before the call: the runtime library calls the driver's function, whose hook records nothing then.
  forgetNodes(Row::kRow.family, numberOf(graph),
              [=](const GraphNode &node) { tellInGraph<Row::kRow.family>(caller, node, hook::InGraph::Ends); });
  return hook::callRecorded<Row>(real, caller, graph);
};
template <abi::Family kFamily>
inline constexpr auto kGraphLaunched = [](auto real, void *caller, auto graph, auto stream) {
  const auto status = kGraph<kFamily>(real, caller, graph, stream);
  if (static_cast<int>(status) != 0)
    return status;
  const auto tellEach = [=](bool frees, hook::InGraph what) {
    forEachNode(kFamily, numberOf(graph), [=](const GraphNode &node) {
      if (node.frees() == frees)
        tellInGraph<kFamily>(caller, node, what);
    });
  };
  tellEach(false, hook::InGraph::GetsMemory);
  tellEach(true, hook::InGraph::GivesMemoryBack);
  return status;
};

} // namespace msleaks::hooks
