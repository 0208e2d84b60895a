/* SPDX-License-Identifier: Apache-2.0
 * NAME_driver.h: has the design NAME compute samples. A sample is one array for each input, in the order and layout
 * of the model; so is a result. Made by lathe @VERSION@: do not edit. */
#ifndef NAME_DRIVER_H
#define NAME_DRIVER_H

#include "hal.h"
#include "../NAME_axi.h"
#include "NAME_ports.h"

enum {
  UPPER_OK,
  UPPER_BAD_ARGUMENT, /* a value that is not finite, a port that is not there */
  UPPER_BUS,          /* the bus answers with an error, or not at all */
  UPPER_WRONG_DESIGN, /* another design is in the device, see UPPER_ID */
  UPPER_NO_MEMORY,    /* not enough memory for DMA: UPPER_DMA_BYTES */
  UPPER_STALLED,      /* no result came in time */
  UPPER_ERROR,        /* the design reports an error, see errors of NAME_device */
  UPPER_DMA,          /* an AXI DMA reports an error, or a result has another length */
  UPPER_UNSUPPORTED   /* the format is not converted here: use codes */
};

/* Codes of a port: value = (code - zero) * scale, with more for blocks and tables. */
typedef enum { UPPER_INTEGER, UPPER_BLOCK, UPPER_TABLE, UPPER_CODE } NAME_kind;

typedef struct NAME_port {
  const char *name, *format;
  int beats, lanes, beat_bytes; /* a frame is so many beats; lane 0 is in the lowest bits of a beat */
  size_t elements, frame_bytes;
  int bits, is_signed;          /* of a code */
  int rank;                     /* 0: the elements of a stream have the order of the array */
  const uint32_t *shape, *stride; /* else of the stream's axes: sizes, and steps in the array */
  int channels;                 /* 0, or elements of the last axis, each of which is multiplied by 2^exponents first */
  const int16_t *exponents;
  NAME_kind kind;
  double scale;
  int64_t zero, min, max;
  const char *round;
  int wrap, divide;             /* codes wrap around; the quotient is rounded to float first */
  int row, block, scale_bits, scale_bias, scale_min, scale_max; /* of blocks */
  int codes, steps;             /* of tables */
  const double *table;
  const float *from;
  const uint16_t *to;
  int64_t minus_zero;
} NAME_port;

extern const NAME_port NAME_inputs[UPPER_INPUTS], NAME_outputs[UPPER_OUTPUTS];

typedef struct NAME_device {
  const lathe_hal *hal;
  lathe_buffer in[UPPER_INPUTS][2], out[UPPER_OUTPUTS][2];
  unsigned patience; /* how often a run looks for news in vain before it ends with UPPER_STALLED */
  uint32_t errors;   /* of the register of that name, after UPPER_ERROR and UPPER_STALLED */
} NAME_device;

/* Demands that the device holds this design, gets memory, and resets design and engines. */
int NAME_open(NAME_device *d, const lathe_hal *hal);

/* Resets design and engines; frames that are inside are lost. Runs that fail do it themselves. */
int NAME_reset(NAME_device *d);

/* Computes samples: input i of sample s begins at inputs[i] + s * NAME_inputs[i].elements, and so for outputs. While
 * one sample is computed, the next one is on its way. */
int NAME_run(NAME_device *d, size_t samples, const float *const *inputs, float *const *outputs);

/* The same with frames as they are in memory: those of all inputs of a sample, one behind the other, are
 * UPPER_IN_BYTES, those of its outputs UPPER_OUT_BYTES. */
int NAME_run_frames(NAME_device *d, size_t samples, const uint8_t *in, uint8_t *out);

/* Between one array and a frame. Values that have no code become the nearest; codes that the port
 * does not have are UPPER_BAD_ARGUMENT. */
int NAME_encode(const NAME_port *p, const float *values, uint8_t *frame);
int NAME_decode(const NAME_port *p, const uint8_t *frame, float *values);
int NAME_encode_codes(const NAME_port *p, const int64_t *codes, uint8_t *frame);
int NAME_decode_codes(const NAME_port *p, const uint8_t *frame, int64_t *codes);

const char *NAME_message(int status);

#endif
