/* SPDX-License-Identifier: Apache-2.0
 * NAME.c: loads the kernels and launches them, through the CUDA driver alone. */
#define _POSIX_C_SOURCE 200809L

#include "NAME_kernels.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Results and attributes of the driver. */
enum {
  OUT_OF_MEMORY = 2,
  STUB_LIBRARY = 34,
  NO_DEVICE = 100,
  NO_BINARY = 209,
  INVALID_PTX = 218,
  NEWER_PTX = 222,
  CAPABILITY_MAJOR = 75,
  CAPABILITY_MINOR = 76,
  DYNAMIC_SHARED = 8,
  STREAM_NON_BLOCKING = 1,
  CAPTURE_THREAD_LOCAL = 1
};

typedef int result;

/* The functions of the driver that are called; their names are in the list below. */
typedef struct driver {
  result (*init)(unsigned);
  result (*version)(int *);
  result (*error_name)(result, const char **);
  result (*device_count)(int *);
  result (*device_get)(int *, int);
  result (*device_attribute)(int *, int, int);
  result (*context_retain)(void **, int);
  result (*context_release)(int);
  result (*context_push)(void *);
  result (*context_pop)(void **);
  result (*module_load)(void **, const void *);
  result (*module_unload)(void *);
  result (*function_get)(void **, void *, const char *);
  result (*function_set)(void *, int, int);
  result (*allocate)(uint64_t *, size_t);
  result (*release)(uint64_t);
  result (*upload)(uint64_t, const void *, size_t);
  result (*download)(void *, uint64_t, size_t);
  result (*copy)(uint64_t, uint64_t, size_t, void *);
  result (*set)(uint64_t, unsigned, size_t, void *);
  result (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                   void **);
  result (*stream_wait)(void *);
  result (*stream_create)(void **, unsigned);
  result (*stream_destroy)(void *);
  result (*capture_begin)(void *, int);
  result (*capture_end)(void *, void **);
  result (*graph_instantiate)(void **, void *, unsigned long long);
  result (*graph_launch)(void *, void *);
  result (*graph_exec_destroy)(void *);
  result (*graph_destroy)(void *);
} driver;

/* In the order of the members. */
static const char *const functions[] = {
    "cuInit", "cuDriverGetVersion", "cuGetErrorName", "cuDeviceGetCount", "cuDeviceGet",
    "cuDeviceGetAttribute", "cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease_v2", "cuCtxPushCurrent_v2",
    "cuCtxPopCurrent_v2", "cuModuleLoadData", "cuModuleUnload", "cuModuleGetFunction", "cuFuncSetAttribute",
    "cuMemAlloc_v2", "cuMemFree_v2", "cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2", "cuMemcpyDtoDAsync_v2",
    "cuMemsetD32Async",
    "cuLaunchKernel", "cuStreamSynchronize", "cuStreamCreate", "cuStreamDestroy_v2", "cuStreamBeginCapture_v2",
    "cuStreamEndCapture", "cuGraphInstantiateWithFlags", "cuGraphLaunch", "cuGraphExecDestroy",
    "cuGraphDestroy",
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };
_Static_assert(sizeof(driver) == FUNCTIONS * sizeof(void *), "a name for each function");

/* Workspaces in use at one time, one a thread. */
enum { MAX_RUNS = 64 };

/* cuTensorMapEncodeTiled, which drivers have from CUDA 12 on. */
typedef result (*encode_function)(void *, int, unsigned, uint64_t, const uint64_t *, const uint64_t *, const uint32_t *,
                                  const uint32_t *, int, int, int, int);

struct NAME_handle {
  driver cu;
  encode_function encode;
  int device;
  void *context, *module;
  const NAME_image *image;
  void *kernel[UPPER_KERNELS + 1];
  uint64_t weights;
  atomic_flag lock; /* of the list of workspaces */
  NAME_buffer busy[MAX_RUNS];
};

struct NAME_graph {
  NAME_handle *model;
  void *graph, *exec;
  int64_t batch;
  NAME_buffer positions;
};

/* Programs: the second only of models with caches. */
enum { RUN, DECODE };

static _Thread_local char message[512];

const char *NAME_last_error(void) { return message; }

int NAME_abi_version(void) { return UPPER_ABI_VERSION; }

const NAME_array *NAME_input(int i) { return i >= 0 && i < UPPER_INPUTS ? &NAME_programs[RUN].inputs[i] : NULL; }

const NAME_array *NAME_output(int i) { return i >= 0 && i < UPPER_OUTPUTS ? &NAME_programs[RUN].outputs[i] : NULL; }

const NAME_array *NAME_cache(int i) { return i >= 0 && i < UPPER_CACHES ? &NAME_cache_list[i] : NULL; }

const NAME_array *NAME_decode_input(int i) {
  return UPPER_PROGRAMS > 1 && i >= 0 && i < UPPER_INPUTS ? &NAME_programs[UPPER_PROGRAMS - 1].inputs[i] : NULL;
}

const NAME_array *NAME_decode_output(int i) {
  return UPPER_PROGRAMS > 1 && i >= 0 && i < UPPER_OUTPUTS ? &NAME_programs[UPPER_PROGRAMS - 1].outputs[i] : NULL;
}

const char *NAME_code(const NAME_handle *m) { return m->image ? m->image->name : "nothing"; }

static int fail(int status, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(message, sizeof message, format, list);
  va_end(list);
  return status;
}

/* The error of a call of the driver, about a kernel or another thing. */
static int failed(const NAME_handle *m, const char *what, const char *call, result r) {
  const char *name = NULL;
  if (m->cu.error_name(r, &name) != 0 || name == NULL) name = "CUDA error";
  return fail(r == OUT_OF_MEMORY ? UPPER_NO_MEMORY : UPPER_FAILED, "%s%s%s gives %s (%d)", what, *what ? ": " : "",
              call, name, r);
}

/* Begins and ends a part in which the context of the model is that of this thread. */
static int enter(const NAME_handle *m) {
  result r = m->cu.context_push(m->context);
  return r == 0 ? UPPER_OK : failed(m, "", "cuCtxPushCurrent", r);
}

static void leave(const NAME_handle *m) {
  void *old;
  (void)m->cu.context_pop(&old);
}

static int bind_driver(NAME_handle *m) {
  /* It stays loaded, since a driver has threads of its own. */
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL)
    return fail(UPPER_NO_GPU, "no CUDA driver (%s): a GPU by NVIDIA and its driver, 470 or later, are needed",
                dlerror());
  for (int i = 0; i < FUNCTIONS; i++) {
    void *at = dlsym(library, functions[i]);
    if (at == NULL)
      return fail(UPPER_OLD_DRIVER, "the CUDA driver lacks %s: driver 470 (CUDA 11.4) or later is needed",
                  functions[i]);
    memcpy((char *)&m->cu + (size_t)i * sizeof at, &at, sizeof at);
  }
  if (UPPER_MAX_TENSORS > 0) {
    void *at = dlsym(library, "cuTensorMapEncodeTiled");
    if (at == NULL)
      return fail(UPPER_OLD_DRIVER, "the CUDA driver lacks cuTensorMapEncodeTiled: driver 525 (CUDA 12.0) or later is "
                  "needed");
    memcpy(&m->encode, &at, sizeof at);
  }
  return UPPER_OK;
}

static int open_device(NAME_handle *m, int ordinal, int *capability) {
  result r = m->cu.init(0);
  if (r == NO_DEVICE) return fail(UPPER_NO_GPU, "no GPU: the CUDA driver finds none");
  if (r == STUB_LIBRARY)
    return fail(UPPER_NO_GPU, "no CUDA driver: libcuda.so.1 is the stub that programs are linked to");
  if (r != 0) return failed(m, "", "cuInit", r);
  int count = 0, major = 0, minor = 0;
  if ((r = m->cu.device_count(&count)) != 0) return failed(m, "", "cuDeviceGetCount", r);
  if (ordinal < 0 || ordinal >= count) return fail(UPPER_NO_GPU, "GPU %d is not there: %d found, numbered from 0", ordinal, count);
  if ((r = m->cu.device_get(&m->device, ordinal)) != 0) return failed(m, "", "cuDeviceGet", r);
  if ((r = m->cu.device_attribute(&major, CAPABILITY_MAJOR, m->device)) != 0 ||
      (r = m->cu.device_attribute(&minor, CAPABILITY_MINOR, m->device)) != 0)
    return failed(m, "", "cuDeviceGetAttribute", r);
  *capability = 10 * major + minor;
  if ((r = m->cu.context_retain(&m->context, m->device)) != 0) {
    m->context = NULL;
    return failed(m, "", "cuDevicePrimaryCtxRetain", r);
  }
  return UPPER_OK;
}

/* Whether code can run on a GPU of that capability. */
static int fits(const NAME_image *image, int capability) {
  if (image->exact) return image->capability == capability;
  if (image->capability > capability) return 0;
  return image->ptx || image->capability / 10 == capability / 10;
}

/* Loads the first image that the GPU and the driver take; the best stand first. */
static int load(NAME_handle *m, int capability) {
  if (UPPER_KERNELS == 0) return UPPER_OK;
  int tried = 0, version = 0;
  result r = NO_BINARY;
  for (int i = 0; i < UPPER_IMAGES; i++) {
    if (!fits(&NAME_images[i], capability)) continue;
    tried = 1;
    if ((r = m->cu.module_load(&m->module, NAME_images[i].data)) == 0) {
      m->image = &NAME_images[i];
      break;
    }
    m->module = NULL;
    if (r != NO_BINARY && r != INVALID_PTX && r != NEWER_PTX)
      return failed(m, NAME_images[i].name, "cuModuleLoadData", r);
  }
  if (!tried)
    return fail(UPPER_OLD_DRIVER, "no code for this GPU of compute capability %d.%d: %s is needed", capability / 10,
                capability % 10, "@NEEDED@");
  if (m->module == NULL) {
    if (m->cu.version(&version) != 0) version = 0;
    return fail(UPPER_OLD_DRIVER, "the CUDA driver (CUDA %d.%d) takes none of the code for this GPU (error %d): driver "
                "@DRIVER@ (CUDA @CUDA@) or later is needed", version / 1000, version % 1000 / 10, r);
  }
  for (int i = 0; i < UPPER_KERNELS; i++) {
    const NAME_kernel *k = &NAME_kernel_list[i];
    if ((r = m->cu.function_get(&m->kernel[i], m->module, k->name)) != 0)
      return failed(m, k->name, "cuModuleGetFunction", r);
    if (k->shared > 0 && (r = m->cu.function_set(m->kernel[i], DYNAMIC_SHARED, k->shared)) != 0)
      return failed(m, k->name, "cuFuncSetAttribute (shared memory)", r);
  }
  return UPPER_OK;
}

/* The sum of a file of weights: four lanes of (sum ^ word) * prime over words of eight bytes, the last one padded by
 * zeros, then the lanes in turn. */
static uint64_t check(const unsigned char *data, size_t bytes) {
  const uint64_t prime = UINT64_C(0x100000001b3);
  uint64_t lane[4] = {1, 2, 3, 4}, sum = bytes;
  for (size_t at = 0; at < bytes; at += 8) {
    uint64_t word = 0;
    memcpy(&word, data + at, bytes - at < 8 ? bytes - at : 8);
    lane[at / 8 % 4] = (lane[at / 8 % 4] ^ word) * prime;
  }
  for (int i = 0; i < 4; i++) sum = (sum ^ lane[i]) * prime;
  return sum;
}

/* Copies mapped weights to the GPU. */
static int upload_weights(NAME_handle *m, const char *path, const void *data, size_t bytes) {
  if (check(data, bytes) != UPPER_WEIGHTS_CHECK)
    return fail(UPPER_BAD_WEIGHTS,
                "%s: other weights than those of these kernels; take the tables.bin that came with them", path);
  int status = enter(m);
  if (status != UPPER_OK) return status;
  result r = m->cu.allocate(&m->weights, bytes);
  if (r != 0) {
    m->weights = 0;
    status = failed(m, path, "cuMemAlloc", r);
  } else if ((r = m->cu.upload(m->weights, data, bytes)) != 0) {
    status = failed(m, path, "cuMemcpyHtoD", r);
  }
  leave(m);
  return status;
}

static int read_weights(NAME_handle *m, const char *path) {
  if (UPPER_WEIGHTS_BYTES == 0) return UPPER_OK;
  if (path == NULL) return fail(UPPER_BAD_ARGUMENT, "NAME_create: no file of weights is named");
  int file = open(path, O_RDONLY);
  struct stat info;
  if (file < 0 || fstat(file, &info) != 0) {
    int status = fail(UPPER_BAD_WEIGHTS, "%s: cannot read the weights: %s", path, strerror(errno));
    if (file >= 0) close(file);
    return status;
  }
  if (info.st_size < 0 || (uint64_t)info.st_size != UPPER_WEIGHTS_BYTES) {
    close(file);
    return fail(UPPER_BAD_WEIGHTS, "%s: %lld bytes, the weights of these kernels have %llu", path,
                (long long)info.st_size, (unsigned long long)UPPER_WEIGHTS_BYTES);
  }
  size_t bytes = (size_t)UPPER_WEIGHTS_BYTES;
  void *data = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0);
  int reason = errno;
  close(file);
  if (data == MAP_FAILED) return fail(UPPER_BAD_WEIGHTS, "%s: cannot map the weights: %s", path, strerror(reason));
  int status = upload_weights(m, path, data, bytes);
  munmap(data, bytes);
  return status;
}

int NAME_create(NAME_handle **model, int device, const char *weights) {
  int capability = 0;
  if (model == NULL) return fail(UPPER_BAD_ARGUMENT, "NAME_create: no place for the model is given");
  *model = NULL;
  NAME_handle *m = calloc(1, sizeof *m);
  if (m == NULL) return fail(UPPER_NO_MEMORY, "NAME_create: out of memory");
  atomic_flag_clear(&m->lock);
  int status = bind_driver(m);
  if (status == UPPER_OK) status = open_device(m, device, &capability);
  if (status == UPPER_OK && (status = enter(m)) == UPPER_OK) {
    status = load(m, capability);
    leave(m);
  }
  if (status == UPPER_OK) status = read_weights(m, weights);
  if (status != UPPER_OK) {
    NAME_destroy(m);
    return status;
  }
  *model = m;
  return UPPER_OK;
}

void NAME_destroy(NAME_handle *m) {
  if (m == NULL) return;
  if (m->context != NULL) {
    if (m->cu.context_push(m->context) == 0) {
      if (m->weights != 0) (void)m->cu.release(m->weights);
      if (m->module != NULL) (void)m->cu.module_unload(m->module);
      leave(m);
    }
    (void)m->cu.context_release(m->device);
  }
  free(m);
}

/* Bytes of a buffer in the workspace, up to the next one. */
static uint64_t room(const NAME_place *p, int64_t batch) {
  const uint64_t align = 256;
  return (p->bytes * (uint64_t)batch + align - 1) / align * align;
}

size_t NAME_workspace_bytes(int64_t batch) {
  if (batch < 1 || batch > UPPER_MAX_BATCH) return 0;
  uint64_t most = 0;
  for (int k = 0; k < UPPER_PROGRAMS; k++) {
    uint64_t bytes = 0;
    const NAME_place *place = &NAME_places[NAME_programs[k].first_place];
    for (int i = 0; i < NAME_programs[k].buffers; i++)
      if (place[i].where == UPPER_IN_WORKSPACE) bytes += room(&place[i], batch);
    if (bytes > most) most = bytes;
  }
  return most > 0 ? (size_t)most : UPPER_ALIGN; /* 0 is the answer to a wrong batch */
}

static int check_buffer(const char *what, const char *name, NAME_buffer b, uint64_t bytes) {
  if (bytes == 0) return UPPER_OK;
  if (b.address == 0) return fail(UPPER_BAD_ARGUMENT, "%s %s: no memory is given, %llu bytes are needed", what, name,
                                  (unsigned long long)bytes);
  if (b.bytes < bytes)
    return fail(UPPER_BAD_ARGUMENT, "%s %s: the buffer has %llu bytes, %llu are needed", what, name,
                (unsigned long long)b.bytes, (unsigned long long)bytes);
  if (b.address % UPPER_ALIGN != 0)
    return fail(UPPER_BAD_ARGUMENT, "%s %s: the address %#llx is not a multiple of %d", what, name,
                (unsigned long long)b.address, UPPER_ALIGN);
  return UPPER_OK;
}

static int check_arrays(const char *what, const NAME_array *list, int count, const NAME_buffer *buffers,
                        int64_t batch) {
  int status = UPPER_OK;
  for (int i = 0; i < count && status == UPPER_OK; i++)
    status = check_buffer(what, list[i].name, buffers[i], list[i].bytes * (uint64_t)batch);
  return status;
}

/* The position of one more token. */
static int check_position(int64_t position) {
  if (position >= 0 && position < UPPER_MAX_SEQ) return UPPER_OK;
  return fail(UPPER_BAD_ARGUMENT, "a token at position %lld: the caches have room for %d tokens", (long long)position,
              UPPER_MAX_SEQ);
}

static int check_args(const NAME_program *p, const NAME_args *a) {
  if (a == NULL) return fail(UPPER_BAD_ARGUMENT, "no arguments are given");
  if (a->batch < 1 || a->batch > UPPER_MAX_BATCH)
    return fail(UPPER_BAD_ARGUMENT, "a batch of %lld samples: 1 to %d can be run", (long long)a->batch,
                UPPER_MAX_BATCH);
  if ((a->inputs == NULL && UPPER_INPUTS > 0) || (a->outputs == NULL && UPPER_OUTPUTS > 0))
    return fail(UPPER_BAD_ARGUMENT, "no inputs or no outputs are given: the model has %d and %d", UPPER_INPUTS,
                UPPER_OUTPUTS);
  if (a->caches == NULL && UPPER_CACHES > 0)
    return fail(UPPER_BAD_ARGUMENT, "no caches are given: the model has %d", UPPER_CACHES);
  int status = check_buffer("the", "workspace", a->workspace, NAME_workspace_bytes(a->batch));
  if (status == UPPER_OK) status = check_arrays("input", p->inputs, UPPER_INPUTS, a->inputs, a->batch);
  if (status == UPPER_OK) status = check_arrays("output", p->outputs, UPPER_OUTPUTS, a->outputs, a->batch);
  if (status == UPPER_OK) status = check_arrays("cache", NAME_cache_list, UPPER_CACHES, a->caches, a->batch);
  if (status != UPPER_OK || p->position < 0) return status;
  if (a->positions.address == 0) return check_position(a->position);
  return check_buffer("the", "positions", a->positions, 4 * (uint64_t)a->batch);
}

static void lock(NAME_handle *m) {
  while (atomic_flag_test_and_set_explicit(&m->lock, memory_order_acquire)) {
  }
}

static void unlock(NAME_handle *m) { atomic_flag_clear_explicit(&m->lock, memory_order_release); }

/* Takes a workspace for a run; slot is its place in the list. */
static int take(NAME_handle *m, NAME_buffer w, int *slot) {
  int overlaps = 0;
  *slot = -1;
  lock(m);
  for (int i = 0; i < MAX_RUNS; i++) {
    const NAME_buffer *b = &m->busy[i];
    if (b->bytes == 0)
      *slot = i;
    else if (b->address < w.address + w.bytes && w.address < b->address + b->bytes)
      overlaps = 1;
  }
  if (!overlaps && *slot >= 0) m->busy[*slot] = w;
  unlock(m);
  if (overlaps)
    return fail(UPPER_BUSY, "another thread is in a run on the same workspace (%#llx, %llu bytes): give each its own",
                (unsigned long long)w.address, (unsigned long long)w.bytes);
  if (*slot < 0) return fail(UPPER_BUSY, "%d threads are in runs of this model, which is the most", MAX_RUNS);
  return UPPER_OK;
}

static void give_back(NAME_handle *m, int slot) {
  lock(m);
  m->busy[slot].bytes = 0;
  unlock(m);
}

/* Finds the addresses of all buffers. */
static void locate(const NAME_handle *m, const NAME_program *p, const NAME_args *a, uint64_t *at) {
  uint64_t next = a->workspace.address;
  for (int i = 0; i < p->buffers; i++) {
    const NAME_place *place = &NAME_places[p->first_place + i];
    switch (place->where) {
    case UPPER_IN_WEIGHTS:
      at[i] = m->weights;
      break;
    case UPPER_IN_INPUT:
      at[i] = a->inputs[place->index].address;
      break;
    case UPPER_IN_OUTPUT:
      at[i] = a->outputs[place->index].address;
      break;
    case UPPER_IN_CACHE:
      at[i] = a->caches[place->index].address;
      break;
    default:
      at[i] = next;
      next += room(place, a->batch);
    }
  }
  if (p->position >= 0 && a->positions.address != 0) at[p->position] = a->positions.address;
}

/* Writes a position for every sample. */
static int set_positions(const NAME_handle *m, void *stream, uint64_t at, int64_t position, int64_t batch) {
  result r = m->cu.set(at, (unsigned)position, (size_t)batch, stream);
  return r == 0 ? UPPER_OK : failed(m, "position", "cuMemsetD32Async", r);
}

/* Encodes the map of a tensor at an address; outermost is its extent along the last dimension, or 0. */
static int encode(const NAME_handle *m, const NAME_tensor *t, uint64_t address, uint64_t outermost, void *map) {
  const uint32_t steps[5] = {1, 1, 1, 1, 1};
  uint64_t dims[5];
  memcpy(dims, t->dims, sizeof dims);
  if (outermost != 0) dims[t->rank - 1] = outermost;
  result r = m->encode(map, t->type, (unsigned)t->rank, address, dims, t->strides, t->box, steps, 0, t->swizzle,
                       t->promotion, 0);
  return r == 0 ? UPPER_OK : failed(m, "", "cuTensorMapEncodeTiled", r);
}

/* Launches one kernel on samples from..from+samples-1. */
static int launch(const NAME_handle *m, void *stream, const NAME_launch *l, const uint64_t *at, int64_t from,
                  int64_t samples) {
  uint64_t value[UPPER_MAX_ARGUMENTS + 1];
  void *list[UPPER_MAX_ARGUMENTS + 1];
  _Alignas(64) unsigned char maps[UPPER_MAX_TENSORS + 1][128];
  int tensors = 0;
  for (int i = 0; i < l->count; i++) {
    const NAME_argument *a = &NAME_arguments[l->first + i];
    list[i] = &value[i];
    if (a->buffer >= 0) {
      value[i] = at[a->buffer] + (uint64_t)a->offset + (uint64_t)from * a->each;
      if (a->tensor < 0) continue;
      list[i] = maps[tensors++];
      int status = encode(m, &NAME_tensors[a->tensor], value[i], (uint64_t)a->per_sample * (uint64_t)samples, list[i]);
      if (status != UPPER_OK) return status;
      continue;
    }
    value[i] = a->value + (uint64_t)a->per_sample * (uint64_t)samples;
    if (a->per_sample != 0 && a->multiple != 0) value[i] = (value[i] + a->multiple - 1) / a->multiple * a->multiple;
  }
  int64_t x = l->blocks, y = samples;
  if (l->tile != 0) {
    x *= (l->rows * samples + l->tile - 1) / l->tile;
    y = 1;
  }
  result r = m->cu.launch(m->kernel[l->kernel], (unsigned)x, (unsigned)y, 1, l->threads, 1, 1, l->shared, stream, list,
                          NULL);
  return r == 0 ? UPPER_OK : failed(m, NAME_kernel_list[l->kernel].name, "cuLaunchKernel", r);
}

static int launch_all(const NAME_handle *m, void *stream, const NAME_program *p, const NAME_args *a) {
  uint64_t at[UPPER_MAX_BUFFERS + 1];
  locate(m, p, a, at);
  if (p->position >= 0 && a->positions.address == 0) {
    int status = set_positions(m, stream, at[p->position], a->position, a->batch);
    if (status != UPPER_OK) return status;
  }
  for (int i = 0; i < p->launches; i++) {
    const NAME_launch *l = &NAME_launches[p->first_launch + i];
    for (int64_t from = 0; from < a->batch; from += l->max_samples) {
      int64_t samples = a->batch - from < l->max_samples ? a->batch - from : l->max_samples;
      int status = launch(m, stream, l, at, from, samples);
      if (status != UPPER_OK) return status;
    }
  }
  for (int i = 0; i < p->copies; i++) {
    const NAME_copy *c = &NAME_copies[p->first_copy + i];
    const NAME_array *output = &p->outputs[c->output];
    size_t bytes = output->bytes * (size_t)a->batch;
    result r = bytes == 0 ? 0 : m->cu.copy(a->outputs[c->output].address, at[c->buffer], bytes, stream);
    if (r != 0) return failed(m, output->name, "cuMemcpyDtoDAsync", r);
  }
  return UPPER_OK;
}

/* Checks all arguments, then launches a program. */
static int start(NAME_handle *m, void *stream, int program, const NAME_args *a) {
  if (program >= UPPER_PROGRAMS)
    return fail(UPPER_BAD_ARGUMENT, "NAME_decode: the model has no caches; lathe emit-cuda --max-seq N makes them");
  const NAME_program *p = &NAME_programs[program];
  int slot, status = check_args(p, a);
  if (status != UPPER_OK || (status = take(m, a->workspace, &slot)) != UPPER_OK) return status;
  if ((status = enter(m)) == UPPER_OK) {
    status = launch_all(m, stream, p, a);
    leave(m);
  }
  give_back(m, slot);
  return status;
}

int NAME_run(NAME_handle *m, void *stream, const NAME_args *a) { return start(m, stream, RUN, a); }

int NAME_decode(NAME_handle *m, void *stream, const NAME_args *a) { return start(m, stream, DECODE, a); }

/* Captures a run on a stream of its own. */
static int capture(NAME_graph *g, void *stream, int program, const NAME_args *a) {
  NAME_handle *m = g->model;
  result r = m->cu.capture_begin(stream, CAPTURE_THREAD_LOCAL);
  if (r != 0) return failed(m, "", "cuStreamBeginCapture", r);
  int status = start(m, stream, program, a);
  r = m->cu.capture_end(stream, &g->graph); /* in any case, since the stream captures */
  if (status == UPPER_OK && r != 0) status = failed(m, "", "cuStreamEndCapture", r);
  if (status == UPPER_OK && (r = m->cu.graph_instantiate(&g->exec, g->graph, 0)) != 0)
    status = failed(m, "", "cuGraphInstantiate", r);
  return status;
}

static int create_graph(NAME_graph **graph, NAME_handle *m, int program, const NAME_args *a) {
  if (graph == NULL) return fail(UPPER_BAD_ARGUMENT, "NAME_graph_create: no place for the graph is given");
  *graph = NULL;
  NAME_graph *g = calloc(1, sizeof *g);
  if (g == NULL) return fail(UPPER_NO_MEMORY, "NAME_graph_create: out of memory");
  g->model = m;
  void *stream = NULL;
  int status = enter(m);
  if (status == UPPER_OK) {
    result r = m->cu.stream_create(&stream, STREAM_NON_BLOCKING);
    if (r != 0) {
      status = failed(m, "", "cuStreamCreate", r);
    } else {
      status = capture(g, stream, program, a);
      (void)m->cu.stream_destroy(stream);
    }
    leave(m);
  }
  if (status != UPPER_OK) {
    NAME_graph_destroy(g);
    return status;
  }
  g->batch = a->batch;
  if (program == DECODE) g->positions = a->positions;
  *graph = g;
  return UPPER_OK;
}

int NAME_graph_create(NAME_graph **graph, NAME_handle *m, const NAME_args *a) {
  return create_graph(graph, m, RUN, a);
}

int NAME_decode_graph_create(NAME_graph **graph, NAME_handle *m, const NAME_args *a) {
  if (a != NULL && a->positions.address == 0)
    return fail(UPPER_BAD_ARGUMENT, "NAME_decode_graph_create: no memory for positions is given");
  return create_graph(graph, m, DECODE, a);
}

int NAME_decode_graph_run(NAME_graph *g, void *stream, int64_t position) {
  if (g->positions.address == 0)
    return fail(UPPER_BAD_ARGUMENT, "NAME_decode_graph_run: the graph is not one of NAME_decode");
  int status = check_position(position);
  if (status != UPPER_OK || (status = enter(g->model)) != UPPER_OK) return status;
  status = set_positions(g->model, stream, g->positions.address, position, g->batch);
  leave(g->model);
  return status == UPPER_OK ? NAME_graph_run(g, stream) : status;
}

int NAME_graph_run(NAME_graph *g, void *stream) {
  int status = enter(g->model);
  if (status != UPPER_OK) return status;
  result r = g->model->cu.graph_launch(g->exec, stream);
  leave(g->model);
  return r == 0 ? UPPER_OK : failed(g->model, "", "cuGraphLaunch", r);
}

void NAME_graph_destroy(NAME_graph *g) {
  if (g == NULL) return;
  if (enter(g->model) == UPPER_OK) {
    if (g->exec != NULL) (void)g->model->cu.graph_exec_destroy(g->exec);
    if (g->graph != NULL) (void)g->model->cu.graph_destroy(g->graph);
    leave(g->model);
  }
  free(g);
}

int NAME_wait(NAME_handle *m, void *stream) {
  int status = enter(m);
  if (status != UPPER_OK) return status;
  result r = m->cu.stream_wait(stream);
  leave(m);
  return r == 0 ? UPPER_OK : failed(m, "", "cuStreamSynchronize", r);
}

int NAME_allocate(NAME_handle *m, size_t bytes, NAME_buffer *b) {
  int status = enter(m);
  if (status != UPPER_OK) return status;
  b->bytes = bytes > 0 ? bytes : 1;
  result r = m->cu.allocate(&b->address, b->bytes);
  leave(m);
  return r == 0 ? UPPER_OK : failed(m, "", "cuMemAlloc", r);
}

int NAME_release(NAME_handle *m, NAME_buffer b) {
  int status = enter(m);
  if (status != UPPER_OK) return status;
  result r = m->cu.release(b.address);
  leave(m);
  return r == 0 ? UPPER_OK : failed(m, "", "cuMemFree", r);
}

int NAME_upload(NAME_handle *m, NAME_buffer to, const void *from, size_t bytes) {
  if (bytes > to.bytes)
    return fail(UPPER_BAD_ARGUMENT, "NAME_upload: %llu bytes for a buffer of %llu", (unsigned long long)bytes,
                (unsigned long long)to.bytes);
  int status = enter(m);
  if (status != UPPER_OK) return status;
  result r = bytes == 0 ? 0 : m->cu.upload(to.address, from, bytes);
  leave(m);
  return r == 0 ? UPPER_OK : failed(m, "", "cuMemcpyHtoD", r);
}

int NAME_download(NAME_handle *m, void *to, NAME_buffer from, size_t bytes) {
  if (bytes > from.bytes)
    return fail(UPPER_BAD_ARGUMENT, "NAME_download: %llu bytes of a buffer of %llu", (unsigned long long)bytes,
                (unsigned long long)from.bytes);
  int status = enter(m);
  if (status != UPPER_OK) return status;
  result r = bytes == 0 ? 0 : m->cu.download(to, from.address, bytes);
  leave(m);
  return r == 0 ? UPPER_OK : failed(m, "", "cuMemcpyDtoH", r);
}
