/* SPDX-License-Identifier: Apache-2.0
 * example.c: computes the samples of a file and prints labels of the first ones, the places of the largest values of the first
 * output.
 *
 *     example_system SAMPLES RESULTS ARGUMENT...
 *
 * SAMPLES has float32 values in the byte order of the machine, all inputs of a sample before the next one; RESULTS the
 * frames that must come out, or it is -: then nothing is compared. Arguments are for the HAL. The exit status is 1 where a
 * code differs, 2 where nothing could be computed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "NAME_driver.h"

enum { SHOWN = 32 };

static void *load(const char *path, size_t *bytes) {
  FILE *f = fopen(path, "rb");
  long size = -1;
  if (f && fseek(f, 0, SEEK_END) == 0) size = ftell(f);
  char *data = size < 0 ? NULL : malloc((size_t)size + 1);
  if (!data || fseek(f, 0, SEEK_SET) || fread(data, 1, (size_t)size, f) != (size_t)size) {
    fprintf(stderr, "%s: cannot read it\n", path);
    exit(2);
  }
  fclose(f);
  *bytes = (size_t)size;
  return data;
}

static void *memory(size_t bytes) {
  void *at = malloc(bytes + 1);
  if (at) return at;
  fprintf(stderr, "no memory for %zu bytes\n", bytes);
  exit(2);
}

static void check(int status) {
  if (status == UPPER_OK) return;
  fprintf(stderr, "NAME: %s\n", NAME_message(status));
  exit(2);
}

/* Codes of all results that differ. */
static size_t differences(size_t samples, const uint8_t *got, const uint8_t *want, size_t *compared) {
  size_t wrong = 0;
  for (size_t s = 0; s < samples; s++) {
    for (int k = 0; k < UPPER_OUTPUTS; k++) {
      const NAME_port *p = &NAME_outputs[k];
      int64_t *a = memory(2 * p->elements * sizeof *a), *b = a + p->elements;
      check(NAME_decode_codes(p, got, a));
      check(NAME_decode_codes(p, want, b));
      for (size_t i = 0; i < p->elements; i++) wrong += a[i] != b[i];
      *compared += p->elements;
      free(a);
      got += p->frame_bytes, want += p->frame_bytes;
    }
  }
  return wrong;
}

int main(int argc, char **argv) {
  size_t bytes, expected = 0, elements = 0, compared = 0;
  if (argc < 3) return fprintf(stderr, "usage: %s SAMPLES RESULTS|- ARGUMENT...\n", argv[0]), 2;
  const float *values = load(argv[1], &bytes);
  const uint8_t *want = strcmp(argv[2], "-") ? load(argv[2], &expected) : NULL;
  for (int i = 0; i < UPPER_INPUTS; i++) elements += NAME_inputs[i].elements;
  const size_t samples = bytes / sizeof(float) / elements;
  if (samples == 0 || bytes != samples * elements * sizeof(float) || (want && expected != samples * UPPER_OUT_BYTES)) {
    fprintf(stderr, "%zu bytes of samples, %zu for each; %zu bytes of results, %d for each\n", bytes,
            elements * sizeof(float), expected, UPPER_OUT_BYTES);
    return 2;
  }
  lathe_hal hal;
  NAME_device device;
  const char *what;
  if (lathe_hal_open(&hal, argc - 3, argv + 3, &what)) return fprintf(stderr, "%s\n", what), 2;
  check(NAME_open(&device, &hal));

  /* Frames, since codes are compared; NAME_run does all of this with arrays. */
  uint8_t *in = memory(samples * UPPER_IN_BYTES), *out = memory(samples * UPPER_OUT_BYTES), *at = in;
  for (size_t s = 0; s < samples; s++) {
    for (int i = 0; i < UPPER_INPUTS; i++) {
      check(NAME_encode(&NAME_inputs[i], values, at));
      values += NAME_inputs[i].elements, at += NAME_inputs[i].frame_bytes;
    }
  }
  check(NAME_run_frames(&device, samples, in, out));
  const size_t wrong = want ? differences(samples, out, want, &compared) : 0;

  const NAME_port *p = &NAME_outputs[0];
  float *result = memory(p->elements * sizeof(float));
  if (p->kind != UPPER_CODE) {
    printf("labels");
    for (size_t s = 0; s < samples && s < SHOWN; s++) {
      size_t best = 0;
      check(NAME_decode(p, out + s * UPPER_OUT_BYTES, result));
      for (size_t i = 1; i < p->elements; i++)
        if (result[i] > result[best]) best = i;
      printf(" %zu", best);
    }
    printf("%s\n", samples > SHOWN ? " ..." : "");
  }
  printf("%zu samples", samples);
  if (want) printf(", %zu codes compared, %zu mismatches", compared, wrong);
  printf("\n");
  lathe_hal_close(&hal);
  return wrong > 0;
}
