/* SPDX-License-Identifier: Apache-2.0
 * hal_bare.c: for programs without an operating system. Set these when it is compiled, as in
 *     -DLATHE_DESIGN=0x43c00000 -DLATHE_DMAS=0x40400000 -DLATHE_MEMORY=0x10000000 -DLATHE_MEMORY_BYTES=0x100000
 * LATHE_DMAS lists the base addresses of all AXI DMAs with commas between them. The memory must be one that no cache
 * keeps, or LATHE_FLUSH(at, bytes) and LATHE_INVALIDATE(at, bytes) call what the processor has for that
 * (Xil_DCacheFlushRange and Xil_DCacheInvalidateRange of AMD's library). */
#include "hal.h"

#if !defined(LATHE_DESIGN) || !defined(LATHE_DMAS) || !defined(LATHE_MEMORY) || !defined(LATHE_MEMORY_BYTES)
#error "define LATHE_DESIGN, LATHE_DMAS, LATHE_MEMORY and LATHE_MEMORY_BYTES: see the top of hal_bare.c"
#endif
#ifndef LATHE_FLUSH
#define LATHE_FLUSH(at, bytes) ((void)(at), (void)(bytes))
#endif
#ifndef LATHE_INVALIDATE
#define LATHE_INVALIDATE(at, bytes) ((void)(at), (void)(bytes))
#endif

enum { DEVICES = 1 + sizeof(uintptr_t[]){LATHE_DMAS} / sizeof(uintptr_t) };
static size_t used;

static volatile uint32_t *at(int device, uint32_t offset) {
  const uintptr_t bases[] = {LATHE_DESIGN, LATHE_DMAS};
  return (volatile uint32_t *)(bases[device] + offset);
}

static int read32(void *context, int device, uint32_t offset, uint32_t *value) {
  (void)context;
  if (device >= DEVICES) return -1;
  *value = *at(device, offset);
  return 0;
}

static int write32(void *context, int device, uint32_t offset, uint32_t value) {
  (void)context;
  if (device >= DEVICES) return -1;
  *at(device, offset) = value;
  return 0;
}

static int allocate(void *context, size_t bytes, lathe_buffer *buffer) {
  const size_t whole = (bytes + 63) / 64 * 64;
  (void)context;
  if (whole > LATHE_MEMORY_BYTES - used) return -1;
  buffer->at = (void *)((uintptr_t)LATHE_MEMORY + used);
  buffer->address = (uintptr_t)LATHE_MEMORY + used;
  buffer->bytes = bytes;
  used += whole;
  return 0;
}

static void to_device(void *context, const lathe_buffer *buffer) {
  (void)context;
  LATHE_FLUSH(buffer->at, buffer->bytes);
  __sync_synchronize();
}

static void to_host(void *context, const lathe_buffer *buffer) {
  (void)context;
  __sync_synchronize();
  LATHE_INVALIDATE(buffer->at, buffer->bytes);
}

static void wait(void *context) { (void)context; }

int lathe_hal_open(lathe_hal *hal, int count, char *const *names, const char **what) {
  (void)count, (void)names;
  *what = "";
  used = 0;
  *hal = (lathe_hal){0, read32, write32, allocate, to_device, to_host, wait};
  return 0;
}

void lathe_hal_close(lathe_hal *hal) { (void)hal; }
