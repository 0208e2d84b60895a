/* SPDX-License-Identifier: Apache-2.0
 * hal_linux.c: registers by UIO, memory by u-dma-buf. Arguments: the UIO file of the design, one for each AXI DMA, and
 * the file of the memory, for example
 *     /dev/uio0 /dev/uio1 /dev/udmabuf0
 * Its address and size stand in /sys/class/u-dma-buf/udmabuf0/; LATHE_SYSFS names another folder than /sys. The memory
 * is opened without caches, so that nothing needs to be flushed. */
#define _DEFAULT_SOURCE
#include "hal.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST = 17, PAGE = 4096 };

typedef struct machine {
  int devices, files[MOST];
  volatile uint32_t *registers[MOST];
  uint8_t *memory;
  size_t bytes, used;
  uint64_t address;
  char what[256];
} machine;

static machine the;

static int read32(void *context, int device, uint32_t offset, uint32_t *value) {
  machine *m = context;
  if (device >= m->devices || offset >= PAGE) return -1;
  *value = m->registers[device][offset / 4];
  return 0;
}

static int write32(void *context, int device, uint32_t offset, uint32_t value) {
  machine *m = context;
  if (device >= m->devices || offset >= PAGE) return -1;
  m->registers[device][offset / 4] = value;
  return 0;
}

static int allocate(void *context, size_t bytes, lathe_buffer *buffer) {
  machine *m = context;
  const size_t whole = (bytes + 63) / 64 * 64;
  if (whole > m->bytes - m->used) return -1;
  buffer->at = m->memory + m->used;
  buffer->address = m->address + m->used;
  buffer->bytes = bytes;
  m->used += whole;
  return 0;
}

/* All of what was written is in the memory before a register of an engine is. */
static void barrier(void *context, const lathe_buffer *buffer) {
  (void)context, (void)buffer;
  __sync_synchronize();
}

static void wait(void *context) {
  machine *m = context;
  const uint32_t enable = 1;
  uint32_t count;
  struct pollfd p = {m->files[0], POLLIN, 0};
  if (write(p.fd, &enable, sizeof enable) != sizeof enable) return;
  if (poll(&p, 1, 1) == 1 && read(p.fd, &count, sizeof count) != sizeof count) return;
}

static int number(machine *m, const char *file, const char *entry, unsigned long long *value) {
  const char *root = getenv("LATHE_SYSFS"), *name = strrchr(file, '/');
  char path[512];
  snprintf(path, sizeof path, "%s/class/u-dma-buf/%s/%s", root ? root : "/sys", name ? name + 1 : file, entry);
  FILE *f = fopen(path, "r");
  const int found = f && fscanf(f, "%lli", (long long *)value) == 1;
  if (f) fclose(f);
  if (!found) snprintf(m->what, sizeof m->what, "cannot read %.200s", path);
  return found ? 0 : -1;
}

static int map(machine *m, const char *file, size_t bytes, int flags, int *descriptor, void **at) {
  *descriptor = open(file, O_RDWR | flags);
  *at = *descriptor < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *descriptor, 0);
  if (*at != MAP_FAILED) return 0;
  snprintf(m->what, sizeof m->what, "cannot map %.200s", file);
  return -1;
}

int lathe_hal_open(lathe_hal *hal, int count, char *const *names, const char **what) {
  machine *m = &the;
  unsigned long long address = 0, bytes = 0;
  void *at;
  int memory;
  *what = m->what;
  if (count < 3 || count > MOST + 1) {
    *what = "name the UIO files of the design and of each AXI DMA, and the file of u-dma-buf";
    return -1;
  }
  for (m->devices = 0; m->devices < count - 1; m->devices++) {
    if (map(m, names[m->devices], PAGE, 0, &m->files[m->devices], &at)) return -1;
    m->registers[m->devices] = at;
  }
  if (number(m, names[count - 1], "phys_addr", &address) || number(m, names[count - 1], "size", &bytes)) return -1;
  if (map(m, names[count - 1], (size_t)bytes, O_SYNC, &memory, &at)) return -1;
  m->memory = at, m->bytes = (size_t)bytes, m->used = 0, m->address = address;
  *hal = (lathe_hal){m, read32, write32, allocate, barrier, barrier, wait};
  return 0;
}

void lathe_hal_close(lathe_hal *hal) {
  machine *m = hal->context;
  for (int i = 0; i < m->devices; i++) munmap((void *)m->registers[i], PAGE), close(m->files[i]);
  munmap(m->memory, m->bytes);
}
