/* SPDX-License-Identifier: Apache-2.0
 * NAME: a neural network on a GPU. See README.md.
 *
 * Functions return UPPER_OK or another status; NAME_last_error then has a line on the cause. All of them can be called
 * from any thread, and none keeps what its arguments point to, but for NAME_graph_create. */
#ifndef UPPER_H
#define UPPER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UPPER_ABI_VERSION 2
#define UPPER_INPUTS @INPUTS@
#define UPPER_OUTPUTS @OUTPUTS@
/* Buffers of caches of keys and values, for those in blocks codes and then scales, and the tokens that caches have room
 * for; 0 without caches. */
#define UPPER_CACHES @CACHES@
#define UPPER_MAX_SEQ @MAXSEQ@
/* The most samples of a run, and the alignment of its buffers in bytes. */
#define UPPER_MAX_BATCH @MAXBATCH@
#define UPPER_ALIGN @ALIGN@

#if defined(__GNUC__)
#define UPPER_API __attribute__((visibility("default")))
#else
#define UPPER_API
#endif

enum NAME_status {
  UPPER_OK,
  UPPER_BAD_ARGUMENT, /* nothing was launched */
  UPPER_NO_GPU,       /* no driver, or no GPU */
  UPPER_OLD_DRIVER,   /* the driver is too old for the code, or the GPU is */
  UPPER_BAD_WEIGHTS,  /* the file is not the one of these kernels */
  UPPER_BUSY,         /* another thread is in a run on the same workspace: nothing was launched */
  UPPER_NO_MEMORY,
  UPPER_FAILED /* the driver reports an error */
};

/* An input or output of one sample. */
typedef struct NAME_array {
  const char *name;
  const char *type; /* of the elements, little endian: f32, bf16, f16, i8, u8, i16, u16, i32, u32, i64 */
  int rank;
  const int64_t *shape;
  size_t bytes; /* of one sample; samples follow each other */
} NAME_array;

/* Device memory. */
typedef struct NAME_buffer {
  uint64_t address;
  size_t bytes;
} NAME_buffer;

typedef struct NAME_handle NAME_handle;
typedef struct NAME_graph NAME_graph;

/* What a run computes: batch samples, from UPPER_INPUTS buffers to UPPER_OUTPUTS buffers. workspace is scratch memory
 * of NAME_workspace_bytes(batch) bytes, of one run at a time. Every buffer begins at a multiple of UPPER_ALIGN.
 * The rest is for models with caches and may be left out: UPPER_CACHES buffers, which are changed in place and need no
 * content at first, and, for NAME_decode alone, position: how many tokens they hold of every sample. In its place
 * positions may be device memory with an i32 a sample, which is read when the kernels run and not checked:
 * outputs are unspecified beyond 0 to UPPER_MAX_SEQ - 1, and nothing outside of the caches is touched. */
typedef struct NAME_args {
  int64_t batch;
  const NAME_buffer *inputs;
  const NAME_buffer *outputs;
  NAME_buffer workspace;
  const NAME_buffer *caches;
  int64_t position;
  NAME_buffer positions;
} NAME_args;

/* UPPER_ABI_VERSION of the library. */
UPPER_API int NAME_abi_version(void);

/* Input or output i; NULL beyond the last. */
UPPER_API const NAME_array *NAME_input(int i);
UPPER_API const NAME_array *NAME_output(int i);
/* Cache i, and input or output i of NAME_decode. */
UPPER_API const NAME_array *NAME_cache(int i);
UPPER_API const NAME_array *NAME_decode_input(int i);
UPPER_API const NAME_array *NAME_decode_output(int i);

/* Opens GPU number device, loads the kernels, and copies the file of weights (tables.bin) to the GPU. */
UPPER_API int NAME_create(NAME_handle **model, int device, const char *weights);
/* Gives everything back; all runs must have ended. NULL is allowed. */
UPPER_API void NAME_destroy(NAME_handle *model);

/* What is loaded, such as "cubin sm_90". */
UPPER_API const char *NAME_code(const NAME_handle *model);

/* Bytes of the workspace of a run or a NAME_decode; 0 if the batch is not 1 to UPPER_MAX_BATCH. */
UPPER_API size_t NAME_workspace_bytes(int64_t batch);

/* Launches the kernels on a CUstream (or cudaStream_t; NULL is the default stream) and returns before they end. It
 * allocates nothing and waits for nothing, so that it can be captured. */
UPPER_API int NAME_run(NAME_handle *model, void *stream, const NAME_args *args);

/* NAME_run of a model with caches computes the first tokens; each NAME_decode computes one more, at a position, and
 * puts its keys and values into the caches. It launches as NAME_run does. */
UPPER_API int NAME_decode(NAME_handle *model, void *stream, const NAME_args *args);

/* Waits until everything that was launched on a stream has ended. */
UPPER_API int NAME_wait(NAME_handle *model, void *stream);

/* A run on buffers that stay as they are, captured once and launched as a whole. */
UPPER_API int NAME_graph_create(NAME_graph **graph, NAME_handle *model, const NAME_args *args);
UPPER_API int NAME_graph_run(NAME_graph *graph, void *stream);
UPPER_API void NAME_graph_destroy(NAME_graph *graph);
/* NAME_decode in the same way. args names positions, to which NAME_decode_graph_run writes that of all samples. */
UPPER_API int NAME_decode_graph_create(NAME_graph **graph, NAME_handle *model, const NAME_args *args);
UPPER_API int NAME_decode_graph_run(NAME_graph *graph, void *stream, int64_t position);

/* Device memory for programs that have no other means; upload and download wait for the default stream. */
UPPER_API int NAME_allocate(NAME_handle *model, size_t bytes, NAME_buffer *buffer);
UPPER_API int NAME_release(NAME_handle *model, NAME_buffer buffer);
UPPER_API int NAME_upload(NAME_handle *model, NAME_buffer to, const void *from, size_t bytes);
UPPER_API int NAME_download(NAME_handle *model, void *to, NAME_buffer from, size_t bytes);

/* What went wrong in the last call of this thread that failed. */
UPPER_API const char *NAME_last_error(void);

#ifdef __cplusplus
}
#endif
#endif
