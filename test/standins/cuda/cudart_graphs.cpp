// Imitates CUDA's runtime library with nodes that allocate and free memory. The address of such memory never changes,
// and the stand-in never releases it. A launch runs no such node.
#include "cudart_capture.cpp"

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned) {
  *graph = reinterpret_cast<cudaGraph_t>(new standin::Work);
  return said(cudaSuccess);
}
cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t, const cudaGraphNode_t *, size_t,
                                     cudaMemAllocNodeParams *what) {
  STANDIN_MAY_REFUSE(said);
  what->dptr = machine().device(static_cast<unsigned>(what->poolProps.location.id)).allocate(what->bytesize);
  if (what->dptr == nullptr)
    return said(cudaErrorMemoryAllocation);
  standin::captures().keepBlock(what->dptr);
  *node = static_cast<cudaGraphNode_t>(what->dptr);
  return said(cudaSuccess);
}
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t, const cudaGraphNode_t *, size_t, void *block) {
  STANDIN_MAY_REFUSE(said);
  *node = static_cast<cudaGraphNode_t>(block);
  return said(standin::captures().isKept(block) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                             cudaGraphNodeParams *what) {
  constexpr int kAllocates = 10;
  return what->type == kAllocates ? cudaGraphAddMemAllocNode(node, graph, after, count, &what->alloc)
                                  : cudaGraphAddMemFreeNode(node, graph, after, count, what->free.dptr);
}
