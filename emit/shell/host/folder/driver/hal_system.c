/* SPDX-License-Identifier: Apache-2.0
 * hal_system.c: the simulated system of ../system. Argument: its socket; its memory is the file beside it, SOCKET.mem. A
 * request has four words of 32 bits (0 read, 1 write, 2 run until the interrupt or for so many cycles; device; offset;
 * value), an answer two (0 or a fault of the bus; value). */
#define _DEFAULT_SOURCE
#include "hal.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { READ, WRITE, WAIT };

/* Where engines have the memory: an address of more than 32 bits. */
#define BASE UINT64_C(0x800000000)

typedef struct machine {
  int socket;
  uint8_t *memory;
  size_t bytes, used;
  char what[256];
} machine;

static machine the;

static int ask(void *context, uint32_t what, int device, uint32_t offset, uint32_t value, uint32_t *answer) {
  machine *m = context;
  const uint32_t request[4] = {what, (uint32_t)device, offset, value};
  uint32_t reply[2];
  if (write(m->socket, request, sizeof request) != sizeof request) return -1;
  for (size_t n = 0; n < sizeof reply;) {
    const ssize_t got = read(m->socket, (char *)reply + n, sizeof reply - n);
    if (got <= 0) return -1;
    n += (size_t)got;
  }
  if (answer) *answer = reply[1];
  return reply[0] ? -1 : 0;
}

static int read32(void *context, int device, uint32_t offset, uint32_t *value) {
  return ask(context, READ, device, offset, 0, value);
}

static int write32(void *context, int device, uint32_t offset, uint32_t value) {
  return ask(context, WRITE, device, offset, value, NULL);
}

static int allocate(void *context, size_t bytes, lathe_buffer *buffer) {
  machine *m = context;
  const size_t whole = (bytes + 63) / 64 * 64;
  if (whole > m->bytes - m->used) return -1;
  buffer->at = m->memory + m->used;
  buffer->address = BASE + m->used;
  buffer->bytes = bytes;
  m->used += whole;
  return 0;
}

static void nothing(void *context, const lathe_buffer *buffer) { (void)context, (void)buffer; }

static void wait(void *context) { (void)ask(context, WAIT, 0, 0, 1000, NULL); }

int lathe_hal_open(lathe_hal *hal, int count, char *const *names, const char **what) {
  machine *m = &the;
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  char path[sizeof to.sun_path + 8];
  struct stat info;
  *what = m->what;
  if (count != 1 || strlen(names[0]) >= sizeof to.sun_path) {
    *what = "name the socket of the simulated system";
    return -1;
  }
  strcpy(to.sun_path, names[0]);
  snprintf(path, sizeof path, "%s.mem", names[0]);
  m->socket = socket(AF_UNIX, SOCK_STREAM, 0);
  const int file = open(path, O_RDWR);
  if (m->socket < 0 || connect(m->socket, (struct sockaddr *)&to, sizeof to) != 0 || fstat(file, &info) != 0) {
    snprintf(m->what, sizeof m->what, "no simulated system at %.200s: make system starts one", names[0]);
    return -1;
  }
  m->bytes = (size_t)info.st_size, m->used = 0;
  m->memory = mmap(NULL, m->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (m->memory == MAP_FAILED) {
    snprintf(m->what, sizeof m->what, "cannot map %.200s", path);
    return -1;
  }
  *hal = (lathe_hal){m, read32, write32, allocate, nothing, nothing, wait};
  return 0;
}

void lathe_hal_close(lathe_hal *hal) {
  machine *m = hal->context;
  munmap(m->memory, m->bytes);
  close(m->socket);
}
