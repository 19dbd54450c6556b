// Functions create images and return them by value. The program never frees one of the images.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int width, height, channels;
  float *data;
} image;

__attribute__((noinline)) static image make_empty_image(int width, int height, int channels) {
  image made = {width, height, channels, NULL};
  return made;
}
__attribute__((noinline)) static image make_image(int width, int height, int channels) {
  image made = make_empty_image(width, height, channels);
  made.data = calloc((size_t)width * height * channels, sizeof(float));
  return made;
}
__attribute__((noinline)) static image copy_image(image from) {
  image copy = from;
  copy.data = calloc((size_t)from.width * from.height * from.channels, sizeof(float));
  memcpy(copy.data, from.data, sizeof(float) * from.width * from.height * from.channels);
  return copy;
}
static void free_image(image made) { free(made.data); }

__attribute__((noinline)) static float detect(image input) {
  image sized = make_image(input.width / 2, input.height / 2, input.channels);
  image shown = copy_image(input); // guilty: float
  float result = sized.data[0] + shown.data[0];
  free_image(sized);
  return result;
}

int main(void) {
  image input = make_image(64, 64, 3);
  float sum = 0;
  for (int i = 0; i < 10; ++i)
    sum += detect(input);
  free_image(input);
  printf("%g\n", sum);
}
