/* decode: provokes what the library of a model named llama refuses of one more token, and compares its graph. */
#include "llama.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 2 };

static void tell(const char *what, int status) { printf("%s: %d %s\n", what, status, status ? llama_last_error() : ""); }

static void must(int status) {
  if (status == LLAMA_OK) return;
  printf("%s\n", llama_last_error());
  exit(1);
}

/* Memory of a size, filled with a byte. */
static llama_buffer memory(llama_handle *m, size_t bytes, int byte) {
  llama_buffer b;
  void *data = malloc(bytes);
  memset(data, byte, bytes);
  must(llama_allocate(m, bytes, &b));
  must(llama_upload(m, b, data, bytes));
  free(data);
  return b;
}

/* Whether the output is what it was; it is zeros then. */
static int same(llama_handle *m, llama_buffer out, const void *want) {
  char *have = malloc(out.bytes);
  must(llama_download(m, have, out, out.bytes));
  int equal = memcmp(have, want, out.bytes) == 0;
  memset(have, 0, out.bytes);
  must(llama_upload(m, out, have, out.bytes));
  free(have);
  return equal;
}

int main(void) {
  llama_handle *m;
  must(llama_create(&m, 0, "tables.bin"));
  llama_buffer in = memory(m, llama_input(0)->bytes * BATCH, 0), out = memory(m, llama_output(0)->bytes * BATCH, 0);
  llama_buffer token = memory(m, llama_decode_input(0)->bytes * BATCH, 0), caches[LLAMA_CACHES];
  llama_buffer logits = memory(m, llama_decode_output(0)->bytes * BATCH, 0);
  for (int i = 0; i < LLAMA_CACHES; i++) caches[i] = memory(m, llama_cache(i)->bytes * BATCH, 0x3f);
  llama_args first = {.batch = BATCH, .inputs = &in, .outputs = &out, .caches = caches};
  must(llama_allocate(m, llama_workspace_bytes(BATCH), &first.workspace));
  must(llama_run(m, NULL, &first));

  llama_args a = first;
  void *zero = calloc(logits.bytes, 1), *want = malloc(logits.bytes);
  a.inputs = &token;
  a.outputs = &logits;
  a.position = -1;
  tell("before the first", llama_decode(m, NULL, &a));
  a.position = LLAMA_MAX_SEQ;
  tell("behind the last", llama_decode(m, NULL, &a));
  a.position = LLAMA_MAX_SEQ - 1;
  a.caches = NULL;
  tell("no caches", llama_decode(m, NULL, &a));
  a.caches = caches;
  caches[1].bytes--;
  tell("small cache", llama_decode(m, NULL, &a));
  tell("small cache of a run", llama_run(m, NULL, &first));
  caches[1].bytes++;
  caches[1].address += 8;
  tell("crooked cache", llama_decode(m, NULL, &a));
  caches[1].address -= 8;
  tell("graph without positions", llama_decode_graph_create(&(llama_graph *){NULL}, m, &a));
  a.positions = memory(m, 4 * BATCH - 4, 0);
  tell("few positions", llama_decode(m, NULL, &a));
  a.positions = (llama_buffer){0, 0};
  printf("nothing was launched: %d\n", same(m, logits, zero));

  for (a.position = 9; a.position < LLAMA_MAX_SEQ; a.position += LLAMA_MAX_SEQ - 10) {
    must(llama_decode(m, NULL, &a));
    must(llama_download(m, want, logits, logits.bytes));
    llama_graph *graph;
    llama_args placed = a;
    placed.positions = memory(m, 4 * BATCH, 0);
    must(llama_decode_graph_create(&graph, m, &placed));
    must(llama_decode_graph_run(graph, NULL, a.position));
    printf("graph at %d: same %d\n", (int)a.position, same(m, logits, want));
    must(llama_graph_run(graph, NULL));
    printf("where it was: same %d\n", same(m, logits, want));
    tell("graph behind the last", llama_decode_graph_run(graph, NULL, LLAMA_MAX_SEQ));
    llama_graph_destroy(graph);
  }
  llama_graph *graph;
  first.positions = memory(m, 4, 0); /* which a run does not look at */
  must(llama_graph_create(&graph, m, &first));
  tell("graph of a run", llama_decode_graph_run(graph, NULL, 1));
  llama_graph_destroy(graph);
  llama_destroy(m);
  return 0;
}
