// SPDX-License-Identifier: Apache-2.0 What the generated glue of a model offers to the harness. Payloads lie in
// memory little-endian, as Verilator keeps them.
#pragma once
#include <cstdint>

struct LathePort {
    const char* name;
    char kind;       // 'i' input stream, 'o' output stream, 't' tap
    uint32_t width;  // bits of the payload
    uint8_t* data;
    uint8_t* valid;
    uint8_t* ready;
    uint8_t* last;  // null without a last flag
};

// One Verilated design of the program.
struct LatheModel {
    void (*open)(int argc, char** argv, uint32_t seed, const char* trace_file);
    LathePort* (*ports)(int* count);
    uint8_t* (*clk)();
    uint8_t* (*rst)();
    uint32_t settle;  // cycles after rst in which the design takes no beat
    void (*eval)();
    void (*dump)(uint64_t time);  // appends to the trace, if one is open
    void (*close)();
};
extern const LatheModel lathe_models[];
extern const int lathe_model_count;
