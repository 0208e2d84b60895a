/* SPDX-License-Identifier: Apache-2.0
 * hal.h: what the driver needs of a machine. Device 0 is the design behind AXI4-Lite, device 1 + k is AXI DMA k in its
 * simple mode: its channel to the stream serves input k, its channel to memory output k.
 *   hal_linux.c   Linux user space: UIO and u-dma-buf
 *   hal_bare.c    no operating system: registers and memory at fixed addresses
 *   hal_system.c  the simulated system of ../system */
#ifndef LATHE_HAL_H
#define LATHE_HAL_H

#include <stddef.h>
#include <stdint.h>

/* Memory that the processor has at a pointer and DMA engines at an address. */
typedef struct lathe_buffer {
  void *at;
  uint64_t address;
  size_t bytes;
} lathe_buffer;

typedef struct lathe_hal {
  void *context;
  /* Registers of a device; 0, or another number after a fault of the bus. */
  int (*read32)(void *context, int device, uint32_t offset, uint32_t *value);
  int (*write32)(void *context, int device, uint32_t offset, uint32_t value);
  /* Memory for DMA, aligned to 64 bytes, until the HAL is closed; 0, or another number where there is none left. */
  int (*allocate)(void *context, size_t bytes, lathe_buffer *buffer);
  /* Before an engine reads what the processor wrote; before the processor reads what an engine wrote. */
  void (*to_device)(void *context, const lathe_buffer *buffer);
  void (*to_host)(void *context, const lathe_buffer *buffer);
  /* Returns at an interrupt of the design, or after at most about a millisecond. */
  void (*wait)(void *context);
} lathe_hal;

/* Opens the HAL that the program is linked with; what its arguments mean stands at its top. 0, or -1 with a message in
 * what. */
int lathe_hal_open(lathe_hal *hal, int count, char *const *names, const char **what);
void lathe_hal_close(lathe_hal *hal);

#endif
