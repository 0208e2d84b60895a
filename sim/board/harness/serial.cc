// SPDX-License-Identifier: Apache-2.0
// Runs a design behind a serial line. Standard input has records of two bytes, what to do and a number: 0 puts the
// number on the line as a byte, 1 the same with a stop bit that is low, 2 resets the board for so many cycles, 3 leaves
// the line alone for so many bytes. Standard output has the bytes that the design sends. While nothing is under way the
// clock stands still. Arguments: cycles of a bit, seed of what registers hold at first.
#include <poll.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>

#include "Vserial.h"
#include "verilated.h"

static std::deque<uint8_t> input;
static bool ended = false;

// Takes in what there is; waits for it where wait says so.
static void take(bool wait) {
    struct pollfd p = {0, POLLIN, 0};
    while (!ended && poll(&p, 1, wait ? -1 : 0) > 0) {
        uint8_t buffer[4096];
        ssize_t n = read(0, buffer, sizeof buffer);
        if (n <= 0) ended = true;
        for (ssize_t i = 0; i < n; i++) input.push_back(buffer[i]);
        wait = false;
    }
}

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    const double bit = atof(argv[1]);
    auto context = std::make_unique<VerilatedContext>();
    context->randReset(2);
    context->randSeed(atoi(argv[2]) + 1);
    auto top = std::make_unique<Vserial>(context.get());
    top->rx = 1;
    top->rst = 1;
    top->clk = 0;
    uint64_t cycle = 0, reset_until = 16, quiet_since = 0;
    double send_end = 0, begun = 0;   // of what is on the line, in cycles
    unsigned send_bits = 0;           // of it, the start bit in the low bit; 0: the line is high
    bool sending = false;
    double sample_at = 0;             // when the next bit from the design is looked at
    int got = -1;                     // bits that have been, -1 between bytes
    unsigned bits = 0;
    while (true) {
        if (cycle % 64 == 0) take(false);
        if (sending && cycle >= send_end) sending = false;
        if (!sending && cycle > 64 && input.size() >= 2) {
            const uint8_t what = input[0], number = input[1];
            input.erase(input.begin(), input.begin() + 2);
            if (what == 2) {
                reset_until = cycle + number;
            } else {
                sending = true;
                begun = cycle > send_end + 1 ? (double)cycle : send_end;
                send_bits = what == 3 ? ~0u : (what == 1 ? 0u : 0x200u) | (unsigned)number << 1;
                if (what == 1) send_bits |= 0x400;
                send_end = begun + bit * (what == 3 ? 10 * number : what == 1 ? 11 : 10);
            }
        }
        const int at = (int)((cycle - begun) / bit);
        top->rx = !sending || at > 10 ? 1 : send_bits >> at & 1;
        top->rst = cycle < reset_until;
        top->clk = 0;
        top->eval();
        top->clk = 1;
        top->eval();
        if (context->gotFinish()) return 1;
        cycle++;
        if (got < 0) {
            if (!top->tx) got = 0, bits = 0, sample_at = cycle + 1.5 * bit;
        } else if (cycle >= sample_at) {
            if (got++ < 8) {
                bits |= (unsigned)top->tx << (got - 1);
                sample_at += bit;
            } else {
                const uint8_t byte = bits;
                if (write(1, &byte, 1) != 1) return 0;
                got = -1;
            }
        }
        if (sending || got >= 0 || top->busy || top->rst || input.size() >= 2) quiet_since = cycle;
        if (cycle - quiet_since > 20 * bit) {
            if (ended) break;
            take(true);
            quiet_since = cycle;
        }
        if (ended && input.size() < 2 && cycle - quiet_since > 20 * bit) break;
    }
    fprintf(stderr, "%llu cycles\n", (unsigned long long)cycle);
    top->final();
    return 0;
}
