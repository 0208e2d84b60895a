/* calls: provokes what the library of a model named model refuses, and prints each status with its message. */
#define _POSIX_C_SOURCE 200809L
#include "model.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 3, RUNS = 20 };

/* A model with buffers for a batch, and what came out of its first run. */
typedef struct bench {
  model_handle *model;
  model_buffer in, out;
  model_args args;
  unsigned char *want, *have;
  size_t bytes;
  int refused, wrong;
  pthread_barrier_t *start;
} bench;

static void tell(const char *what, int status) { printf("%s: %d %s\n", what, status, status ? model_last_error() : ""); }

static void must(int status) {
  if (status == MODEL_OK) return;
  printf("%s\n", model_last_error());
  exit(1);
}

static void create(const char *what, int device, const char *weights) {
  model_handle *m = NULL;
  tell(what, model_create(&m, device, weights));
  model_destroy(m);
}

static void open_bench(bench *b) {
  size_t n = model_input(0)->bytes * BATCH;
  unsigned char *x = calloc(n, 1);
  for (size_t i = 3; i < n; i += 4) x[i] = (unsigned char)(i % 7 ? 0x3d : 0xbd); /* small floats of both signs */
  memset(b, 0, sizeof *b);
  must(model_create(&b->model, 0, "tables.bin"));
  b->bytes = model_output(0)->bytes * BATCH;
  b->args = (model_args){.batch = BATCH, .inputs = &b->in, .outputs = &b->out};
  must(model_allocate(b->model, n, &b->in));
  must(model_allocate(b->model, b->bytes, &b->out));
  must(model_allocate(b->model, model_workspace_bytes(BATCH), &b->args.workspace));
  must(model_upload(b->model, b->in, x, n));
  b->want = malloc(b->bytes);
  b->have = malloc(b->bytes);
  must(model_run(b->model, NULL, &b->args));
  must(model_download(b->model, b->want, b->out, b->bytes));
  free(x);
}

static void close_bench(bench *b) {
  must(model_release(b->model, b->in));
  must(model_release(b->model, b->out));
  must(model_release(b->model, b->args.workspace));
  model_destroy(b->model);
  free(b->want);
  free(b->have);
}

/* Whether the output is that of the first run; it is forgotten then. */
static int same(bench *b) {
  must(model_download(b->model, b->have, b->out, b->bytes));
  int equal = memcmp(b->have, b->want, b->bytes) == 0;
  memset(b->have, 0, b->bytes);
  must(model_upload(b->model, b->out, b->have, b->bytes));
  return equal;
}

static void *loop(void *p) {
  bench *b = p;
  pthread_barrier_wait(b->start);
  for (int i = 0; i < RUNS; i++) {
    int status = model_run(b->model, NULL, &b->args);
    if (status == MODEL_BUSY)
      b->refused++;
    else if (status != MODEL_OK || (b->want != NULL && !same(b)))
      b->wrong++;
  }
  return NULL;
}

/* Runs both benches at the same time. */
static void both(const char *what, bench *a, bench *b) {
  pthread_barrier_t start;
  pthread_t thread[2];
  pthread_barrier_init(&start, NULL, 2);
  a->start = b->start = &start;
  a->refused = b->refused = a->wrong = b->wrong = 0;
  pthread_create(&thread[0], NULL, loop, a);
  pthread_create(&thread[1], NULL, loop, b);
  pthread_join(thread[0], NULL);
  pthread_join(thread[1], NULL);
  printf("%s: %d wrong, %s\n", what, a->wrong + b->wrong, a->refused + b->refused ? "some refused" : "none refused");
}

static void arguments(bench *b) {
  model_args a = b->args;
  model_buffer in = b->in, out = b->out;
  a.inputs = &in;
  a.outputs = &out;
  a.batch = 0;
  tell("no batch", model_run(b->model, NULL, &a));
  tell("no caches", model_decode(b->model, NULL, &a));
  a.batch = MODEL_MAX_BATCH + 1;
  tell("large batch", model_run(b->model, NULL, &a));
  a.batch = BATCH;
  in.bytes--;
  tell("small input", model_run(b->model, NULL, &a));
  in.bytes++;
  in.address += 4;
  tell("crooked input", model_run(b->model, NULL, &a));
  in.address -= 4;
  out.bytes = 0;
  tell("no output", model_run(b->model, NULL, &a));
  out.bytes = b->out.bytes;
  a.workspace.bytes--;
  tell("small workspace", model_run(b->model, NULL, &a));
  a.workspace = b->args.workspace;
  a.outputs = NULL;
  tell("no outputs", model_run(b->model, NULL, &a));
  tell("no arguments", model_run(b->model, NULL, NULL));
  printf("nothing was launched: %d\n", same(b) == 0); /* same forgets; so the second is of zeros */
}

static void graphs(bench *b) {
  model_graph *g = NULL;
  must(model_graph_create(&g, b->model, &b->args));
  for (int i = 0; i < 2; i++) {
    must(model_graph_run(g, NULL));
    must(model_wait(b->model, NULL));
    printf("graph: same %d\n", same(b));
  }
  model_graph_destroy(g);
  model_args a = b->args;
  a.batch = 0;
  tell("graph of nothing", model_graph_create(&g, b->model, &a));
}

int main(void) {
  void (*set)(const char *, long long);
  int (*live)(void);
  void *driver = dlopen("libcuda.so.1", RTLD_NOW), *at;
  memcpy(&set, (at = dlsym(driver, "emulated_set"), &at), sizeof set);
  memcpy(&live, (at = dlsym(driver, "emulated_live"), &at), sizeof live);
  create("fine", 0, "tables.bin");
  create("no such GPU", 7, "tables.bin");
  create("no weights", 0, "none.bin");
  create("short weights", 0, "short.bin");
  create("other weights", 0, "other.bin");
  set("version", 11020);
  create("old driver", 0, "tables.bin");
  set("version", 12040);
  set("major", 7);
  create("old GPU", 0, "tables.bin");
  set("major", 8);
  set("memory", 1000);
  create("no memory", 0, "tables.bin");
  set("memory", 1LL << 32);
  set("devices", 0);
  create("no GPU", 0, "tables.bin");
  set("devices", 1);
  printf("batches: %d %d\n", model_workspace_bytes(0) == 0, model_workspace_bytes(MODEL_MAX_BATCH + 1LL) == 0);
  bench a, b;
  open_bench(&a);
  open_bench(&b);
  printf("run: same %d\n", (must(model_run(a.model, NULL, &a.args)), same(&a)));
  arguments(&a);
  graphs(&a);
  both("two models", &a, &b);
  bench c = a;
  free(a.want);
  a.want = c.want = NULL; /* the two disturb each other's output */
  both("one workspace", &a, &c);
  close_bench(&a);
  close_bench(&b);
  printf("left: %d\n", live());
  return 0;
}
