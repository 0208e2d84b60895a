// SPDX-License-Identifier: Apache-2.0 Drives a Verilated model whose ports are valid/ready streams, in one or
// more runs. Requests come on standard input as little-endian 64-bit words and byte strings, behind their number, and
// records leave on file descriptor 3: tag byte, port byte, 64-bit length, payload. Standard output belongs to the
// design's own messages.
#include "harness.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr uint64_t kNever = ~0ULL;
const LatheModel* dut = &lathe_models[0];  // the one that runs: +lathe_model=N
// A frame: its last beat has the last flag on inputs, on outputs; it waits for all outputs of those before it; outputs
// have none for it.
constexpr uint8_t kCloses = 1, kEnds = 2, kWaits = 4, kSilent = 8;

struct Random {  // xorshift64*, Vigna 2016
    uint64_t state;
    explicit Random(uint64_t seed) : state(seed * 0x9E3779B97F4A7C15ULL | 1) {
        for (int i = 0; i < 8; ++i) next();
    }
    uint64_t next() {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        return state * 0x2545F4914F6CDD1DULL;
    }
    bool chance(uint32_t of_2_32) { return (next() >> 32) < of_2_32; }
};

// Two-state chain: idle runs of mean length burst, together percent of all cycles or, if late, in front of so many
// percent of the beats.
struct Stall {
    uint32_t enter = 0, leave = 0;
    bool never = true, idle = false;
    Random random{1};
    void set(uint64_t percent, uint64_t burst, bool late, uint64_t seed) {
        never = percent == 0;
        random = Random(seed);
        if (never) return;
        if (late) {
            leave = uint32_t(4294967295.0 / double(burst));
            enter = uint32_t(42949672.95 * double(percent));
            return;
        }
        const double p = percent > 99 ? 0.99 : percent / 100.0;
        const double length = burst > 1 ? double(burst) : 1 / (1 - p);  // mean of independent draws
        double in = p / (1 - p) / length;
        if (in > 1) in = 1;
        leave = uint32_t(4294967295.0 / length);
        enter = uint32_t(4294967295.0 * in);
    }
    bool step() {  // true: idle in this cycle
        if (never) return false;
        idle = idle ? !random.chance(leave) : random.chance(enter);
        return idle;
    }
};

struct Stats {
    uint64_t starved = 0, blocked = 0, unstable = kNever, last_error = kNever, surplus = 0, comb = kNever;
};

struct Port {
    LathePort* p;
    size_t bytes;
    uint64_t per_frame, total;  // beats
    uint64_t done = 0;
    bool showing = false;  // an input beat is on the wires
    bool held = false;     // last cycle: valid and not ready
    uint8_t valid_before = 0;
    Stall stall;
    Stats stats;
    std::vector<uint8_t> data, before;
    std::vector<uint64_t> first, final;
    std::vector<uint8_t> closes;  // the frames whose last beat has the last flag
    uint8_t mask() const { return p->width % 8 ? uint8_t((1u << p->width % 8) - 1) : 0xff; }
};

std::vector<uint8_t> request;
size_t at = 0;

uint64_t word() {
    uint64_t v;
    if (at + 8 > request.size()) exit(3);
    memcpy(&v, &request[at], 8);
    at += 8;
    return v;
}

void send_all(const void* data, size_t n) {
    const char* p = static_cast<const char*>(data);
    while (n) {
        const ssize_t k = write(3, p, n);
        if (k <= 0) _exit(4);
        p += k;
        n -= size_t(k);
    }
}

void record(char tag, uint16_t port, const void* data, uint64_t n) {
    uint8_t head[11] = {uint8_t(tag), uint8_t(port), uint8_t(port >> 8)};
    memcpy(head + 3, &n, 8);
    send_all(head, sizeof head);
    send_all(data, n);
}

struct Run {
    uint64_t seed, frames, max_idle, reset_at, reset_len, drain, strict, progress, warm;
    std::vector<Port> ports;
    Random random{1};
    uint64_t cycle = 0, quiet = 0, time = 0;
    std::vector<uint8_t> kinds;     // of every frame: kCloses, kWaits, kSilent
    std::vector<uint64_t> answers;  // the frames that outputs have of those before it

    void load();
    void reset(uint64_t cycles);
    bool waits(const Port& port) const;
    void garbage(Port& port);
    void drive(Port& port);
    void edge();
    void settle();
    void probe();
    bool sample(Port& port);
    bool outstanding() const;
    void deadlock();
    void report();
    bool go();
};

void read_requests() {
    char buffer[1 << 16];
    for (ssize_t k; (k = read(0, buffer, sizeof buffer)) > 0;) request.insert(request.end(), buffer, buffer + k);
}

void Run::load() {
    seed = word(), frames = word(), max_idle = word(), reset_at = word(), reset_len = word(), drain = word();
    strict = word(), progress = word(), warm = word();
    const bool told = word();
    uint64_t answered = 0;
    for (uint64_t f = 0; f < frames; ++f) {
        kinds.push_back(told ? uint8_t(word()) : kCloses | kEnds);
        answers.push_back(answered);
        if (!(kinds[f] & kSilent)) ++answered;
    }
    random = Random(seed);
}

void load_ports(Run& run) {
    int count;
    LathePort* all = dut->ports(&count);
    run.ports.resize(size_t(count));
    for (int i = 0; i < count; ++i) {
        Port& port = run.ports[size_t(i)];
        port.p = &all[i];
        port.bytes = (all[i].width + 7) / 8;
        port.per_frame = word();
        const uint64_t percent = word(), burst = word(), late = word(), length = word();
        port.stall.set(percent, burst, late != 0, run.seed * 1000003 + uint64_t(i));
        const bool once = all[i].kind == 'o' && length;  // it has a frame only for each of those that close
        for (uint8_t kind : run.kinds)
            if (once) {
                if (kind & kCloses) port.closes.push_back(1);
            } else if (all[i].kind == 'i') {
                port.closes.push_back(kind & kCloses);
            } else if (!(kind & kSilent)) {
                port.closes.push_back(kind & kEnds);
            }
        port.total = port.per_frame * port.closes.size();
        if (all[i].kind == 'i') {
            if (at + length > request.size()) exit(3);
            if (length != port.total * port.bytes) exit(3);
            port.data.assign(request.begin() + long(at), request.begin() + long(at + length));
            for (size_t b = port.bytes; b <= port.data.size(); b += port.bytes) port.data[b - 1] &= port.mask();
        }
        if (all[i].kind == 'i') at += length;
        port.before.resize(port.bytes);
        port.first.assign(run.frames, kNever);
        port.final.assign(run.frames, kNever);
    }
}

// The next beat of a port has the last flag.
bool closes(const Port& port) {
    return (port.done + 1) % port.per_frame == 0 && port.closes[port.done / port.per_frame];
}

// The wires of an idle input carry noise, so that a design which looks at them without valid is found out.
void Run::garbage(Port& port) {
    for (size_t b = 0; b < port.bytes; ++b) port.p->data[b] = uint8_t(random.next() >> 40);
    if (port.bytes) port.p->data[port.bytes - 1] &= port.mask();
    if (port.p->last) *port.p->last = random.next() >> 63;
}

// The next beat of an input is the first of a frame that waits for outputs.
bool Run::waits(const Port& port) const {
    const uint64_t frame = port.done / port.per_frame;
    if (port.done % port.per_frame || frame >= frames || !(kinds[frame] & kWaits)) return false;
    for (const Port& out : ports)
        if (out.p->kind == 'o' && out.done < answers[frame] * out.per_frame) return true;
    return false;
}

void Run::drive(Port& port) {
    if (port.p->kind == 'o') *port.p->ready = !port.stall.step();
    if (port.p->kind != 'i' || port.showing) return;
    const bool idle = port.stall.step() || waits(port) || cycle < warm;
    if (port.done < port.total && !idle) {
        memcpy(port.p->data, &port.data[port.done * port.bytes], port.bytes);
        if (port.p->last) *port.p->last = closes(port);
        *port.p->valid = 1;
        port.showing = true;
    } else if (*port.p->valid || cycle == 0) {
        *port.p->valid = 0;
        garbage(port);
    }
}

void Run::settle() {
    *dut->clk() = 0;
    dut->eval();
    dut->dump(time);
    time += 5;
}

void Run::edge() {
    *dut->clk() = 1;
    dut->eval();
    dut->dump(time);
    time += 5;
    ++cycle;
}

void Run::reset(uint64_t cycles) {
    for (Port& port : ports) {
        port.done = 0, port.showing = port.held = false;
        if (port.p->kind != 'i') port.data.clear();
        port.first.assign(frames, kNever);
        port.final.assign(frames, kNever);
    }
    for (uint64_t i = 0; i < cycles + dut->settle; ++i) {
        *dut->rst() = i < cycles;
        for (Port& port : ports) {
            if (port.p->kind == 'i') *port.p->valid = 0, garbage(port);
            if (port.p->kind == 'o') *port.p->ready = random.next() >> 63;
        }
        settle();
        edge();
    }
    *dut->rst() = 0;
    quiet = 0;
}

// valid must not depend on ready, not even combinationally: with every ready turned over, all valids stay.
void Run::probe() {
    for (Port& port : ports) port.valid_before = *port.p->valid;
    for (Port& port : ports)
        if (port.p->kind == 'o') *port.p->ready ^= 1;
    dut->eval();
    for (Port& port : ports) {
        if (port.p->kind != 'o') continue;
        if (*port.p->valid != port.valid_before && port.stats.comb == kNever) port.stats.comb = cycle;
        *port.p->ready ^= 1;
    }
    dut->eval();
}

bool Run::sample(Port& port) {
    LathePort& p = *port.p;
    const bool valid = *p.valid, ready = *p.ready;
    if (p.kind != 'i') {
        if (port.held && port.stats.unstable == kNever && (!valid || memcmp(&port.before[0], p.data, port.bytes))) {
            port.stats.unstable = cycle;
        }
        port.held = valid && !ready;
        if (port.held) memcpy(&port.before[0], p.data, port.bytes);
    }
    if (p.kind == 't' || port.done < port.total) {
        if (!valid && ready) ++port.stats.starved;
        if (valid && !ready) ++port.stats.blocked;
    }
    if (!valid || !ready) return false;
    port.showing = false;
    if (p.kind != 't' && port.done >= port.total) {
        ++port.stats.surplus;
        return false;  // or a design that never stops would keep the watchdog quiet
    }
    if (p.kind != 'i') port.data.insert(port.data.end(), p.data, p.data + port.bytes);
    if (port.done < port.total) {
        const uint64_t frame = port.done / port.per_frame, beat = port.done % port.per_frame;
        if (beat == 0) port.first[frame] = cycle;
        if (beat + 1 == port.per_frame) port.final[frame] = cycle;
        if (p.kind == 'o' && p.last && *p.last != closes(port) && port.stats.last_error == kNever) {
            port.stats.last_error = port.done;
        }
    }
    ++port.done;
    return p.kind != 't';
}

bool Run::outstanding() const {
    for (const Port& port : ports)
        if (port.p->kind != 't' && port.done < port.total) return true;
    return false;
}

void Run::deadlock() {
    std::string text;
    for (const Port& port : ports) {
        char line[400];
        snprintf(line, sizeof line, "%s\t%d\t%d\t%llu\t%llu\n", port.p->name, *port.p->valid, *port.p->ready,
                 (unsigned long long)port.done, (unsigned long long)port.total);
        text += line;
    }
    record('X', 0, text.data(), text.size());
}

void Run::report() {
    record('C', 0, &cycle, 8);
    for (size_t i = 0; i < ports.size(); ++i) {
        Port& port = ports[i];
        const uint16_t n = uint16_t(i);
        if (port.p->kind != 'i') record('D', n, port.data.data(), port.data.size());
        record('S', n, &port.stats, sizeof port.stats);
        record('F', n, port.first.data(), port.first.size() * 8);
        record('L', n, port.final.data(), port.final.size() * 8);
    }
}

// false: the design is stuck.
bool Run::go() {
    reset(4);
    cycle = 0;
    uint64_t tail = 0, told = 0;
    while (outstanding() || tail++ < drain) {
        if (cycle == reset_at) {
            reset_at = kNever;
            reset(reset_len);
            tail = 0;
        }
        for (Port& port : ports) drive(port);
        settle();
        if (strict) probe();
        bool moved = false;
        for (Port& port : ports) moved |= sample(port);
        edge();
        quiet = moved || cycle < warm ? 0 : quiet + 1;
        if (quiet >= max_idle && outstanding()) {
            settle();
            deadlock();
            return false;
        }
        if (progress && cycle - told >= progress) {
            told = cycle;
            uint64_t frames_out = kNever;
            for (Port& port : ports)
                if (port.p->kind == 'o') frames_out = std::min(frames_out, port.done / port.per_frame);
            record('P', 0, &frames_out, 8);
        }
    }
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    read_requests();
    const auto value = [&](const char* flag, const char* otherwise) {
        for (int i = 1; i < argc; ++i)
            if (!strncmp(argv[i], flag, strlen(flag))) return static_cast<const char*>(argv[i] + strlen(flag));
        return otherwise;
    };
    const int model = atoi(value("+lathe_model=", "0"));
    if (model < 0 || model >= lathe_model_count) exit(3);
    dut = &lathe_models[model];
    const char* trace_file = value("+lathe_trace=", "");
    bool going = true;
    for (uint64_t runs = word(); runs && going; --runs) {
        Run run;
        run.load();
        dut->open(argc, argv, uint32_t(run.seed * 2654435761u >> 1) | 1, trace_file);
        load_ports(run);
        going = run.go();
        run.report();
        dut->close();
        const uint64_t ok = 1;
        record('Z', 0, &ok, 8);
    }
    return 0;
}
