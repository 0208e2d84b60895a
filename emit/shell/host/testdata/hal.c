/* SPDX-License-Identifier: Apache-2.0
 * Tries a HAL on memory in the place of devices. Arguments: file of the design's registers, of an engine's, of memory, as
 * hal_linux.c has them; without arguments, those of hal_bare.c, which is compiled with the addresses of the arrays here. */
#include "hal.h"

#include <stdio.h>
#include <stdlib.h>

#define DEMAND(what) \
  do { \
    if (!(what)) { \
      printf("line %d: %s: %s\n", __LINE__, #what, what_); \
      exit(1); \
    } \
  } while (0)

int main(int argc, char **argv) {
  const char *what_ = "";
  lathe_hal hal;
  lathe_buffer a, b;
  uint32_t value = 0;
  DEMAND(lathe_hal_open(&hal, argc - 1, argv + 1, &what_) == 0);
  DEMAND(hal.write32(hal.context, 0, 0x0c, 0x01020304) == 0 && hal.write32(hal.context, 1, 0x28, 77) == 0);
  DEMAND(hal.read32(hal.context, 0, 0x0c, &value) == 0 && value == 0x01020304);
  DEMAND(hal.read32(hal.context, 1, 0x28, &value) == 0 && value == 77);
  DEMAND(hal.read32(hal.context, 2, 0, &value) != 0 && hal.write32(hal.context, 2, 0, 1) != 0);
  DEMAND(hal.allocate(hal.context, 100, &a) == 0 && hal.allocate(hal.context, 60, &b) == 0);
  DEMAND(a.bytes == 100 && b.address == a.address + 128 && (char *)b.at == (char *)a.at + 128);
  ((unsigned char *)b.at)[59] = 9;
  hal.to_device(hal.context, &b);
  hal.to_host(hal.context, &b);
  hal.wait(hal.context);
  DEMAND(hal.allocate(hal.context, 5000, &a) != 0);
  printf("%llx\n", (unsigned long long)b.address);
  lathe_hal_close(&hal);
  return 0;
}
