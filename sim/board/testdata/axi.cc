// SPDX-License-Identifier: Apache-2.0
// A processor and two DMA engines around twins in the AXI shell. Standard input has offset, access and value after a
// reset of each register. The argument is the seed of all pauses.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "Vaxi.h"
#include "verilated.h"

static Vaxi* top;
static uint64_t state = 1, cycle = 0;
static unsigned draw(unsigned n) {
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return (state * 2685821657736338717ull >> 33) % n;
}
#define DEMAND(what, ...) \
    do { \
        if (!(what)) { \
            printf("line %d, cycle %llu: %s: ", __LINE__, (unsigned long long)cycle, #what), printf(__VA_ARGS__), puts(""); \
            exit(1); \
        } \
    } while (0)

struct Beat { uint32_t data; bool last; };
static std::deque<Beat> in0, in1, out0, out1;
static bool pauses = true, drain = true;
static unsigned waits_in = 0, waits_out = 0;  // as the registers count them

static void tick() {
    // A sender that has shown a beat keeps it.
    if (!top->s_axis_0_tvalid && !in0.empty() && (!pauses || draw(3))) top->s_axis_0_tvalid = 1;
    if (!top->s_axis_1_tvalid && !in1.empty() && (!pauses || draw(3))) top->s_axis_1_tvalid = 1;
    if (!in0.empty()) top->s_axis_0_tdata = in0[0].data, top->s_axis_0_tlast = in0[0].last;
    if (!in1.empty()) top->s_axis_1_tdata = in1[0].data, top->s_axis_1_tlast = in1[0].last;
    top->m_axis_0_tready = drain && (!pauses || draw(3));
    top->m_axis_1_tready = drain && (!pauses || draw(3));
    top->ap_clk = 0, top->eval();
    const bool i0 = top->s_axis_0_tvalid && top->s_axis_0_tready, i1 = top->s_axis_1_tvalid && top->s_axis_1_tready;
    waits_in += top->s_axis_0_tvalid && !top->s_axis_0_tready || top->s_axis_1_tvalid && !top->s_axis_1_tready;
    waits_out += top->m_axis_0_tvalid && !top->m_axis_0_tready || top->m_axis_1_tvalid && !top->m_axis_1_tready;
    if (top->m_axis_0_tvalid && top->m_axis_0_tready) out0.push_back({top->m_axis_0_tdata, (bool)top->m_axis_0_tlast});
    if (top->m_axis_1_tvalid && top->m_axis_1_tready) out1.push_back({top->m_axis_1_tdata, (bool)top->m_axis_1_tlast});
    top->ap_clk = 1, top->eval();
    if (i0) in0.pop_front(), top->s_axis_0_tvalid = 0;
    if (i1) in1.pop_front(), top->s_axis_1_tvalid = 0;
    DEMAND(++cycle < 2000000, "no end");
}

static unsigned write(uint32_t at, uint32_t data, unsigned strobe = 15) {
    int address = draw(4), word = draw(4);  // cycles until each is shown
    bool sent_a = false, sent_w = false;
    while (!sent_a || !sent_w) {
        top->s_axi_awvalid = !sent_a && address-- <= 0, top->s_axi_awaddr = at;
        top->s_axi_wvalid = !sent_w && word-- <= 0, top->s_axi_wdata = data, top->s_axi_wstrb = strobe;
        top->eval();
        const bool a = top->s_axi_awvalid && top->s_axi_awready, w = top->s_axi_wvalid && top->s_axi_wready;
        tick();
        sent_a |= a, sent_w |= w;
    }
    top->s_axi_awvalid = top->s_axi_wvalid = 0;
    while (true) {
        top->s_axi_bready = draw(3) == 0;
        top->eval();
        const bool taken = top->s_axi_bvalid && top->s_axi_bready;
        const unsigned answer = top->s_axi_bresp;
        tick();
        if (taken) return top->s_axi_bready = 0, answer;
    }
}

static uint32_t read(uint32_t at, unsigned want = 0) {
    top->s_axi_arvalid = 1, top->s_axi_araddr = at;
    for (bool sent = false; !sent; tick()) top->eval(), sent = top->s_axi_arready;
    top->s_axi_arvalid = 0;
    while (true) {
        top->s_axi_rready = draw(3) == 0;
        top->eval();
        const bool taken = top->s_axi_rvalid && top->s_axi_rready;
        const uint32_t value = top->s_axi_rdata;
        const unsigned answer = top->s_axi_rresp;
        tick();
        if (!taken) continue;
        top->s_axi_rready = 0;
        DEMAND(answer == want, "address %02x is answered by %u", at, answer);
        return value;
    }
}

enum { CONTROL = 0x0c, STATUS = 0x10, ERRORS = 0x14, ENABLE = 0x18, PENDING = 0x1c, FRAMES_IN = 0x28,
       FRAMES_OUT = 0x2c, WAITS_IN = 0x30, WAITS_OUT = 0x34, LIMIT = 0x38 };

// Sends frames and demands their results.
static void frames(int count) {
    std::vector<Beat> want0, want1;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < 6; k++) {
            const uint32_t v = draw(0x80);
            in0.push_back({v, k == 5}), want0.push_back({(v + 1) & 0xff, k == 5});
        }
        for (int k = 0; k < 2; k++) {
            const uint32_t v = draw(1 << 24);
            in1.push_back({v, k == 1}), want1.push_back({~v & 0xffffff, k == 1});
        }
    }
    while (out0.size() < want0.size() || out1.size() < want1.size()) tick();
    for (size_t i = 0; i < want0.size(); i++)
        DEMAND(out0[i].data == want0[i].data && out0[i].last == want0[i].last, "beat %zu of m_axis_0", i);
    for (size_t i = 0; i < want1.size(); i++)
        DEMAND(out1[i].data == want1[i].data && out1[i].last == want1[i].last, "beat %zu of m_axis_1", i);
    out0.clear(), out1.clear();
    for (int i = 0; i < 4; i++) tick();
}

int main(int, char** argv) {
    state = 88172645463325252ull + 7919 * atoi(argv[1]);
    VerilatedContext context;
    context.randReset(2), context.randSeed(atoi(argv[1]));
    top = new Vaxi(&context);
    top->s_axis_0_tvalid = top->s_axis_1_tvalid = top->s_axi_awvalid = top->s_axi_wvalid = top->s_axi_arvalid = 0;
    top->s_axi_bready = top->s_axi_rready = 0;
    top->ap_rst_n = 0;
    for (int i = 0; i < 3; i++) tick();
    top->ap_rst_n = 1, waits_in = waits_out = 0, out0.clear(), out1.clear();

    // Every register after the reset, and what cannot be written, or is none.
    unsigned at;
    char access[8];
    uint32_t reset;
    std::map<uint32_t, std::string> known;
    while (scanf("%u %7s %u", &at, access, &reset) == 3) {
        const uint32_t value = read(at);
        DEMAND(value == reset, "register %02x is %08x after a reset, want %08x", at, value, reset);
        known[at] = access;
    }
    for (at = 0; at < 256; at++) {
        const bool is = known.count(at);
        if (!is) DEMAND(read(at, 2) == 0, "address %02x has something", at);
        if (!is || known[at] == "ro") DEMAND(write(at, ~0u) == 2, "address %02x can be written", at);
    }
    DEMAND(write(LIMIT, 0x12345678) == 0 && read(LIMIT) == 0x12345678, "limit");
    DEMAND(write(LIMIT, 0xaabbccdd, 5) == 0 && read(LIMIT) == 0x12bb56dd, "strobes");
    DEMAND(write(LIMIT, 0) == 0 && write(ENABLE, 3) == 0 && read(ENABLE) == 3, "enable");
    for (int i = 0; i < 40; i++) tick();
    DEMAND(read(STATUS) == 1, "idle, and out of reset");

    // Nothing moves before run.
    in0.push_back({1, false});
    for (int i = 0; i < 50; i++) tick();
    DEMAND(in0.size() == 1 && read(FRAMES_IN) == 0, "a beat came in without run");
    DEMAND(read(WAITS_IN) > 40 && !top->irq, "a beat waits");
    in0.pop_front(), top->s_axis_0_tvalid = 0;  // which a master may not do; the gate has shown it to nobody
    DEMAND(write(CONTROL, 1) == 0 && read(CONTROL) == 1 && (read(STATUS) & 3) == 3, "runs");
    frames(50);
    DEMAND(read(FRAMES_IN) == 50 && read(FRAMES_OUT) == 50 && (read(STATUS) & 1) == 1, "50 frames");
    const unsigned before_in = waits_in, before_out = waits_out;
    DEMAND(read(WAITS_IN) == before_in && read(WAITS_OUT) == before_out, "%u and %u cycles of waiting", before_in, before_out);
    DEMAND(top->irq && read(PENDING) == 1 && write(PENDING, 1) == 0 && read(PENDING) == 0 && !top->irq, "interrupt");
    DEMAND(read(ERRORS) == 0, "errors");

    // Paused between frames: the one that has begun ends, no other begins.
    for (int k = 0; k < 18; k++) in0.push_back({(uint32_t)k, k % 6 == 5});
    for (int k = 0; k < 6; k++) in1.push_back({(uint32_t)k, k % 2 == 1});
    while (in0.size() > 15) tick();
    write(CONTROL, 0);
    for (int i = 0; i < 200; i++) tick();
    DEMAND(in0.size() % 6 == 0 && !in0.empty() && in1.size() % 2 == 0, "%zu and %zu beats are left", in0.size(), in1.size());
    write(CONTROL, 1);
    while (out0.size() < 18 || out1.size() < 6) tick();
    out0.clear(), out1.clear();

    // TLAST where it does not belong, and a reset that puts it right.
    write(PENDING, 3);
    for (int k = 0; k < 6; k++) in0.push_back({(uint32_t)k, k == 3});
    while (!in0.empty()) tick();
    for (int i = 0; i < 20; i++) tick();
    DEMAND(read(ERRORS) == 2 && (read(PENDING) & 2) && top->irq, "a misplaced end: errors %u", read(ERRORS));
    write(CONTROL, 3);
    for (int i = 0; i < 40; i++) tick();
    write(ERRORS, 7), write(PENDING, 3), out0.clear(), out1.clear();
    DEMAND(read(ERRORS) == 0 && read(PENDING) == 0 && (read(STATUS) & 5) == 1, "after the reset: %u", read(STATUS));
    frames(20);

    // A reset in mid-frame: the next frame is right.
    for (int k = 0; k < 4; k++) in0.push_back({(uint32_t)k, false});
    while (!in0.empty()) tick();
    DEMAND((read(STATUS) & 1) == 0, "idle in mid-frame");
    write(CONTROL, 3);
    for (int i = 0; i < 40; i++) tick();
    out0.clear(), out1.clear();
    frames(20);

    // A sample that never comes out: the watchdog sees it.
    write(LIMIT, 100), write(PENDING, 3);
    in0.push_back({0xee, false});
    for (int k = 1; k < 6; k++) in0.push_back({0, k == 5});
    for (int k = 0; k < 2; k++) in1.push_back({0, k == 1});
    for (int i = 0; i < 400; i++) tick();
    DEMAND(read(ERRORS) == 4 && top->irq, "the watchdog: errors %u", read(ERRORS));
    write(CONTROL, 3);
    for (int i = 0; i < 40; i++) tick();
    write(LIMIT, 0), write(ERRORS, 7), write(PENDING, 3), out0.clear(), out1.clear();
    frames(20);
    DEMAND(read(ERRORS) == 0, "errors %u at the end", read(ERRORS));
    printf("%llu cycles\n", (unsigned long long)cycle);
    top->final();
    return 0;
}
