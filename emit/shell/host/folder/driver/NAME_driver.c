/* SPDX-License-Identifier: Apache-2.0
 * NAME_driver.c: the driver. It programs the registers of ../NAME_axi.h, and AXI DMA engines in their simple mode as AMD's
 * PG021 describes them; all else is up to hal.h. Made by lathe @VERSION@: do not edit. */
#include "NAME_driver.h"

#include <math.h>
#include <string.h>


/* Registers of a channel of an AXI DMA, from its base. */
enum { TO_STREAM = 0x00, TO_MEMORY = 0x30 };
enum { CONTROL = 0x00, STATUS = 0x04, ADDRESS = 0x18, ADDRESS_HIGH = 0x1c, LENGTH = 0x28 };
enum { RUN = 1, RESET = 4, DONE = 1 << 12, FAULTS = 0x70 };

enum { DESIGN = 0, ENGINES = UPPER_INPUTS > UPPER_OUTPUTS ? UPPER_INPUTS : UPPER_OUTPUTS, PATIENCE = 1000000 };

#define TRY(what) \
  do { \
    const int status_ = (what); \
    if (status_ != UPPER_OK) return status_; \
  } while (0)

static int get(const NAME_device *d, int device, uint32_t offset, uint32_t *value) {
  return d->hal->read32(d->hal->context, device, offset, value) ? UPPER_BUS : UPPER_OK;
}

static int set(const NAME_device *d, int device, uint32_t offset, uint32_t value) {
  return d->hal->write32(d->hal->context, device, offset, value) ? UPPER_BUS : UPPER_OK;
}

/* Waits until bits of a register are 0. */
static int settle(const NAME_device *d, int device, uint32_t offset, uint32_t bits) {
  for (int i = 0; i < 10000; i++) {
    uint32_t value;
    TRY(get(d, device, offset, &value));
    if ((value & bits) == 0) return UPPER_OK;
  }
  return device == DESIGN ? UPPER_STALLED : UPPER_DMA;
}

/* ---- codes ---- */

/* Where element i of a stream stands in the array. */
static size_t place(const NAME_port *p, size_t i) {
  size_t at = 0;
  if (p->rank == 0) return i;
  for (int k = p->rank - 1; k >= 0; k--) {
    at += i % p->shape[k] * p->stride[k];
    i /= p->shape[k];
  }
  return at;
}

static void put(uint8_t *beat, unsigned at, unsigned bits, uint64_t value) {
  for (unsigned i = 0; i < bits;) {
    const unsigned shift = (at + i) % 8, n = bits - i < 8 - shift ? bits - i : 8 - shift;
    beat[(at + i) / 8] |= (uint8_t)((value >> i & ((1u << n) - 1)) << shift);
    i += n;
  }
}

static uint64_t take(const uint8_t *beat, unsigned at, unsigned bits) {
  uint64_t value = 0;
  for (unsigned i = 0; i < bits;) {
    const unsigned shift = (at + i) % 8, n = bits - i < 8 - shift ? bits - i : 8 - shift;
    value |= (uint64_t)(beat[(at + i) / 8] >> shift & ((1u << n) - 1)) << i;
    i += n;
  }
  return value;
}

static uint8_t *beat_of(const NAME_port *p, uint8_t *frame, size_t i) {
  return frame + i / (size_t)p->lanes * (size_t)p->beat_bytes;
}

static unsigned lane_of(const NAME_port *p, size_t i) { return (unsigned)(i % (size_t)p->lanes) * (unsigned)p->bits; }

static double rounded(const char *how, double q) {
  if (strcmp(how, "even") == 0) return rint(q);
  if (strcmp(how, "away") == 0) return trunc(q + copysign(0.5, q));
  if (strcmp(how, "up") == 0) return floor(q + 0.5);
  if (strcmp(how, "down") == 0) return ceil(q - 0.5);
  if (strcmp(how, "halfzero") == 0) return copysign(ceil(fabs(q) - 0.5), q);
  if (strcmp(how, "ceil") == 0) return ceil(q);
  if (strcmp(how, "zero") == 0) return trunc(q);
  if (strcmp(how, "outward") == 0) return copysign(ceil(fabs(q)), q);
  return floor(q); /* floor, and stochastic without a random number */
}

static int64_t whole(const NAME_port *p, double q) {
  q = rounded(p->round, q) + (double)p->zero;
  if (p->wrap) {
    const int64_t span = INT64_C(1) << p->bits, k = ((int64_t)fmod(q, (double)span) - p->min) % span;
    return (k < 0 ? k + span : k) + p->min;
  }
  return q < (double)p->min ? p->min : q > (double)p->max ? p->max : (int64_t)q;
}

static int64_t looked_up(const NAME_port *p, float x) {
  int low = 0, high = p->steps;
  if (x == 0 && signbit(x)) return p->minus_zero;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    if (p->from[middle] <= x) low = middle;
    else high = middle;
  }
  return p->to[low];
}

/* Value i of the stream, in its units. */
static float value_of(const NAME_port *p, const float *values, size_t i) {
  const float x = values[place(p, i)];
  return p->channels ? ldexpf(x, p->exponents[i % (size_t)p->channels]) : x;
}

/* The exponent of the scale of the block that begins at element i, -1 behind its field. */
static int exponent_of(const NAME_port *p, const float *values, size_t i, size_t end, uint64_t *field) {
  double most = 0;
  int e = 0;
  for (size_t k = i; k < end; k++) most = fmax(most, fabs((double)value_of(p, values, k)));
  frexp(most, &e);
  e = e - 1 < p->scale_min ? p->scale_min : e - 1 > p->scale_max ? p->scale_max : e - 1;
  *field = most > 0 ? (uint64_t)(e + p->scale_bias) : 0;
  return most > 0 ? e : -p->scale_bias;
}

static void encode_blocks(const NAME_port *p, const float *values, uint8_t *frame) {
  const size_t row = (size_t)p->row, block = (size_t)p->block;
  for (size_t i = 0; i < p->elements;) {
    const size_t left = row - i % row, end = i + (left < block - i % row % block ? left : block - i % row % block);
    uint64_t field;
    const double step = ldexp(p->scale, exponent_of(p, values, i, end, &field));
    for (; i < end; i++) {
      uint8_t *beat = beat_of(p, frame, i);
      put(beat, lane_of(p, i), (unsigned)p->bits, (uint64_t)whole(p, (double)value_of(p, values, i) / step));
      if (i % (size_t)p->lanes == 0) put(beat, (unsigned)(p->lanes * p->bits), (unsigned)p->scale_bits, field);
    }
  }
}

int NAME_encode(const NAME_port *p, const float *values, uint8_t *frame) {
  for (size_t i = 0; i < p->elements; i++)
    if (!isfinite(values[i])) return UPPER_BAD_ARGUMENT;
  memset(frame, 0, p->frame_bytes);
  if (p->kind == UPPER_CODE) return UPPER_UNSUPPORTED;
  if (p->kind == UPPER_BLOCK) {
    encode_blocks(p, values, frame);
    return UPPER_OK;
  }
  for (size_t i = 0; i < p->elements; i++) {
    const float x = value_of(p, values, i);
    int64_t code;
    if (p->kind == UPPER_TABLE) code = looked_up(p, x);
    else if (p->divide) code = whole(p, (double)(x / (float)p->scale));
    else code = whole(p, (double)x / p->scale);
    put(beat_of(p, frame, i), lane_of(p, i), (unsigned)p->bits, (uint64_t)code);
  }
  return UPPER_OK;
}

int NAME_encode_codes(const NAME_port *p, const int64_t *codes, uint8_t *frame) {
  if (p->scale_bits) return UPPER_UNSUPPORTED;
  memset(frame, 0, p->frame_bytes);
  for (size_t i = 0; i < p->elements; i++) {
    const int64_t code = codes[place(p, i)];
    const int64_t most = p->bits > 62 ? INT64_MAX : (INT64_C(1) << (p->bits - (p->is_signed ? 1 : 0))) - 1;
    if (code > most || code < (p->is_signed ? -most - 1 : 0)) return UPPER_BAD_ARGUMENT;
    put(beat_of(p, frame, i), lane_of(p, i), (unsigned)p->bits, (uint64_t)code);
  }
  return UPPER_OK;
}

static int64_t code_at(const NAME_port *p, const uint8_t *frame, size_t i) {
  const uint64_t raw = take(frame + i / (size_t)p->lanes * (size_t)p->beat_bytes, lane_of(p, i), (unsigned)p->bits);
  if (!p->is_signed || p->bits == 64 || raw >> (p->bits - 1) == 0) return (int64_t)raw;
  return (int64_t)(raw | ~UINT64_C(0) << p->bits);
}

int NAME_decode_codes(const NAME_port *p, const uint8_t *frame, int64_t *codes) {
  for (size_t i = 0; i < p->elements; i++) codes[place(p, i)] = code_at(p, frame, i);
  return UPPER_OK;
}

int NAME_decode(const NAME_port *p, const uint8_t *frame, float *values) {
  if (p->kind == UPPER_CODE) return UPPER_UNSUPPORTED;
  for (size_t i = 0; i < p->elements; i++) {
    const int64_t code = code_at(p, frame, i);
    double x;
    if (p->kind == UPPER_TABLE) {
      x = p->table[code & (p->codes - 1)];
    } else {
      x = (double)(code - p->zero) * p->scale;
    }
    if (p->kind == UPPER_BLOCK) {
      const uint8_t *beat = frame + i / (size_t)p->lanes * (size_t)p->beat_bytes;
      const int field = (int)take(beat, (unsigned)(p->lanes * p->bits), (unsigned)p->scale_bits);
      x = field == (1 << p->scale_bits) - 1 ? NAN : ldexp(x, field - p->scale_bias);
    }
    values[place(p, i)] = (float)x;
  }
  return UPPER_OK;
}

/* ---- runs ---- */

int NAME_reset(NAME_device *d) {
  for (int k = 0; k < ENGINES; k++) {
    if (k < UPPER_INPUTS) TRY(set(d, 1 + k, TO_STREAM + CONTROL, RESET));
    if (k < UPPER_INPUTS) TRY(settle(d, 1 + k, TO_STREAM + CONTROL, RESET));
    if (k < UPPER_OUTPUTS) TRY(set(d, 1 + k, TO_MEMORY + CONTROL, RESET));
    if (k < UPPER_OUTPUTS) TRY(settle(d, 1 + k, TO_MEMORY + CONTROL, RESET));
  }
  TRY(set(d, DESIGN, UPPER_CONTROL_OFFSET, UPPER_CONTROL_RESET));
  TRY(settle(d, DESIGN, UPPER_STATUS_OFFSET, UPPER_STATUS_IN_RESET));
  TRY(set(d, DESIGN, UPPER_ERRORS_OFFSET, ~UINT32_C(0)));
  TRY(set(d, DESIGN, UPPER_INTERRUPT_STATUS_OFFSET, ~UINT32_C(0)));
  TRY(set(d, DESIGN, UPPER_INTERRUPT_ENABLE_OFFSET, UPPER_INTERRUPT_ENABLE_FRAME | UPPER_INTERRUPT_ENABLE_ERROR));
  TRY(set(d, DESIGN, UPPER_LIMIT_OFFSET, UPPER_TIMEOUT));
  for (int k = 0; k < ENGINES; k++) {
    if (k < UPPER_INPUTS) TRY(set(d, 1 + k, TO_STREAM + CONTROL, RUN));
    if (k < UPPER_OUTPUTS) TRY(set(d, 1 + k, TO_MEMORY + CONTROL, RUN));
  }
  return set(d, DESIGN, UPPER_CONTROL_OFFSET, UPPER_CONTROL_RUN);
}

int NAME_open(NAME_device *d, const lathe_hal *hal) {
  uint32_t low, high;
  memset(d, 0, sizeof *d);
  d->hal = hal, d->patience = PATIENCE;
  TRY(get(d, DESIGN, UPPER_ID_LOW_OFFSET, &low));
  TRY(get(d, DESIGN, UPPER_ID_HIGH_OFFSET, &high));
  if (((uint64_t)high << 32 | low) != UPPER_ID) return UPPER_WRONG_DESIGN;
  for (int slot = 0; slot < 2; slot++) {
    for (int i = 0; i < UPPER_INPUTS; i++)
      if (hal->allocate(hal->context, NAME_inputs[i].frame_bytes, &d->in[i][slot])) return UPPER_NO_MEMORY;
    for (int i = 0; i < UPPER_OUTPUTS; i++)
      if (hal->allocate(hal->context, NAME_outputs[i].frame_bytes, &d->out[i][slot])) return UPPER_NO_MEMORY;
  }
  return NAME_reset(d);
}

/* Samples of a run, in one of two forms. */
typedef struct job {
  size_t samples;
  const float *const *inputs;
  float *const *outputs;
  const uint8_t *in;
  uint8_t *out;
} job;

static int fill(const job *j, int port, size_t sample, uint8_t *frame) {
  const NAME_port *p = &NAME_inputs[port];
  if (j->inputs) return NAME_encode(p, j->inputs[port] + sample * p->elements, frame);
  const uint8_t *from = j->in + sample * UPPER_IN_BYTES;
  for (int i = 0; i < port; i++) from += NAME_inputs[i].frame_bytes;
  memcpy(frame, from, p->frame_bytes);
  return UPPER_OK;
}

static int drain(const job *j, int port, size_t sample, const uint8_t *frame) {
  const NAME_port *p = &NAME_outputs[port];
  if (j->outputs) return NAME_decode(p, frame, j->outputs[port] + sample * p->elements);
  uint8_t *to = j->out + sample * UPPER_OUT_BYTES;
  for (int i = 0; i < port; i++) to += NAME_outputs[i].frame_bytes;
  memcpy(to, frame, p->frame_bytes);
  return UPPER_OK;
}

static int start(const NAME_device *d, int device, uint32_t channel, const lathe_buffer *b) {
  TRY(set(d, device, channel + ADDRESS, (uint32_t)b->address));
  TRY(set(d, device, channel + ADDRESS_HIGH, (uint32_t)(b->address >> 32)));
  return set(d, device, channel + LENGTH, (uint32_t)b->bytes); /* which starts the transfer */
}

static int finished(const NAME_device *d, int device, uint32_t channel, int *done) {
  uint32_t status;
  TRY(get(d, device, channel + STATUS, &status));
  if (status & FAULTS) return UPPER_DMA;
  *done = (status & DONE) != 0;
  return *done ? set(d, device, channel + STATUS, DONE) : UPPER_OK;
}

/* Transfers of a port: begun and ended. */
typedef struct progress {
  size_t begun, ended;
} progress;

/* Two samples at most are under way, so that the two buffers of each port suffice. */
static int feed(NAME_device *d, const job *j, int port, progress *at, size_t results, int *news) {
  if (at->begun > at->ended) {
    int done;
    TRY(finished(d, 1 + port, TO_STREAM, &done));
    if (!done) return UPPER_OK;
    at->ended++, *news = 1;
  }
  if (at->begun == j->samples || at->begun >= results + 2) return UPPER_OK;
  lathe_buffer *b = &d->in[port][at->begun % 2];
  TRY(fill(j, port, at->begun, b->at));
  d->hal->to_device(d->hal->context, b);
  at->begun++, *news = 1;
  return start(d, 1 + port, TO_STREAM, b);
}

static int collect(NAME_device *d, const job *j, int port, progress *at, int *news) {
  lathe_buffer *b = &d->out[port][at->ended % 2];
  const int had = at->begun > at->ended;
  if (had) {
    int done;
    uint32_t bytes;
    TRY(finished(d, 1 + port, TO_MEMORY, &done));
    if (!done) return UPPER_OK;
    TRY(get(d, 1 + port, TO_MEMORY + LENGTH, &bytes));
    if (bytes != b->bytes) return UPPER_DMA;
    at->ended++, *news = 1;
  }
  if (at->begun < j->samples) {
    lathe_buffer *next = &d->out[port][at->begun % 2];
    d->hal->to_device(d->hal->context, next);
    at->begun++;
    TRY(start(d, 1 + port, TO_MEMORY, next));
  }
  if (!had) return UPPER_OK;
  d->hal->to_host(d->hal->context, b);
  return drain(j, port, at->ended - 1, b->at);
}

static int run(NAME_device *d, const job *j) {
  progress in[UPPER_INPUTS] = {{0, 0}}, out[UPPER_OUTPUTS] = {{0, 0}};
  unsigned quiet = 0;
  for (size_t results = 0; results < j->samples;) {
    int news = 0;
    for (int i = 0; i < UPPER_INPUTS; i++) TRY(feed(d, j, i, &in[i], results, &news));
    for (int i = 0; i < UPPER_OUTPUTS; i++) TRY(collect(d, j, i, &out[i], &news));
    results = out[0].ended;
    for (int i = 1; i < UPPER_OUTPUTS; i++)
      if (out[i].ended < results) results = out[i].ended;
    quiet = news ? 0 : quiet + 1;
    if (quiet == 0) continue;
    TRY(get(d, DESIGN, UPPER_ERRORS_OFFSET, &d->errors));
    if (d->errors & UPPER_ERRORS_STALLED || quiet > d->patience) return UPPER_STALLED;
    if (d->errors) return UPPER_ERROR;
    d->hal->wait(d->hal->context);
    TRY(set(d, DESIGN, UPPER_INTERRUPT_STATUS_OFFSET, UPPER_INTERRUPT_STATUS_FRAME));
  }
  TRY(get(d, DESIGN, UPPER_ERRORS_OFFSET, &d->errors));
  return d->errors ? UPPER_ERROR : UPPER_OK;
}

static int whole_run(NAME_device *d, const job *j) {
  const int status = run(d, j);
  if (status != UPPER_OK && status != UPPER_BUS) TRY(NAME_reset(d));
  return status;
}

int NAME_run(NAME_device *d, size_t samples, const float *const *inputs, float *const *outputs) {
  const job j = {samples, inputs, outputs, NULL, NULL};
  return whole_run(d, &j);
}

int NAME_run_frames(NAME_device *d, size_t samples, const uint8_t *in, uint8_t *out) {
  const job j = {samples, NULL, NULL, in, out};
  return whole_run(d, &j);
}

const char *NAME_message(int status) {
  static const char *const texts[] = {"no error", "a value is not finite, or there is no such port",
      "the bus answers with an error, or not at all", "another design is in the device: load the bitstream of this one",
      "not enough memory for DMA", "no result came in time", "the design reports an error",
      "an AXI DMA reports an error, or a result has another length", "this format is not converted here: use codes"};
  return status >= 0 && status < (int)(sizeof texts / sizeof texts[0]) ? texts[status] : "unknown error";
}
