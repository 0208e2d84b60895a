// SPDX-License-Identifier: Apache-2.0
// A simulated system: the design in its AXI shell, cycle by cycle, with a processor's bus, memory and AXI DMA engines
// in C++ around it. A driver in another process reads and writes registers over a socket, as ../driver/hal_system.c
// describes, and has the memory as a file. Every access takes cycles; a seed decides about pauses of all streams, and
// about how long the processor takes between accesses.
//
//     system SOCKET SEED [COMMAND...]
//
// With a command, the system runs it, and ends with it and its status; else it serves until it is killed. Made by lathe
// @VERSION@: do not edit.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "Vsystem.h"
#include "verilated.h"

static Vsystem* top;
static uint64_t state = 88172645463325252ull;
static unsigned draw(unsigned n) {
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return (state * 2685821657736338717ull >> 33) % n;
}

constexpr uint64_t BASE = 0x800000000, MEMORY = 1 << 24;
static uint8_t* memory;

// A stream of the design: the signals by their addresses, which Verilator keeps with the least significant byte first.
struct Stream {
    bool input;
    unsigned bytes;  // of TDATA
    void *data, *keep;
    CData *valid, *ready, *last;
};

#include "system_ports.h"  // streams(): those of the design, inputs first, in their order

// A channel of an AXI DMA in simple mode, see AMD's PG021: register offsets and bits are those of its tables.
struct Channel {
    Stream s;
    uint32_t control = 0, status = 1, length = 0, moved = 0;
    uint64_t address = 0;
    bool active = false, shown = false;

    enum { RUN = 1, RESET = 4, HALTED = 1, IDLE = 2, INTERNAL = 0x10, DECODE = 0x40, DONE = 1 << 12, ERROR = 1 << 14 };

    bool read(uint32_t at, uint32_t* value) {
        switch (at) {
            case 0x00: *value = control; return true;
            case 0x04: *value = status; return true;
            case 0x18: *value = (uint32_t)address; return true;
            case 0x1c: *value = (uint32_t)(address >> 32); return true;
            case 0x28: *value = length; return true;
        }
        return false;
    }
    bool write(uint32_t at, uint32_t value) {
        switch (at) {
            case 0x00:
                if (value & RESET) {
                    *this = Channel{s};
                } else {
                    control = value;
                    if (value & RUN) status &= ~HALTED;
                }
                return true;
            case 0x04: status &= ~(value & (DONE | ERROR)); return true;
            case 0x18: address = (address & ~0xffffffffull) | value; return true;
            case 0x1c: address = (address & 0xffffffffull) | (uint64_t)value << 32; return true;
            case 0x28: start(value); return true;
        }
        return false;
    }
    void start(uint32_t bytes) {
        if (status & HALTED || active) return;  // as the engine does: it takes no length then
        length = bytes & 0x3ffffff, moved = 0, status &= ~IDLE;
        if (address < BASE || address - BASE + length > MEMORY) return fail(DECODE);
        if (length == 0 || address % 64 != 0) return fail(INTERNAL);
        active = true;
    }
    void fail(uint32_t what) { status |= what | HALTED | ERROR, active = false; }
    void done() { status |= DONE | IDLE, active = false, length = moved; }

    // Drives the stream before a clock edge.
    void drive() {
        if (!s.input) {
            *s.ready = active && draw(4) > 0;
            return;
        }
        if (!active) {
            *s.valid = 0, shown = false;
            return;
        }
        if (shown || draw(4) == 0) return;
        const unsigned n = length - moved < s.bytes ? length - moved : s.bytes;
        const uint64_t keep = n == 64 ? ~0ull : (1ull << n) - 1;
        std::vector<uint8_t> beat(s.bytes);  // bytes that are not kept are what was there before
        for (auto& b : beat) b = (uint8_t)draw(256);
        memcpy(beat.data(), memory + (address - BASE) + moved, n);
        memcpy(s.data, beat.data(), s.bytes);
        memcpy(s.keep, &keep, (s.bytes + 7) / 8);
        *s.valid = 1, *s.last = moved + n == length, shown = true;
    }
    bool moves() const { return *s.valid && *s.ready; }
    // Behind a clock edge at which a beat has left for the design.
    void sent() {
        moved += length - moved < s.bytes ? length - moved : s.bytes;
        *s.valid = 0, shown = false;
        if (moved == length) done();
    }
    // Before a clock edge at which a beat comes from the design.
    void take() {
        uint64_t keep = 0;
        memcpy(&keep, s.keep, (s.bytes + 7) / 8);
        for (unsigned n = 0; n < s.bytes && keep >> n & 1; n++) {
            if (moved == length) return fail(INTERNAL);  // a packet that is too long
            memory[address - BASE + moved++] = ((const uint8_t*)s.data)[n];
        }
        if (*s.last) done();
    }
};

static std::vector<Channel> channels;  // of inputs, then of outputs
static unsigned inputs = 0;

static void tick() {
    for (auto& c : channels) c.drive();
    top->ap_clk = 0, CORE_CLOCK(0), top->eval();
    std::vector<Channel*> leaving;
    for (auto& c : channels) {
        if (c.moves() && c.s.input) leaving.push_back(&c);
        if (c.moves() && !c.s.input) c.take();
    }
    top->ap_clk = 1, CORE_CLOCK(1), top->eval();
    for (auto* c : leaving) c->sent();
}

static uint32_t read_register(uint32_t at, uint32_t* value) {
    top->s_axi_araddr = (uint8_t)at, top->s_axi_arvalid = 1;
    for (bool sent = false; !sent; tick()) top->eval(), sent = top->s_axi_arready;
    top->s_axi_arvalid = 0;
    while (true) {
        top->s_axi_rready = draw(2) == 0;
        top->eval();
        const bool taken = top->s_axi_rvalid && top->s_axi_rready;
        const uint32_t answer = top->s_axi_rresp;
        *value = top->s_axi_rdata;
        tick();
        if (taken) return top->s_axi_rready = 0, answer;
    }
}

static uint32_t write_register(uint32_t at, uint32_t value) {
    bool a = false, w = false;
    top->s_axi_awaddr = (uint8_t)at, top->s_axi_wdata = value, top->s_axi_wstrb = 15;
    while (!a || !w) {
        top->s_axi_awvalid = !a && draw(2), top->s_axi_wvalid = !w && draw(2);
        top->eval();
        const bool sent_a = top->s_axi_awvalid && top->s_axi_awready, sent_w = top->s_axi_wvalid && top->s_axi_wready;
        tick();
        a |= sent_a, w |= sent_w;
    }
    top->s_axi_awvalid = top->s_axi_wvalid = 0;
    while (true) {
        top->s_axi_bready = draw(2) == 0;
        top->eval();
        const bool taken = top->s_axi_bvalid && top->s_axi_bready;
        const uint32_t answer = top->s_axi_bresp;
        tick();
        if (taken) return top->s_axi_bready = 0, answer;
    }
}

// The channel that a register of an engine belongs to; nullptr: none. at becomes the offset in the channel.
static Channel* channel(uint32_t device, uint32_t* at) {
    const uint32_t k = device - 1, outputs = (uint32_t)channels.size() - inputs;
    if (*at < 0x30) return k < inputs ? &channels[k] : nullptr;
    *at -= 0x30;
    return k < outputs ? &channels[inputs + k] : nullptr;
}

static void answer(const uint32_t request[4], uint32_t reply[2]) {
    const uint32_t what = request[0], device = request[1];
    uint32_t at = request[2];
    for (unsigned n = draw(16); n > 0; n--) tick();
    reply[0] = 1, reply[1] = 0;
    if (what == 2) {
        for (uint32_t n = 0; n < request[3] && !top->irq; n++) tick();
        reply[0] = 0;
    } else if (device == 0) {
        if (at < 256) reply[0] = what == 0 ? read_register(at, &reply[1]) : write_register(at, request[3]);
    } else if (Channel* c = channel(device, &at)) {
        reply[0] = !(what == 0 ? c->read(at, &reply[1]) : c->write(at, request[3]));
    }
}

static bool read_all(int fd, void* to, size_t n) {
    for (size_t at = 0; at < n;) {
        const ssize_t got = read(fd, (char*)to + at, n - at);
        if (got <= 0) return false;
        at += (size_t)got;
    }
    return true;
}

static void fail(const char* what) {
    perror(what);
    exit(2);
}

static pid_t child = 0;
static std::string path;

// Ends when the command has ended.
static void ended(int) {
    int status;
    if (waitpid(child, &status, WNOHANG) != child) return;
    unlink(path.c_str()), unlink((path + ".mem").c_str());
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 2);
}

int main(int argc, char** argv) {
    if (argc < 3) return fprintf(stderr, "usage: %s SOCKET SEED [COMMAND...]\n", argv[0]), 2;
    path = argv[1];
    for (int i = atoi(argv[2]) % 1000; i >= 0; i--) draw(2);
    const int file = open((path + ".mem").c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || ftruncate(file, MEMORY) != 0) fail("memory");
    memory = (uint8_t*)mmap(nullptr, MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) fail("memory");

    VerilatedContext context;
    context.randReset(2), context.randSeed(atoi(argv[2]) % 1000 + 1);
    top = new Vsystem(&context);
    for (auto& s : streams()) {
        channels.push_back(Channel{s});
        inputs += s.input;
        *(s.input ? s.valid : s.ready) = 0;
    }
    top->s_axi_arvalid = top->s_axi_awvalid = top->s_axi_wvalid = top->s_axi_rready = top->s_axi_bready = 0;
    top->ap_rst_n = 0;
    for (int i = 0; i < 32; i++) tick();
    top->ap_rst_n = 1;

    struct sockaddr_un at = {};
    at.sun_family = AF_UNIX;
    if (path.size() >= sizeof at.sun_path) return fprintf(stderr, "%s: too long for a socket\n", path.c_str()), 2;
    strcpy(at.sun_path, path.c_str());
    unlink(path.c_str());
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr*)&at, sizeof at) != 0 || listen(listener, 1) != 0)
        fail("socket");
    signal(SIGPIPE, SIG_IGN);
    if (argc > 3) {
        signal(SIGCHLD, ended);
        if ((child = fork()) == 0) {
            close(listener);
            execvp(argv[3], argv + 3);
            perror(argv[3]);
            _exit(2);
        }
    }
    while (true) {
        const int fd = accept(listener, nullptr, nullptr);
        if (fd < 0) continue;
        uint32_t request[4], reply[2];
        while (read_all(fd, request, sizeof request)) {
            answer(request, reply);
            if (context.gotFinish()) return fprintf(stderr, "the simulation has stopped\n"), 2;
            if (write(fd, reply, sizeof reply) != (ssize_t)sizeof reply) break;
        }
        close(fd);
    }
}
