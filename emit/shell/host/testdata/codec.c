/* SPDX-License-Identifier: Apache-2.0
 * Encodes the values of each input, then decodes the frames of the output of the same number: values, and codes, which
 * are encoded again. Arguments: a folder with in_N of float32, to which frame_N, value_N and again_N go. */
#include <stdio.h>
#include <stdlib.h>

#include "ports_driver.h"

static FILE *file(const char *folder, const char *what, int i, const char *mode) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s_%d", folder, what, i);
  FILE *f = fopen(path, mode);
  if (!f) perror(path), exit(2);
  return f;
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  for (int i = 0; i < PORTS_INPUTS; i++) {
    const ports_port *p = &ports_inputs[i], *q = &ports_outputs[i];
    float *values = malloc(p->elements * sizeof *values);
    int64_t *codes = malloc(p->elements * sizeof *codes);
    uint8_t *frame = malloc(p->frame_bytes), *again = malloc(p->frame_bytes);
    FILE *in = file(argv[1], "in", i, "rb"), *out = file(argv[1], "frame", i, "wb");
    FILE *back = file(argv[1], "value", i, "wb"), *second = file(argv[1], "again", i, "wb");
    while (fread(values, sizeof *values, p->elements, in) == p->elements) {
      if (ports_encode(p, values, frame) || ports_decode(q, frame, values)) return 1;
      if (ports_decode_codes(q, frame, codes)) return 1;
      if (ports_encode_codes(p, codes, again) != (p->scale_bits ? PORTS_UNSUPPORTED : PORTS_OK)) return 1;
      fwrite(frame, 1, p->frame_bytes, out);
      fwrite(values, sizeof *values, p->elements, back);
      fwrite(p->scale_bits ? frame : again, 1, p->frame_bytes, second);
    }
    if (fclose(in) || fclose(out) || fclose(back) || fclose(second)) return 1;
  }
  return 0;
}
