// Imitates CUDA's runtime library with captures of streams. A graph is the captured work of one stream.
#include "cudart.cpp"

namespace {
standin::Work &workOf(void *graph) { return *static_cast<standin::Work *>(graph); }
} // namespace

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  return said(stream != nullptr ? standin::captures().begin(streamOf(stream)) : cudaErrorInvalidValue);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
  if (stream == nullptr && standin::captures().isAny())
    return saidWithErrno(standin::Captures::kImplicit);
  *status = static_cast<cudaStreamCaptureStatus>(standin::captures().stateOf(streamOf(stream)));
  return saidWithErrno(cudaSuccess);
}
cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus *status, unsigned long long *id,
                                        cudaGraph_t *graph, const cudaGraphNode_t **, size_t *) {
  if (stream == nullptr && standin::captures().isAny())
    return saidWithErrno(standin::Captures::kImplicit);
  *status = static_cast<cudaStreamCaptureStatus>(standin::captures().stateOf(streamOf(stream)));
  *id = 1;
  *graph = reinterpret_cast<cudaGraph_t>(standin::captures().workOf(streamOf(stream)));
  return saidWithErrno(cudaSuccess);
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  standin::Work *work = nullptr;
  const int status = standin::captures().end(streamOf(stream), work);
  *graph = reinterpret_cast<cudaGraph_t>(work);
  return said(status);
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode) {
  const auto before = static_cast<cudaStreamCaptureMode>(standin::Captures::modeOfThread());
  standin::Captures::modeOfThread() = *mode;
  *mode = before;
  return saidWithErrno(cudaSuccess);
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *runnable, cudaGraph_t graph, unsigned long long) {
  *runnable = reinterpret_cast<cudaGraphExec_t>(new standin::Work(workOf(graph)));
  return said(cudaSuccess);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t runnable, cudaStream_t stream) {
  for (const auto &work : workOf(runnable))
    streamOf(stream).run(work);
  return said(cudaSuccess);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t runnable) {
  delete &workOf(runnable);
  return said(cudaSuccess);
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete &workOf(graph);
  return said(cudaSuccess);
}
