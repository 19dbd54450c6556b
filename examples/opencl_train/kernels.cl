// The kernels of train.cpp, for a small fully connected network. Matrices are row-major, with one sample in each row.

// Shifts and scales each feature to mean 0 and variance 1. There is one work-item for each feature.
kernel void standardise(global const float *raw, global float *inputs, int rows) {
  const int feature = get_global_id(0), features = get_global_size(0);
  float sum = 0, squares = 0;
  for (int row = 0; row < rows; ++row) {
    const float value = raw[row * features + feature];
    sum += value;
    squares += value * value;
  }
  const float mean = sum / rows;
  const float scale = rsqrt(squares / rows - mean * mean + 1e-6f);
  for (int row = 0; row < rows; ++row)
    inputs[row * features + feature] = (raw[row * features + feature] - mean) * scale;
}

// Computes y = x * weights + biases, and max(0, y) if `rectify` is set. One work-item computes one output of a row.
kernel void forward(global const float *x, int x_begin, global float *y, int y_begin, global const float *weights,
                    global const float *biases, int inputs, int rectify) {
  const int output = get_global_id(0), outputs = get_global_size(0), row = get_global_id(1);
  float sum = biases[output];
  for (int input = 0; input < inputs; ++input)
    sum += x[x_begin + row * inputs + input] * weights[input * outputs + output];
  y[y_begin + row * outputs + output] = rectify ? fmax(sum, 0.0f) : sum;
}

// Computes softmax and cross-entropy of a row, and the gradient with respect to its scores, averaged over the batch.
kernel void loss_gradient(global const float *scores, global const int *labels, int labels_begin, global float *delta,
                          global float *losses, int classes) {
  const int row = get_global_id(0), rows = get_global_size(0), label = labels[labels_begin + row];
  global const float *score = scores + row * classes;
  float highest = score[0], sum = 0;
  for (int i = 1; i < classes; ++i)
    highest = fmax(highest, score[i]);
  for (int i = 0; i < classes; ++i)
    sum += exp(score[i] - highest);
  for (int i = 0; i < classes; ++i)
    delta[row * classes + i] = (exp(score[i] - highest) / sum - (i == label)) / rows;
  losses[row] = log(sum) + highest - score[label];
}

// Computes the error of the previous layer: delta * weights^T where the output of that layer is positive, otherwise 0.
kernel void input_gradient(global const float *delta, global const float *weights, global const float *x,
                           global float *delta_below, int outputs) {
  const int input = get_global_id(0), inputs = get_global_size(0), row = get_global_id(1);
  float sum = 0;
  for (int output = 0; output < outputs; ++output)
    sum += delta[row * outputs + output] * weights[input * outputs + output];
  delta_below[row * inputs + input] = x[row * inputs + input] > 0 ? sum : 0;
}

kernel void weight_gradient(global const float *x, int x_begin, global const float *delta, global float *gradient,
                            int rows) {
  const int output = get_global_id(0), outputs = get_global_size(0), input = get_global_id(1),
            inputs = get_global_size(1);
  float sum = 0;
  for (int row = 0; row < rows; ++row)
    sum += x[x_begin + row * inputs + input] * delta[row * outputs + output];
  gradient[input * outputs + output] = sum;
}

kernel void bias_gradient(global const float *delta, global float *gradient, int rows) {
  const int output = get_global_id(0), outputs = get_global_size(0);
  float sum = 0;
  for (int row = 0; row < rows; ++row)
    sum += delta[row * outputs + output];
  gradient[output] = sum;
}

kernel void descend(global float *parameters, global const float *gradient, float rate) {
  parameters[get_global_id(0)] -= rate * gradient[get_global_id(0)];
}
