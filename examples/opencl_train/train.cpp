// Trains a small network with OpenCL kernels on generated samples: standardises the samples, trains, evaluates.
//
// Large buffers are allocated only while they are needed, unless a mistake is planted. A mistake changes only the use
// of memory, and not the results.
//
//   --plant leak    each step does not free the buffer with the first layer's error
//   --plant early   the workspace of the evaluation, which runs at the end, is allocated before the training
//   --plant late    the raw samples are freed at the end, although only the beginning of the program reads them
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace {

constexpr int kSamples = 8192, kFeatures = 64, kClasses = 10, kBatch = 256;
constexpr float kRate = 0.1f;

enum class Plant { Nothing, Leak, Early, Late };

struct Options {
  Plant plant = Plant::Nothing;
  int steps = 50;
};

[[noreturn]] void stop(int status, const std::string &message) {
  std::fprintf(stderr, "opencl_train: %s\n", message.c_str());
  std::exit(status);
}

void check(cl_int status, const char *what) {
  if (status != CL_SUCCESS)
    stop(1, std::string(what) + " failed with OpenCL error " + std::to_string(status));
}

constexpr size_t floats(size_t count) { return count * sizeof(float); }

// The part of a buffer that begins at an element.
struct View {
  cl_mem buffer;
  cl_int begin = 0;
};

// A device, with one queue that runs all operations in order.
struct Device {
  cl_device_id id;
  cl_context context;
  cl_command_queue queue;
  cl_program program;

  Device();
  ~Device();
  cl_kernel kernel(const char *name) const;

  // Queues a kernel. Ends the program if one of the buffers could not be created.
  template <size_t Dimensions, class... Arguments>
  void launch(cl_kernel kernel, const size_t (&range)[Dimensions], const Arguments &...arguments) const {
    cl_uint position = 0;
    (setArgument(kernel, position, arguments), ...);
    check(clEnqueueNDRangeKernel(queue, kernel, Dimensions, nullptr, range, nullptr, 0, nullptr, nullptr), "launch");
  }

private:
  template <class Argument> static void setArgument(cl_kernel kernel, cl_uint &position, const Argument &argument) {
    if constexpr (std::is_same_v<Argument, View>) {
      setArgument(kernel, position, argument.buffer);
      setArgument(kernel, position, argument.begin);
    } else {
      if constexpr (std::is_same_v<Argument, cl_mem>)
        check(argument ? CL_SUCCESS : CL_MEM_OBJECT_ALLOCATION_FAILURE, "clCreateBuffer");
      check(clSetKernelArg(kernel, position++, sizeof argument, &argument), "clSetKernelArg");
    }
  }
};

std::string kernelSource() {
  const auto path = std::filesystem::path(__FILE__).replace_filename("kernels.cl");
  std::ifstream file(path);
  if (!file)
    stop(1, "cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

Device::Device() {
  cl_platform_id platform;
  cl_int status;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &id, nullptr) != CL_SUCCESS)
    stop(1, "no OpenCL device");
  context = clCreateContext(nullptr, 1, &id, nullptr, nullptr, &status);
  check(status, "clCreateContext");
  queue = clCreateCommandQueue(context, id, 0, &status);
  check(status, "clCreateCommandQueue");
  const std::string source = kernelSource();
  const char *text = source.c_str();
  program = clCreateProgramWithSource(context, 1, &text, nullptr, &status);
  check(status, "clCreateProgramWithSource");
  check(clBuildProgram(program, 1, &id, "", nullptr, nullptr), "clBuildProgram");
}

Device::~Device() {
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
}

cl_kernel Device::kernel(const char *name) const {
  cl_int status;
  const cl_kernel kernel = clCreateKernel(program, name, &status);
  check(status, name);
  return kernel;
}

struct Kernels {
  cl_kernel standardise, forward, loss_gradient, input_gradient, weight_gradient, bias_gradient, descend;

  explicit Kernels(const Device &device)
      : standardise(device.kernel("standardise")), forward(device.kernel("forward")),
        loss_gradient(device.kernel("loss_gradient")), input_gradient(device.kernel("input_gradient")),
        weight_gradient(device.kernel("weight_gradient")), bias_gradient(device.kernel("bias_gradient")),
        descend(device.kernel("descend")) {}
  ~Kernels() {
    for (cl_kernel kernel :
         {standardise, forward, loss_gradient, input_gradient, weight_gradient, bias_gradient, descend})
      clReleaseKernel(kernel);
  }
};

struct Layer {
  int inputs, outputs;
  bool rectify;
  cl_mem weights, weight_gradients, biases, bias_gradients, activations;

  Layer(const Device &device, std::mt19937 &random, int inputs, int outputs, bool rectify)
      : inputs(inputs), outputs(outputs), rectify(rectify) {
    const size_t matrix = static_cast<size_t>(inputs) * outputs;
    std::normal_distribution<float> normal(0, std::sqrt(2.0f / inputs));
    std::vector<float> start(matrix);
    for (float &weight : start)
      weight = normal(random);
    const std::vector<float> zeros(outputs);
    const auto filled = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
    weights = clCreateBuffer(device.context, filled, floats(matrix), start.data(), nullptr);
    weight_gradients = clCreateBuffer(device.context, CL_MEM_READ_WRITE, floats(matrix), nullptr, nullptr);
    biases = clCreateBuffer(device.context, filled, floats(outputs), const_cast<float *>(zeros.data()), nullptr);
    bias_gradients = clCreateBuffer(device.context, CL_MEM_READ_WRITE, floats(outputs), nullptr, nullptr);
    activations = clCreateBuffer(device.context, CL_MEM_READ_WRITE, floats(kBatch * outputs), nullptr, nullptr);
  }
  Layer(const Layer &) = delete;
  ~Layer() {
    for (cl_mem buffer : {weights, weight_gradients, biases, bias_gradients, activations})
      clReleaseMemObject(buffer);
  }
};

// Random points around one centre per class. Each feature has a scale of its own.
struct Samples {
  std::vector<float> features = std::vector<float>(kSamples * kFeatures);
  std::vector<cl_int> labels = std::vector<cl_int>(kSamples);

  explicit Samples(std::mt19937 &random) {
    std::normal_distribution<float> normal;
    std::vector<float> centres(kClasses * kFeatures);
    for (float &centre : centres)
      centre = normal(random);
    for (int row = 0; row < kSamples; ++row) {
      labels[row] = row % kClasses;
      for (int i = 0; i < kFeatures; ++i)
        features[row * kFeatures + i] = (centres[labels[row] * kFeatures + i] + 2 * normal(random)) * (1 + i) + i;
    }
  }
};

using Network = std::array<Layer, 3>;

class Training {
public:
  Training(const Device &device, Network &network, Plant plant)
      : device_(device), kernels_(device), network_(network), plant_(plant) {
    losses_ = clCreateBuffer(device.context, CL_MEM_WRITE_ONLY, floats(kBatch), nullptr, nullptr);
  }
  ~Training() {
    for (cl_mem buffer : {losses_, inputs_, labels_, raw_})
      if (buffer)
        clReleaseMemObject(buffer);
  }

  void load(Samples &samples) {
    raw_ = clCreateBuffer(device_.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, floats(kSamples * kFeatures),
                          samples.features.data(), nullptr);
    inputs_ = clCreateBuffer(device_.context, CL_MEM_READ_WRITE, floats(kSamples * kFeatures), nullptr, nullptr);
    labels_ = clCreateBuffer(device_.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, kSamples * sizeof(cl_int),
                             samples.labels.data(), nullptr);
    device_.launch(kernels_.standardise, {kFeatures}, raw_, inputs_, kSamples);
    if (plant_ != Plant::Late) {
      clReleaseMemObject(raw_);
      raw_ = nullptr;
    }
  }

  void step(int number) {
    const int row = number * kBatch % kSamples;
    View x{inputs_, row * kFeatures};
    for (const Layer &layer : network_) {
      forward(layer, x, View{layer.activations}, kBatch);
      x = View{layer.activations};
    }
    cl_mem delta = clCreateBuffer(device_.context, CL_MEM_READ_WRITE, floats(kBatch * kClasses), nullptr, nullptr);
    device_.launch(kernels_.loss_gradient, {kBatch}, x.buffer, View{labels_, row}, delta, losses_, kClasses);
    for (size_t i = network_.size(); i-- > 0;) {
      const View below = i > 0 ? View{network_[i - 1].activations} : View{inputs_, row * kFeatures};
      delta = backward(network_[i], below, delta, i > 0);
    }
  }

  float loss() const {
    std::vector<float> losses(kBatch);
    check(clEnqueueReadBuffer(device_.queue, losses_, CL_TRUE, 0, floats(kBatch), losses.data(), 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
    float sum = 0;
    for (float loss : losses)
      sum += loss;
    return sum / kBatch;
  }

  // Returns the size of the buffer for the outputs of all layers, if all samples are evaluated at once.
  static constexpr size_t workspaceSize(const Network &network) {
    size_t outputs = 0;
    for (const Layer &layer : network)
      outputs += layer.outputs;
    return floats(outputs * kSamples);
  }

  float accuracy(const Samples &samples, cl_mem workspace) const {
    View x{inputs_}, y{workspace};
    for (const Layer &layer : network_) {
      forward(layer, x, y, kSamples);
      x = y;
      y.begin += kSamples * layer.outputs;
    }
    std::vector<float> scores(kSamples * kClasses);
    check(clEnqueueReadBuffer(device_.queue, workspace, CL_TRUE, floats(x.begin), floats(scores.size()), scores.data(),
                              0, nullptr, nullptr),
          "clEnqueueReadBuffer");
    int right = 0;
    for (int row = 0; row < kSamples; ++row) {
      const float *first = &scores[row * kClasses];
      right += std::max_element(first, first + kClasses) - first == samples.labels[row];
    }
    return static_cast<float>(right) / kSamples;
  }

private:
  void forward(const Layer &layer, View x, View y, size_t rows) const {
    device_.launch(kernels_.forward, {static_cast<size_t>(layer.outputs), rows}, x, y, layer.weights, layer.biases,
                   layer.inputs, static_cast<cl_int>(layer.rectify));
  }

  // Updates the layer's parameters and frees its error. Returns the error of the layer below, or null.
  cl_mem backward(const Layer &layer, View x, cl_mem delta, bool has_below) const {
    const size_t inputs = layer.inputs, outputs = layer.outputs;
    cl_mem delta_below = nullptr;
    if (has_below) {
      delta_below = clCreateBuffer(device_.context, CL_MEM_READ_WRITE, floats(kBatch * inputs), nullptr, nullptr);
      device_.launch(kernels_.input_gradient, {inputs, kBatch}, delta, layer.weights, x.buffer, delta_below,
                     layer.outputs);
    }
    device_.launch(kernels_.weight_gradient, {outputs, inputs}, x, delta, layer.weight_gradients, kBatch);
    device_.launch(kernels_.bias_gradient, {outputs}, delta, layer.bias_gradients, kBatch);
    device_.launch(kernels_.descend, {inputs * outputs}, layer.weights, layer.weight_gradients, kRate);
    device_.launch(kernels_.descend, {outputs}, layer.biases, layer.bias_gradients, kRate);
    if (has_below || plant_ != Plant::Leak)
      clReleaseMemObject(delta);
    return delta_below;
  }

  const Device &device_;
  const Kernels kernels_;
  Network &network_;
  Plant plant_;
  cl_mem raw_ = nullptr, inputs_ = nullptr, labels_ = nullptr, losses_ = nullptr;
};

constexpr char kUsage[] = "usage: opencl_train [--steps N] [--plant leak|early|late]";

Options parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
    if (name == "--steps" && std::atoi(value.data()) > 0)
      options.steps = std::atoi(value.data());
    else if (name == "--plant" && value == "leak")
      options.plant = Plant::Leak;
    else if (name == "--plant" && value == "early")
      options.plant = Plant::Early;
    else if (name == "--plant" && value == "late")
      options.plant = Plant::Late;
    else
      stop(2, kUsage);
  }
  return options;
}

} // namespace

int main(int argc, char **argv) {
  const Options options = parse(argc, argv);
  std::mt19937 random(1);
  Samples samples(random);
  const Device device;
  Network network{Layer(device, random, kFeatures, 256, true), Layer(device, random, 256, 128, true),
                  Layer(device, random, 128, kClasses, false)};
  const size_t workspace_size = Training::workspaceSize(network);
  cl_mem workspace = nullptr;
  if (options.plant == Plant::Early)
    workspace = clCreateBuffer(device.context, CL_MEM_READ_WRITE, workspace_size, nullptr, nullptr);

  Training training(device, network, options.plant);
  training.load(samples);
  for (int step = 0; step < options.steps; ++step) {
    training.step(step);
    if (step % 10 == 0 || step == options.steps - 1)
      std::printf("step %4d  loss %.4f\n", step, training.loss());
  }

  if (!workspace)
    workspace = clCreateBuffer(device.context, CL_MEM_READ_WRITE, workspace_size, nullptr, nullptr);
  std::printf("accuracy %.2f %%\n", 100 * training.accuracy(samples, workspace));
  clReleaseMemObject(workspace);
}
