// Imitates libatb.so and libmki.so in one library: the part of ATB's classes that a running operator calls, with ATB's
// layout. The operator launches one kernel. This file is built for each ABI of libstdc++ (_GLIBCXX_USE_CXX11_ABI).
#include "atb.h"

#include "../common/asked.h"
#include "../common/refusal.h"

#include <atomic>
#include <cstring>
#include <stdexcept>
#include <string>

namespace Mki {

template <class Element> class SVector {
public:
  void push_back(const Element &element) { elements_[size_++] = element; }
  const Element &at(size_t position) const {
    if (position >= size_)
      throw std::out_of_range("SVector");
    return elements_[position];
  }
  size_t size() const { return size_; }

private:
  Element elements_[49] = {};
  size_t size_ = 0;
};

struct Tensor {
  int dtype = 0, format = 0;
  SVector<int64_t> dims;
  void *strides[3] = {}; // has the size of a std::vector
  int64_t offset = 0;
  void *data = nullptr;
  size_t dataSize = 0;
  void *hostData = nullptr;
};

class LaunchParam {
public:
  size_t GetInTensorCount() const;
  const Tensor &GetInTensor(size_t position) const;
  size_t GetOutTensorCount() const;
  const Tensor &GetOutTensor(size_t position) const;

  void *specificParam[3] = {};
  SVector<Tensor> in, out;
};
size_t LaunchParam::GetInTensorCount() const {
  standin::asked(0);
  return in.size();
}
const Tensor &LaunchParam::GetInTensor(size_t position) const { return in.at(position); }
size_t LaunchParam::GetOutTensorCount() const {
  standin::asked(0);
  return out.size();
}
const Tensor &LaunchParam::GetOutTensor(size_t position) const { return out.at(position); }

} // namespace Mki

namespace atb {

using Status = int32_t;

template <class Element> class SVector {
public:
  ~SVector() { delete[] heap_; }
  void assign(size_t count) {
    if (count > kInside)
      heap_ = new Element[capacity_ = kMost]{};
    size_ = count;
  }
  Element *data() { return heap_ != nullptr ? heap_ : storage_; }
  Element &operator[](size_t position) { return data()[position]; }
  size_t size() const { return size_; }

private:
  static constexpr size_t kInside = 64, kMost = 256;
  size_t capacity_ = 0, size_ = 0;
  Element storage_[kInside + 1] = {};
  Element *heap_ = nullptr;
};

struct Tensor {
  struct {
    int dtype = 0, format = 2;
    struct {
      int64_t dims[8] = {};
      uint64_t dimNum = 1;
    } shape;
  } desc;
  void *deviceData = nullptr, *hostData = nullptr;
  uint64_t dataSize = 0;
};

struct RunnerVariantPack {
  SVector<Tensor> inTensors, outTensors;
  SVector<bool> isInTensorCanFree, isOutTensorNeedMalloc;
  uint8_t *hostTilingBuffer = nullptr, *tilingBuffer = nullptr;
  uint64_t tilingBufferSize = 0;
  uint8_t *workspaceBuffer = nullptr;
  uint64_t workspaceBufferSize = 0;
  uint8_t *intermediateBuffer = nullptr;
  uint64_t intermediateBufferSize = 0;
  uint8_t *argsDeviceBuffer = nullptr, *argsHostBuffer = nullptr;
  void *context = nullptr;
};

class StoreUtil {
public:
  static void SaveLaunchParam(aclrtStream stream, const Mki::LaunchParam &param, const std::string &folder);
};

class Runner {
public:
  Runner(const std::string &operation, size_t stray) : operation_(operation), stray_(stray) {}
  virtual ~Runner() = default;
  std::string GetOperationName() const;
  Status Execute(RunnerVariantPack &pack);

private:
  Status ExecuteImpl(RunnerVariantPack &pack);
  std::string operation_;
  size_t stray_;
};

namespace {

std::atomic<bool> saves{false};
std::atomic<int> saved{0};

struct Arguments {
  float *in[256], *out[256];
  size_t ins, outs, stray;
};

// This function runs on the device.
void add(const void *given, size_t) {
  const auto &arguments = *static_cast<const Arguments *>(given);
  float sum = 0;
  for (size_t i = 0; i < arguments.ins; ++i)
    sum += *arguments.in[i];
  for (size_t i = 0; i < arguments.outs; ++i)
    *arguments.out[i] = sum;
  if (arguments.outs != 0)
    std::memset(arguments.out[0] + 1, 1, arguments.stray);
}

Mki::Tensor tensorOf(const Tensor &tensor) {
  Mki::Tensor made;
  made.data = tensor.deviceData;
  made.dataSize = tensor.dataSize;
  return made;
}

} // namespace

void StoreUtil::SaveLaunchParam(aclrtStream stream, const Mki::LaunchParam &param, const std::string &) {
  const int before = errno;
  aclrtSynchronizeStream(stream);
  errno = before;
  saved += static_cast<int>(param.in.size() + param.out.size());
}

std::string Runner::GetOperationName() const {
  standin::asked(0);
  return operation_;
}

Status Runner::Execute(RunnerVariantPack &pack) {
  STANDIN_MAY_REFUSE();
  return ExecuteImpl(pack);
}

Status Runner::ExecuteImpl(RunnerVariantPack &pack) {
  if (pack.context == nullptr)
    return ATB_ERROR_INVALID_PARAM;
  Arguments arguments{};
  Mki::LaunchParam param;
  for (size_t i = 0; i < pack.inTensors.size(); ++i) {
    arguments.in[arguments.ins++] = static_cast<float *>(pack.inTensors[i].deviceData);
    if (i < 48)
      param.in.push_back(tensorOf(pack.inTensors[i]));
  }
  for (size_t i = 0; i < pack.outTensors.size(); ++i) {
    arguments.out[arguments.outs++] = static_cast<float *>(pack.outTensors[i].deviceData);
    if (i < 48)
      param.out.push_back(tensorOf(pack.outTensors[i]));
  }
  arguments.stray = stray_;
  if (saves)
    StoreUtil::SaveLaunchParam(pack.context, param, operation_ + "/before");
  const auto kernel = reinterpret_cast<aclrtFuncHandle>(reinterpret_cast<uintptr_t>(add));
  const aclError status = aclrtLaunchKernel(kernel, 1, &arguments, sizeof arguments, pack.context);
  if (saves)
    StoreUtil::SaveLaunchParam(pack.context, param, operation_ + "/after");
  return status == ACL_SUCCESS ? ATB_NO_ERROR : ATB_ERROR_RT_FAIL;
}

} // namespace atb

namespace {

void fill(atb::SVector<atb::Tensor> &tensors, const atbTensor *from, size_t count) {
  tensors.assign(count);
  for (size_t i = 0; i < count; ++i) {
    tensors[i].deviceData = from[i].data;
    tensors[i].dataSize = from[i].bytes;
    tensors[i].desc.shape.dims[0] = static_cast<int64_t>(from[i].bytes / sizeof(float));
  }
}

} // namespace

int atbExecute(const char *operation, const atbTensor *in, size_t ins, const atbTensor *out, size_t outs,
               void *workspace, size_t workspace_bytes, size_t stray, aclrtStream stream) {
  atb::RunnerVariantPack pack;
  fill(pack.inTensors, in, ins);
  fill(pack.outTensors, out, outs);
  pack.workspaceBuffer = static_cast<uint8_t *>(workspace);
  pack.workspaceBufferSize = workspace_bytes;
  pack.context = stream;
  return atb::Runner(operation, stray).Execute(pack);
}

int atbExecuteStrange() {
  alignas(atb::RunnerVariantPack) static unsigned char bytes[sizeof(atb::RunnerVariantPack)];
  std::memset(bytes, 0xff, sizeof bytes);
  auto &pack = reinterpret_cast<atb::RunnerVariantPack &>(bytes);
  pack.context = nullptr;
  return atb::Runner("StrangeOperation", 0).Execute(pack);
}

int atbSaveTensors(int yes) {
  atb::saves = yes != 0;
  return atb::saved;
}
