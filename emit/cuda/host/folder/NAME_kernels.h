/* SPDX-License-Identifier: Apache-2.0
 * What NAME.c is told by NAME_kernels.c: code, launches, buffers. */
#ifndef UPPER_KERNELS_H
#define UPPER_KERNELS_H

#include "NAME.h"

#define UPPER_KERNELS @KERNELS@
#define UPPER_PROGRAMS @PROGRAMS@ /* a run, and one more token */
#define UPPER_MAX_BUFFERS @MAXBUFFERS@
#define UPPER_IMAGES @IMAGES@
#define UPPER_MAX_ARGUMENTS @MAXARGS@
#define UPPER_MAX_TENSORS @MAXTENSORS@

/* The file of weights. */
#define UPPER_WEIGHTS_BYTES UINT64_C(@WEIGHTS@)
#define UPPER_WEIGHTS_CHECK UINT64_C(@CHECK@)

/* Code for GPUs. Those that a GPU takes are tried in order. */
typedef struct NAME_image {
  const char *name; /* "cubin sm_90", "PTX sm_80" */
  const uint64_t *data;
  int capability; /* ten times the compute capability; what runs on later ones depends on the next two */
  int exact;      /* on no other */
  int ptx;        /* on all later ones, else on those with the same major number */
} NAME_image;

/* A kernel, and the dynamic shared memory in bytes that its launches take at most. */
typedef struct NAME_kernel {
  const char *name;
  int shared;
} NAME_kernel;

/* An argument: buffer 0 or more, offset bytes into it, and each bytes for every sample before those of the launch; with
 * buffer -1 a number, value + per_sample * samples, rounded up to a multiple unless that is 0. With tensor 0 or
 * more the map of a tensor that begins at the address; per_sample * samples is its outermost extent, unless it is 0. */
typedef struct NAME_argument {
  int64_t offset;
  uint64_t value;
  int64_t per_sample;
  uint64_t multiple, each;
  int buffer, tensor;
} NAME_argument;

/* A tensor of which kernels copy boxes, as cuTensorMapEncodeTiled takes it; the innermost dimension comes first. */
typedef struct NAME_tensor {
  int type, rank, swizzle, promotion;
  uint64_t dims[5], strides[5];
  uint32_t box[5];
} NAME_tensor;

/* A launch of up to max_samples samples. The grid is blocks by samples; with a tile, blocks * ceil(rows * samples /
 * tile) by 1. */
typedef struct NAME_launch {
  int64_t blocks, rows, tile;
  int64_t max_samples;
  unsigned threads, shared;
  int kernel;
  int first, count; /* of its arguments */
} NAME_launch;

/* Where a buffer lies. */
enum { UPPER_IN_WEIGHTS, UPPER_IN_WORKSPACE, UPPER_IN_INPUT, UPPER_IN_OUTPUT, UPPER_IN_CACHE };
typedef struct NAME_place {
  uint64_t bytes; /* of a sample; of the weights as a whole */
  int where, index;
} NAME_place;

/* An output that is an input or another output as it is. */
typedef struct NAME_copy {
  int output, buffer;
} NAME_copy;

/* Launches, buffers and copies of a run, each a part of the list of all; arrays; and the buffer of positions or -1. */
typedef struct NAME_program {
  int first_launch, launches, first_place, buffers, first_copy, copies, position;
  const NAME_array *inputs, *outputs;
} NAME_program;

extern const NAME_program NAME_programs[];
extern const NAME_image NAME_images[];
extern const NAME_kernel NAME_kernel_list[];
extern const NAME_argument NAME_arguments[];
extern const NAME_tensor NAME_tensors[];
extern const NAME_launch NAME_launches[];
extern const NAME_place NAME_places[];
extern const NAME_copy NAME_copies[];
extern const NAME_array NAME_cache_list[];

#endif
