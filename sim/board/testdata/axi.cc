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

// Packets have four bytes a beat; a frame of any port has six.
struct Beat { uint32_t data; unsigned keep; bool last; };
typedef std::vector<uint8_t> Bytes;
static std::deque<Beat> in0, in1;
static std::deque<Bytes> out0, out1, want0, want1;  // frames
static Bytes part0, part1;
static bool pauses = true, drain = true;
static unsigned waits_in = 0, waits_out = 0;  // as the registers count them

// A beat of a packet from the design.
static void collect(Bytes& part, std::deque<Bytes>& out, uint32_t data, unsigned keep, bool last) {
    DEMAND(keep == 15 || last && (keep == 1 || keep == 3 || keep == 7), "keep is %x", keep);
    for (int i = 0; i < 4; i++)
        if (keep >> i & 1) part.push_back(data >> 8 * i);
    if (last) out.push_back(part), part.clear();
}

static void tick() {
    // A sender that has shown a beat keeps it.
    if (!top->s_axis_0_tvalid && !in0.empty() && (!pauses || draw(3))) top->s_axis_0_tvalid = 1;
    if (!top->s_axis_1_tvalid && !in1.empty() && (!pauses || draw(3))) top->s_axis_1_tvalid = 1;
    if (!in0.empty())
        top->s_axis_0_tdata = in0[0].data, top->s_axis_0_tkeep = in0[0].keep, top->s_axis_0_tlast = in0[0].last;
    if (!in1.empty())
        top->s_axis_1_tdata = in1[0].data, top->s_axis_1_tkeep = in1[0].keep, top->s_axis_1_tlast = in1[0].last;
    top->m_axis_0_tready = drain && (!pauses || draw(3));
    top->m_axis_1_tready = drain && (!pauses || draw(3));
    top->ap_clk = 0, top->eval();
    const bool out_of_reset = top->ap_rst_n;  // registers hold anything before
    const bool i0 = top->s_axis_0_tvalid && top->s_axis_0_tready, i1 = top->s_axis_1_tvalid && top->s_axis_1_tready;
    waits_in += top->s_axis_0_tvalid && !top->s_axis_0_tready || top->s_axis_1_tvalid && !top->s_axis_1_tready;
    waits_out += top->m_axis_0_tvalid && !top->m_axis_0_tready || top->m_axis_1_tvalid && !top->m_axis_1_tready;
    if (out_of_reset && top->m_axis_0_tvalid && top->m_axis_0_tready)
        collect(part0, out0, top->m_axis_0_tdata, top->m_axis_0_tkeep, top->m_axis_0_tlast);
    if (out_of_reset && top->m_axis_1_tvalid && top->m_axis_1_tready)
        collect(part1, out1, top->m_axis_1_tdata, top->m_axis_1_tkeep, top->m_axis_1_tlast);
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

// A packet of some bytes; what is not kept is random.
static void packet(std::deque<Beat>& in, const Bytes& bytes) {
    for (size_t at = 0; at < bytes.size(); at += 4) {
        Beat b = {draw(1 << 30), 0, at + 4 >= bytes.size()};
        for (size_t i = 0; i < 4 && at + i < bytes.size(); i++) {
            b.data = b.data & ~(255u << 8 * i) | (uint32_t)bytes[at + i] << 8 * i;
            b.keep |= 1 << i;
        }
        in.push_back(b);
    }
}

// Sends packets of so many bytes to both inputs; frames of six come out of them.
static void send(size_t size0 = 6, size_t size1 = 6) {
    Bytes a(size0), b(size1), c(6), d(6);
    for (auto& v : a) v = draw(0x80);
    for (auto& v : b) v = draw(0x100);
    packet(in0, a), packet(in1, b);
    for (size_t i = 0; i < 6; i++) c[i] = (i < size0 ? a[i] : 0) + 1, d[i] = ~(i < size1 ? b[i] : 0);
    want0.push_back(c), want1.push_back(d);
}

// Demands all results.
static void results() {
    while (out0.size() < want0.size() || out1.size() < want1.size()) tick();
    for (int i = 0; i < 10; i++) tick();
    DEMAND(out0 == want0 && out1 == want1, "%zu and %zu frames", out0.size(), out1.size());
    out0.clear(), out1.clear(), want0.clear(), want1.clear();
}

static void frames(int count) {
    for (int i = 0; i < count; i++) send();
    results();
}

static void restart() {
    write(CONTROL, 3);
    for (int i = 0; i < 40; i++) tick();
    write(ERRORS, 7), write(PENDING, 3);
    out0.clear(), out1.clear(), part0.clear(), part1.clear();
    DEMAND(read(ERRORS) == 0 && read(PENDING) == 0 && (read(STATUS) & 5) == 1, "after a reset: %u", read(STATUS));
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
    top->ap_rst_n = 1, waits_in = waits_out = 0, out0.clear(), out1.clear(), part0.clear(), part1.clear();

    // Every register after the reset, and what cannot be written, or is none.
    unsigned at;
    char access[8];
    uint32_t reset;
    std::map<uint32_t, std::string> known;
    while (scanf("%u %7s %u", &at, access, &reset) == 3) {
        const uint32_t value = read(at);
        // the design leaves its reset meanwhile
        DEMAND(value == reset || at == STATUS && value == 1, "register %02x is %08x after a reset, want %08x", at, value, reset);
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

    // No frame begins before run.
    send();
    for (int i = 0; i < 50; i++) tick();
    DEMAND(in0.size() == 1 && read(FRAMES_IN) == 0 && (read(STATUS) & 1), "a frame has begun without run");
    DEMAND(read(WAITS_IN) > 40 && !top->irq, "a beat waits");
    DEMAND(write(CONTROL, 1) == 0 && read(CONTROL) == 1 && (read(STATUS) & 2), "runs");
    frames(49);
    DEMAND(read(FRAMES_IN) == 50 && read(FRAMES_OUT) == 50 && (read(STATUS) & 1) == 1, "50 frames");
    const unsigned before_in = waits_in, before_out = waits_out;
    DEMAND(read(WAITS_IN) == before_in && read(WAITS_OUT) == before_out, "%u and %u cycles of waiting", before_in, before_out);
    DEMAND(top->irq && read(PENDING) == 1 && write(PENDING, 1) == 0 && read(PENDING) == 0 && !top->irq, "interrupt");
    DEMAND(read(ERRORS) == 0, "errors");

    // Paused between frames: the one that has begun ends, no other begins.
    for (int i = 0; i < 5; i++) send();
    while (out0.empty() && part0.empty()) tick();
    write(CONTROL, 0);
    for (int i = 0; i < 200; i++) tick();
    const uint32_t begun = read(FRAMES_IN);
    DEMAND((read(STATUS) & 3) == 1 && begun < 55 && out0.size() == begun - 50 && !in0.empty(), "%u frames", begun);
    for (int i = 0; i < 200; i++) tick();
    DEMAND(read(FRAMES_IN) == begun, "a frame has begun without run");
    write(CONTROL, 1);
    results();

    // Packets that are no frames: they are completed or cut, and all others are right.
    write(PENDING, 3);
    for (int round = 0; round < 40; round++) {
        send();
        const size_t size = 1 + draw(16);
        const bool first = draw(2);
        send(first ? size : 6, first ? 6 : size);
        send();
        results();
        DEMAND(read(ERRORS) == (size == 6 ? 0 : 2) && (read(PENDING) & 2) == (size == 6 ? 0 : 2), "%zu bytes", size);
        write(ERRORS, 2), write(PENDING, 3);
    }
    send();
    in0[in0.size() - 2].keep = 13;  // a gap in a beat
    want0.back()[1] = 1;
    results();
    DEMAND(read(ERRORS) == 2, "a gap");
    write(ERRORS, 2), write(PENDING, 3);
    frames(20);

    // A reset in mid-frame: the next frame is right.
    in0.push_back({0x01020304, 15, false});
    while (!in0.empty()) tick();
    for (int i = 0; i < 8; i++) tick();
    DEMAND((read(STATUS) & 1) == 0, "idle in mid-frame");
    restart();
    frames(20);

    // A sample that never comes out: the watchdog sees it.
    write(LIMIT, 100), write(PENDING, 3);
    packet(in0, {0xee, 0, 0, 0, 0, 0}), packet(in1, {0, 0, 0, 0, 0, 0});
    for (int i = 0; i < 400; i++) tick();
    DEMAND(read(ERRORS) == 4 && top->irq, "the watchdog: errors %u", read(ERRORS));
    write(LIMIT, 0);
    restart();
    frames(20);
    DEMAND(read(ERRORS) == 0, "errors %u at the end", read(ERRORS));
    printf("%llu cycles\n", (unsigned long long)cycle);
    top->final();
    return 0;
}
