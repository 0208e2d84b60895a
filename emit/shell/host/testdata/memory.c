/* SPDX-License-Identifier: Apache-2.0
 * Memory in the place of devices, for hal_bare.c. */
#include <stdint.h>
uint32_t design[64], engine[64];
uint8_t memory[4096];
