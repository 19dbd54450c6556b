// Runs six operators of ggml, each alone and in one thread. Prints the name of each operator, and the milliseconds of
// its fastest round.
//
//   operators [rounds]
#include "ggml-cpu.h"
#include "ggml.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace {

constexpr size_t kBytes = size_t{256} << 20;

// Fills the tensor with random numbers, which are the same in each run.
void fill(lm_ggml_tensor *tensor) {
  std::mt19937 random(1);
  std::vector<float> numbers(static_cast<size_t>(lm_ggml_nelements(tensor)));
  for (float &number : numbers)
    number = static_cast<float>(random()) * 0x1p-31f - 1;
  if (tensor->type == LM_GGML_TYPE_F32)
    std::copy(numbers.begin(), numbers.end(), static_cast<float *>(tensor->data));
  else
    lm_ggml_quantize_chunk(tensor->type, numbers.data(), tensor->data, 0, lm_ggml_nrows(tensor), tensor->ne[0], nullptr);
}

lm_ggml_tensor *matrix(lm_ggml_context *context, int columns, int rows, lm_ggml_type type = LM_GGML_TYPE_F32) {
  lm_ggml_tensor *made = lm_ggml_new_tensor_2d(context, type, columns, rows);
  fill(made);
  return made;
}

double leastMs(lm_ggml_context *context, lm_ggml_tensor *result, int rounds) {
  lm_ggml_cgraph *graph = lm_ggml_new_graph(context);
  lm_ggml_build_forward_expand(graph, result);
  double least = 1e9;
  for (int i = 0; i < rounds; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    lm_ggml_graph_compute_with_ctx(context, graph, 1);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    least = std::min(least, took.count());
  }
  return least;
}

using Make = lm_ggml_tensor *(*)(lm_ggml_context *);
struct Operator {
  const char *name;
  Make make;
};
constexpr Operator kOperators[] = {
    {"mul_mat_f32", [](lm_ggml_context *c) { return lm_ggml_mul_mat(c, matrix(c, 512, 512), matrix(c, 512, 128)); }},
    {"mul_mat_q4_0",
     [](lm_ggml_context *c) {
       return lm_ggml_mul_mat(c, matrix(c, 1024, 1024, LM_GGML_TYPE_Q4_0), matrix(c, 1024, 64));
     }},
    {"soft_max", [](lm_ggml_context *c) { return lm_ggml_soft_max(c, matrix(c, 1024, 1024)); }},
    {"rms_norm", [](lm_ggml_context *c) { return lm_ggml_rms_norm(c, matrix(c, 1024, 1024), 1e-5f); }},
    {"gelu", [](lm_ggml_context *c) { return lm_ggml_gelu(c, matrix(c, 1024, 1024)); }},
    {"rope",
     [](lm_ggml_context *c) {
       lm_ggml_tensor *x = lm_ggml_new_tensor_3d(c, LM_GGML_TYPE_F32, 64, 32, 64);
       lm_ggml_tensor *positions = lm_ggml_new_tensor_1d(c, LM_GGML_TYPE_I32, 64);
       fill(x);
       for (int i = 0; i < 64; ++i)
         static_cast<int32_t *>(positions->data)[i] = i;
       return lm_ggml_rope(c, x, positions, 64, 0);
     }},
};

} // namespace

int main(int count, char **arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 45;
  for (const Operator &one : kOperators) {
    lm_ggml_context *context = lm_ggml_init({.mem_size = kBytes, .mem_buffer = nullptr, .no_alloc = false});
    std::printf("%s %.4f\n", one.name, leastMs(context, one.make(context), rounds));
    lm_ggml_free(context);
  }
}
