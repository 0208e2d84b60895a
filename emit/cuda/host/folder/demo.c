/* SPDX-License-Identifier: Apache-2.0
 * demo: runs the samples of samples.bin, and compares the outputs with those of the reference where the file has them.
 *
 *     ./demo [GPU [SAMPLES_FILE [WEIGHTS_FILE]]]
 *
 * The file begins with words of eight bytes, the number of samples, whether there are outputs, the number of tokens
 * that follow one by one (of models with caches) and the position of the first of them; and a double for each output, by
 * how much of the largest value of a sample it may differ; for tokens that follow twice as much, since what is in the
 * caches may differ, too. Then come the inputs, all samples of the first, and the
 * outputs in the same way, and both for each token that follows. The exit status is 1 where an output differs by more. */
#include "NAME.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 8 };

static int refused(int status) {
  fprintf(stderr, "demo: %s\n", NAME_last_error());
  return status;
}

/* Element i of an array, as a number. */
static double element(const NAME_array *a, const unsigned char *data, size_t i) {
  const char *t = a->type;
  int width = atoi(t + strcspn(t, "0123456789"));
  uint64_t bits = 0;
  memcpy(&bits, data + i * (size_t)(width / 8), (size_t)(width / 8));
  if (t[0] == 'u') return (double)bits;
  if (t[0] == 'i') {
    uint64_t sign = UINT64_C(1) << (width - 1);
    return (double)(int64_t)((bits ^ sign) - sign);
  }
  if (strcmp(t, "f16") == 0) {
    int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
    double v = exponent == 31 ? (fraction ? NAN : INFINITY)
                              : ldexp(exponent ? fraction + 1024 : fraction, (exponent ? exponent : 1) - 25);
    return bits >> 15 ? -v : v;
  }
  if (strcmp(t, "bf16") == 0) bits <<= 16;
  uint32_t word = (uint32_t)bits;
  float v;
  memcpy(&v, &word, sizeof v);
  return v;
}

static size_t elements(const NAME_array *a) {
  size_t n = 1;
  for (int i = 0; i < a->rank; i++) n *= (size_t)a->shape[i];
  return n;
}

/* Prints the first values of the first sample, and what differs from the reference, of which there may be none. */
static int show(const NAME_array *a, const unsigned char *have, const unsigned char *want, int64_t samples,
                double part) {
  size_t n = elements(a), wrong = 0;
  double most = 0;
  printf("%s (%s):", a->name, a->type);
  for (size_t i = 0; i < n && i < SHOWN; i++) printf(" %.6g", element(a, have, i));
  printf(n > SHOWN ? " ...\n" : "\n");
  if (want == NULL) {
    printf("  not compared: the file has no outputs of the reference\n");
    return 0;
  }
  for (int64_t s = 0; s < samples; s++) {
    const unsigned char *x = have + (size_t)s * a->bytes, *y = want + (size_t)s * a->bytes;
    double largest = 0;
    for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(element(a, y, i)));
    for (size_t i = 0; i < n; i++) {
      double v = element(a, x, i), w = element(a, y, i), d = fabs(v - w);
      if (v == w || (isnan(v) && isnan(w))) continue;
      if (!(d <= part * largest)) wrong++;
      if (largest > 0 && isfinite(d)) most = fmax(most, d / largest);
    }
  }
  printf("  %lld sample%s: ", (long long)samples, samples == 1 ? "" : "s");
  unsigned long long far = wrong, all = n * (size_t)samples;
  if (part == 0)
    printf("%llu of %llu codes differ from the reference\n", far, all);
  else
    printf("up to %.3g of the largest value away from the reference, %llu of %llu beyond %.3g\n", most, far, all, part);
  return wrong > 0;
}

/* Moves past the next bytes of the file; NULL where it is too short. */
static const unsigned char *next(const unsigned char **at, const unsigned char *end, uint64_t bytes) {
  const unsigned char *begin = *at;
  if (begin == NULL || bytes > (uint64_t)(end - begin)) return NULL;
  *at = begin + bytes;
  return begin;
}

static unsigned char *read_file(const char *path, size_t *bytes) {
  FILE *f = fopen(path, "rb");
  unsigned char *data = NULL;
  if (f != NULL && fseek(f, 0, SEEK_END) == 0) {
    long size = ftell(f);
    rewind(f);
    if (size >= 0 && (data = malloc((size_t)size + 1)) != NULL) *bytes = fread(data, 1, (size_t)size, f);
  }
  if (f != NULL) fclose(f);
  return data;
}

/* Uploads inputs and makes room for outputs, of a run or of one more token. */
static int prepare(NAME_handle *m, int decodes, const unsigned char **at, const unsigned char *end, NAME_args *a,
                   NAME_buffer *in, NAME_buffer *out) {
  int status = UPPER_OK;
  for (int i = 0; i < UPPER_INPUTS && status == UPPER_OK; i++) {
    size_t bytes = (decodes ? NAME_decode_input(i) : NAME_input(i))->bytes * (size_t)a->batch;
    const unsigned char *data = next(at, end, bytes);
    if (data == NULL) {
      fprintf(stderr, "demo: the file is too short for %lld samples\n", (long long)a->batch);
      return 1;
    }
    status = NAME_allocate(m, bytes, &in[i]);
    if (status == UPPER_OK) status = NAME_upload(m, in[i], data, bytes);
  }
  for (int i = 0; i < UPPER_OUTPUTS && status == UPPER_OK; i++)
    status = NAME_allocate(m, (decodes ? NAME_decode_output(i) : NAME_output(i))->bytes * (size_t)a->batch, &out[i]);
  a->inputs = in;
  a->outputs = out;
  return status == UPPER_OK ? UPPER_OK : refused(status);
}

/* Compares outputs with those in the file, if it has them, and gives the memory back. */
static int finish(NAME_handle *m, int decodes, const unsigned char **at, const unsigned char *end, const NAME_args *a,
                  int compared, const double *parts) {
  int wrong = 0;
  for (int i = 0; i < UPPER_OUTPUTS; i++) {
    const NAME_array *array = decodes ? NAME_decode_output(i) : NAME_output(i);
    size_t bytes = array->bytes * (size_t)a->batch;
    const unsigned char *want = compared ? next(at, end, bytes) : NULL;
    unsigned char *have = malloc(bytes + 1);
    if (have == NULL || (compared && want == NULL)) {
      fprintf(stderr, "demo: the file is too short, or there is no memory\n");
      return 1;
    }
    int status = NAME_download(m, have, a->outputs[i], bytes);
    if (status == UPPER_OK) wrong |= show(array, have, want, a->batch, (decodes ? 2 : 1) * parts[i]);
    free(have);
    if (status == UPPER_OK) status = NAME_release(m, a->outputs[i]);
    if (status != UPPER_OK) return refused(status);
  }
  for (int i = 0; i < UPPER_INPUTS; i++) (void)NAME_release(m, a->inputs[i]);
  return wrong;
}

/* Runs the samples of a file. */
static int run(NAME_handle *m, const char *path, const unsigned char *at, const unsigned char *end) {
  uint64_t head[4] = {0, 0, 0, 0};
  double parts[UPPER_OUTPUTS + 1] = {0};
  NAME_buffer in[UPPER_INPUTS + 1], out[UPPER_OUTPUTS + 1], caches[UPPER_CACHES + 1];
  NAME_args args = {0, in, out, {0, 0}, caches, 0, {0, 0}};
  const unsigned char *p = next(&at, end, sizeof head);
  if (p != NULL) memcpy(head, p, sizeof head);
  if (p != NULL && (p = next(&at, end, UPPER_OUTPUTS * sizeof parts[0])) != NULL)
    memcpy(parts, p, UPPER_OUTPUTS * sizeof parts[0]);
  if (p == NULL || head[0] < 1 || head[0] > UPPER_MAX_BATCH) {
    fprintf(stderr, "demo: %s holds no samples of this model\n", path);
    return 1;
  }
  args.batch = (int64_t)head[0];
  int status = NAME_allocate(m, NAME_workspace_bytes(args.batch), &args.workspace);
  for (int i = 0; i < UPPER_CACHES && status == UPPER_OK; i++)
    status = NAME_allocate(m, NAME_cache(i)->bytes * (size_t)args.batch, &caches[i]);
  if (status != UPPER_OK) return refused(status);
  int wrong = 0;
  for (uint64_t i = 0; i <= head[2]; i++) {
    int decodes = i > 0;
    if ((status = prepare(m, decodes, &at, end, &args, in, out)) != UPPER_OK) return status;
    if (decodes) printf("token at position %lld\n", (long long)(args.position = (int64_t)(head[3] + i - 1)));
    status = decodes ? NAME_decode(m, NULL, &args) : NAME_run(m, NULL, &args);
    if (status != UPPER_OK) return refused(status);
    wrong |= finish(m, decodes, &at, end, &args, head[1] != 0, parts);
  }
  return wrong;
}

int main(int argc, char **argv) {
  const char *samples = argc > 2 ? argv[2] : "samples.bin", *weights = argc > 3 ? argv[3] : "tables.bin";
  NAME_handle *m;
  int status = NAME_create(&m, argc > 1 ? atoi(argv[1]) : 0, weights);
  if (status != UPPER_OK) return refused(status);
  printf("%s\n", NAME_code(m));
  size_t bytes = 0;
  unsigned char *data = read_file(samples, &bytes);
  if (data == NULL) {
    fprintf(stderr, "demo: cannot read %s\n", samples);
    status = 1;
  } else {
    status = run(m, samples, data, data + bytes);
  }
  free(data);
  NAME_destroy(m); /* and with it what it allocated, as the program ends */
  return status;
}
