/* SPDX-License-Identifier: Apache-2.0
 * Drives twins in the simulated system: right results, and what becomes of samples that never come out or have a beat too
 * many, of faults of the bus, and of arrays without codes. Argument: the socket. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "twins_driver.h"

enum { SAMPLES = 40 };

#define DEMAND(what) \
  do { \
    if (!(what)) { \
      printf("line %d: %s\n", __LINE__, #what); \
      exit(1); \
    } \
  } while (0)

static uint8_t in[SAMPLES][TWINS_IN_BYTES], out[SAMPLES][TWINS_OUT_BYTES];

static void draw(void) {
  for (int s = 0; s < SAMPLES; s++)
    for (int i = 0; i < TWINS_IN_BYTES; i++) in[s][i] = (uint8_t)(rand() >> 7 & (i ? 255 : 127));
}

static void right(int samples) {
  for (int s = 0; s < samples; s++) {
    for (int i = 0; i < 6; i++) DEMAND(out[s][i] == (uint8_t)(in[s][i] + 1));
    for (int i = 6; i < TWINS_OUT_BYTES; i++) DEMAND((out[s][i] ^ in[s][i]) == 255);
  }
}

static int run(twins_device *d, int samples) {
  memset(out, 0x55, sizeof out);
  return twins_run_frames(d, (size_t)samples, in[0], out[0]);
}

int main(int argc, char **argv) {
  lathe_hal hal;
  twins_device d;
  const char *what;
  uint32_t value;
  float a[2][6], b[2][2], c[2][6], e[2][2];
  const float *const from[] = {a[0], b[0]};
  float *const to[] = {c[0], e[0]};
  DEMAND(lathe_hal_open(&hal, argc - 1, argv + 1, &what) == 0);
  DEMAND(twins_open(&d, &hal) == TWINS_OK);

  DEMAND(hal.read32(hal.context, 0, TWINS_IN_BYTES_OFFSET, &value) == 0 && value == TWINS_IN_BYTES);
  DEMAND(hal.write32(hal.context, 0, TWINS_IN_BYTES_OFFSET, 1) != 0);
  DEMAND(hal.read32(hal.context, 0, 0x80, &value) != 0 && hal.read32(hal.context, 1, 0x2c, &value) != 0);
  DEMAND(hal.read32(hal.context, 3, 0, &value) != 0);

  draw();
  DEMAND(run(&d, SAMPLES) == TWINS_OK);
  right(SAMPLES);
  for (int s = 0; s < SAMPLES; s += 5) in[s][0] = 0xed; /* late */
  DEMAND(run(&d, 11) == TWINS_OK);
  right(11);

  for (int round = 0; round < 3; round++) { /* a sample that never comes out */
    draw();
    in[5][0] = 0xee;
    DEMAND(run(&d, 6) == TWINS_STALLED && d.errors == TWINS_ERRORS_STALLED);
    in[5][0] = 1;
    DEMAND(run(&d, SAMPLES) == TWINS_OK);
    right(SAMPLES);
  }
  draw();
  in[2][0] = 0xef; /* a beat too many behind it */
  DEMAND(run(&d, SAMPLES) == TWINS_DMA);
  in[2][0] = 1;
  DEMAND(run(&d, SAMPLES) == TWINS_OK);
  right(SAMPLES);

  for (int s = 0; s < 2; s++) {
    for (int i = 0; i < 6; i++) a[s][i] = (float)(10 * s + i) + 0.25f;
    for (int i = 0; i < 2; i++) b[s][i] = (float)(70000 * s + i);
  }
  DEMAND(twins_run(&d, 2, from, to) == TWINS_OK && c[1][5] == 16 && e[1][1] == 16777215 - 70001);
  a[1][3] = NAN;
  DEMAND(twins_run(&d, 2, from, to) == TWINS_BAD_ARGUMENT);
  a[1][3] = 1e9f;
  DEMAND(twins_run(&d, 2, from, to) == TWINS_OK && c[1][3] == 0); /* 255 + 1 of eight bits */
  lathe_hal_close(&hal);
  return 0;
}
