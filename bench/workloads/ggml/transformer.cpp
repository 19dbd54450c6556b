// Computes many steps of a small transformer with random weights, with ggml's CPU backend. It stands for an inference
// server, but is small enough for a test. Prints a checksum of the last step's scores, which is the same in each run.
//
//   usage: transformer [steps] [threads]
#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

namespace {

constexpr int kWidth = 256, kHeads = 8, kHeadWidth = kWidth / kHeads, kHidden = 4 * kWidth, kTokens = 64,
              kVocabulary = 1000, kBlocks = 4;

struct Release {
  void operator()(lm_ggml_context *context) const { lm_ggml_free(context); }
  void operator()(lm_ggml_backend *backend) const { lm_ggml_backend_free(backend); }
  void operator()(lm_ggml_backend_buffer *buffer) const { lm_ggml_backend_buffer_free(buffer); }
  void operator()(lm_ggml_gallocr *allocator) const { lm_ggml_gallocr_free(allocator); }
};
template <class T> using Owned = std::unique_ptr<T, Release>;

struct Block {
  lm_ggml_tensor *query, *key, *value, *output, *up, *down;
};

struct Model {
  Owned<lm_ggml_context> context;
  Owned<lm_ggml_backend_buffer> weights;
  lm_ggml_tensor *embedding;
  std::vector<Block> blocks;

  explicit Model(lm_ggml_backend_t backend);
};

Model::Model(lm_ggml_backend_t backend) {
  context.reset(lm_ggml_init(
      {.mem_size = lm_ggml_tensor_overhead() * (1 + 6 * kBlocks), .mem_buffer = nullptr, .no_alloc = true}));
  const auto matrix = [&](int rows, int columns) {
    return lm_ggml_new_tensor_2d(context.get(), LM_GGML_TYPE_F32, rows, columns);
  };
  embedding = matrix(kWidth, kVocabulary);
  for (int i = 0; i < kBlocks; ++i)
    blocks.push_back({matrix(kWidth, kWidth), matrix(kWidth, kWidth), matrix(kWidth, kWidth), matrix(kWidth, kWidth),
                      matrix(kWidth, kHidden), matrix(kHidden, kWidth)});
  weights.reset(lm_ggml_backend_alloc_ctx_tensors(context.get(), backend));

  std::mt19937 random(1);
  for (auto *tensor = lm_ggml_get_first_tensor(context.get()); tensor;
       tensor = lm_ggml_get_next_tensor(context.get(), tensor)) {
    // The weights are evenly distributed between -limit and limit, with variance 1/n, where n is the tensor's first
    // dimension. std::normal_distribution would take a fifth of the run's time, and its speed depends on the address of
    // the stack.
    const float limit = std::sqrt(3 / static_cast<float>(tensor->ne[0]));
    std::vector<float> values(lm_ggml_nelements(tensor));
    for (float &value : values)
      value = (static_cast<float>(random()) * 0x1p-31f - 1) * limit;
    lm_ggml_backend_tensor_set(tensor, values.data(), 0, lm_ggml_nbytes(tensor));
  }
}

// The computation graph of one step. As in a real server, it is built again for each step.
struct Graph {
  Owned<lm_ggml_context> context;
  lm_ggml_cgraph *operations;
  lm_ggml_tensor *tokens, *mask, *scores;

  explicit Graph(const Model &model);

private:
  lm_ggml_tensor *attention(const Block &block, lm_ggml_tensor *x) const;
};

lm_ggml_tensor *Graph::attention(const Block &block, lm_ggml_tensor *x) const {
  lm_ggml_context *c = context.get();
  const auto heads = [&](lm_ggml_tensor *weights) {
    auto *all = lm_ggml_reshape_3d(c, lm_ggml_mul_mat(c, weights, x), kHeadWidth, kHeads, kTokens);
    return lm_ggml_permute(c, all, 0, 2, 1, 3);
  };
  auto *weighed = lm_ggml_mul_mat(c, heads(block.key), heads(block.query));
  weighed = lm_ggml_soft_max_ext(c, weighed, mask, 1 / std::sqrt(static_cast<float>(kHeadWidth)), 0);
  auto *values = lm_ggml_cont(c, lm_ggml_transpose(c, heads(block.value)));
  auto *mixed = lm_ggml_permute(c, lm_ggml_mul_mat(c, values, weighed), 0, 2, 1, 3);
  return lm_ggml_mul_mat(c, block.output, lm_ggml_cont_2d(c, mixed, kWidth, kTokens));
}

Graph::Graph(const Model &model) {
  const size_t size = lm_ggml_tensor_overhead() * LM_GGML_DEFAULT_GRAPH_SIZE + lm_ggml_graph_overhead();
  context.reset(lm_ggml_init({.mem_size = size, .mem_buffer = nullptr, .no_alloc = true}));
  lm_ggml_context *c = context.get();
  operations = lm_ggml_new_graph(c);
  tokens = lm_ggml_new_tensor_1d(c, LM_GGML_TYPE_I32, kTokens);
  mask = lm_ggml_new_tensor_2d(c, LM_GGML_TYPE_F32, kTokens, kTokens);
  lm_ggml_set_input(tokens);
  lm_ggml_set_input(mask);
  auto *x = lm_ggml_get_rows(c, model.embedding, tokens);
  for (const Block &block : model.blocks) {
    x = lm_ggml_add(c, x, attention(block, lm_ggml_rms_norm(c, x, 1e-5f)));
    auto *hidden = lm_ggml_gelu(c, lm_ggml_mul_mat(c, block.up, lm_ggml_rms_norm(c, x, 1e-5f)));
    x = lm_ggml_add(c, x, lm_ggml_mul_mat(c, block.down, hidden));
  }
  scores = lm_ggml_mul_mat(c, model.embedding, x);
  lm_ggml_set_output(scores);
  lm_ggml_build_forward_expand(operations, scores);
}

// Returns the most likely token after each token, or no tokens if the step failed. Sets `checksum` to the sum of the
// scores' magnitudes.
std::vector<int> step(const Model &model, lm_ggml_backend_t backend, const std::vector<int> &tokens, double &checksum) {
  const Graph graph(model);
  const Owned<lm_ggml_gallocr> allocator(lm_ggml_gallocr_new(lm_ggml_backend_get_default_buffer_type(backend)));
  if (!lm_ggml_gallocr_alloc_graph(allocator.get(), graph.operations))
    return {};
  std::vector<float> mask(kTokens * kTokens);
  for (int row = 0; row < kTokens; ++row)
    for (int column = row + 1; column < kTokens; ++column)
      mask[row * kTokens + column] = -INFINITY;
  lm_ggml_backend_tensor_set(graph.mask, mask.data(), 0, lm_ggml_nbytes(graph.mask));
  lm_ggml_backend_tensor_set(graph.tokens, tokens.data(), 0, lm_ggml_nbytes(graph.tokens));
  if (lm_ggml_backend_graph_compute(backend, graph.operations) != LM_GGML_STATUS_SUCCESS)
    return {};

  std::vector<float> scores(kTokens * kVocabulary);
  lm_ggml_backend_tensor_get(graph.scores, scores.data(), 0, lm_ggml_nbytes(graph.scores));
  std::vector<int> next(kTokens);
  checksum = 0;
  for (int row = 0; row < kTokens; ++row) {
    int best = 0;
    for (int i = 0; i < kVocabulary; ++i) {
      const float *score = &scores[row * kVocabulary];
      checksum += std::fabs(score[i]);
      if (score[i] > score[best])
        best = i;
    }
    next[row] = best;
  }
  return next;
}

} // namespace

int main(int argc, char **argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 20;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 2;
  const Owned<lm_ggml_backend> backend(lm_ggml_backend_cpu_init());
  lm_ggml_backend_cpu_set_n_threads(backend.get(), threads);
  const Model model(backend.get());

  std::vector<int> tokens(kTokens);
  for (int i = 0; i < kTokens; ++i)
    tokens[i] = i;
  double checksum = 0;
  for (int i = 0; i < steps; ++i) {
    const std::vector<int> next = step(model, backend.get(), tokens, checksum);
    if (next.empty()) {
      std::fprintf(stderr, "transformer: step %d could not be computed\n", i);
      return 1;
    }
    tokens.erase(tokens.begin());
    tokens.push_back((next.back() + i) % kVocabulary);
  }
  std::printf("steps %d  last token %d  checksum %.3f\n", steps, tokens.back(), checksum);
}
