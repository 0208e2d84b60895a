# SPDX-License-Identifier: Apache-2.0
"""Twins in the AXI shell between masters that are not ours: those of cocotbext-axi. TRANSFERS is how many beats go over
AXI4-Lite, and over AXI4-Stream; REGISTERS the file registers.json."""

import json
import os
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp, AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource

TRANSFERS = int(os.environ["TRANSFERS"])
with open(os.environ["REGISTERS"], encoding="utf-8") as f:
    REGISTERS = {r["name"]: r for r in json.load(f)["registers"]}
OFFSET = {name: r["offset"] for name, r in REGISTERS.items()}
RUN, RESET = 1, 2


def pauses():
    while True:
        percent = random.choice([0, 20, 50, 80])
        for _ in range(60):
            yield random.randrange(100) < percent


class Bench:
    """The design out of reset, with pauses on all channels."""

    def __init__(self, dut):
        self.dut = dut
        cocotb.start_soon(Clock(dut.ap_clk, 10, units="ns").start())
        dut.ap_rst_n.setimmediatevalue(0)
        common = dut.ap_clk, dut.ap_rst_n
        self.lite = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axi"), *common, reset_active_level=False)
        self.sources = [AxiStreamSource(AxiStreamBus.from_prefix(dut, f"s_axis_{i}"), *common, reset_active_level=False)
                        for i in range(2)]
        self.sinks = [AxiStreamSink(AxiStreamBus.from_prefix(dut, f"m_axis_{i}"), *common, reset_active_level=False)
                      for i in range(2)]
        write, read = self.lite.write_if, self.lite.read_if
        for channel in [write.aw_channel, write.w_channel, write.b_channel, read.ar_channel, read.r_channel, *self.sources,
                        *self.sinks]:
            channel.log.setLevel("WARNING")
            channel.set_pause_generator(pauses())
        for log in [write.log, read.log]:
            log.setLevel("ERROR")

    async def reset(self):
        self.dut.ap_rst_n.value = 0
        await ClockCycles(self.dut.ap_clk, random.randrange(1, 6))
        for stream in [*self.sources, *self.sinks]:
            stream.clear()
        self.dut.ap_rst_n.value = 1
        await RisingEdge(self.dut.ap_clk)

    async def get(self, name):
        answer = await self.lite.read(OFFSET[name], 4)
        assert answer.resp == AxiResp.OKAY, name
        return int.from_bytes(answer.data, "little")

    async def set(self, name, value):
        answer = await self.lite.write(OFFSET[name], value.to_bytes(4, "little"))
        assert answer.resp == AxiResp.OKAY, name

    def send(self, sizes=(6, 6)):
        """Sends a packet of so many bytes to each input, and returns the frames that must come out."""
        want = []
        for source, size, kind in zip(self.sources, sizes, [lambda b: b + 1 & 255, lambda b: b ^ 255]):
            data = bytes(random.randrange(0x80) for _ in range(size))
            source.send_nowait(AxiStreamFrame(data))
            want.append(bytes(kind(b) for b in (data + bytes(6))[:6]))
        return want

    async def receive(self, want):
        for sink, data in zip(self.sinks, want):
            got = await sink.recv()
            assert bytes(got.tdata) == data, (bytes(got.tdata), data)


@cocotb.test()
async def registers(dut):
    """Every register after a reset, and every address that is none or cannot be written."""
    b = Bench(dut)
    await b.reset()
    by_offset = {r["offset"]: r for r in REGISTERS.values()}
    for at in range(256):
        r = by_offset.get(at)
        answer = await b.lite.read(at, 4 - at % 4)
        assert answer.resp == (AxiResp.OKAY if r else AxiResp.SLVERR), hex(at)
        if r and r["name"] not in ("status",):
            assert int.from_bytes(answer.data, "little") == r["reset"], r
        if not r or r["access"] == "ro":
            answer = await b.lite.write(at, bytes([255] * (4 - at % 4)))
            assert answer.resp == AxiResp.SLVERR, hex(at)
    for r in REGISTERS.values():
        if r["name"] != "status":
            assert await b.get(r["name"]) == r["reset"], r


@cocotb.test()
async def lite(dut):
    """Reads and writes of any registers, several at a time, with strobes; a reset now and then."""
    b = Bench(dut)
    await b.reset()
    masks, values = {"limit": 0xffffffff, "interrupt_enable": 3}, {"limit": 0, "interrupt_enable": 0}
    done = 0
    while done < TRANSFERS:
        kind = random.randrange(20)
        if kind == 0:
            reads = [cocotb.start_soon(b.lite.read(random.randrange(64) * 4, 4)) for _ in range(random.randrange(1, 8))]
            writes = [cocotb.start_soon(b.lite.write(OFFSET["id_low"], b"\0\0\0\0")) for _ in range(4)]
            for task in reads + writes:
                await task
            assert all(w.result().resp == AxiResp.SLVERR for w in writes)
            done += len(reads) + len(writes)
        elif kind == 1 and random.randrange(20) == 0:
            busy = cocotb.start_soon(b.lite.write(OFFSET["limit"], b"\1\2\3\4"))
            await ClockCycles(dut.ap_clk, random.randrange(6))
            await b.reset()
            await busy
            values = dict.fromkeys(values, 0)
        elif kind < 10:
            name = random.choice(list(values))
            size = random.randrange(1, 5)
            data = random.getrandbits(8 * size)
            answer = await b.lite.write(OFFSET[name], data.to_bytes(size, "little"))
            assert answer.resp == AxiResp.OKAY
            kept = values[name] & ~((1 << 8 * size) - 1)
            values[name] = (kept | data) & masks[name]
            done += 1
        else:
            name = random.choice(list(values))
            assert await b.get(name) == values[name], (name, values)
            done += 1


@cocotb.test()
async def streams(dut):
    """Packets of all lengths on both inputs, results, counts, errors and the interrupt; resets in mid-packet."""
    b = Bench(dut)
    await b.reset()
    beats = 0
    while beats < TRANSFERS:
        first = b.send()  # while the design is still in reset
        assert await b.get("frames_in") == await b.get("interrupt_status") == await b.get("errors") == 0
        await b.set("control", RUN)
        await b.set("interrupt_enable", 3)
        frames = random.randrange(2, 40)
        wrong = False
        want = [first]
        for _ in range(frames - 1):
            sizes = [random.choice([6] * 12 + [1, 2, 3, 4, 5, 7, 8, 9, 13]) for _ in range(2)]
            wrong |= sizes != [6, 6]
            want.append(b.send(sizes))
            beats += 4 + sum(-(-size // 4) for size in sizes)
        for frame in want:
            await b.receive(frame)
        await ClockCycles(dut.ap_clk, 100)  # what is too much of the last packet is dropped meanwhile
        assert await b.get("frames_in") == await b.get("frames_out") == frames
        assert await b.get("status") == 3, "idle and running"
        assert await b.get("errors") == 2 * wrong and await b.get("interrupt_status") == 1 + 2 * wrong
        assert dut.irq.value
        await b.set("interrupt_enable", 2 * (not wrong))
        assert not dut.irq.value
        await b.set("interrupt_enable", 3)
        await b.set("errors", 2)
        await b.set("interrupt_status", 3)
        assert not dut.irq.value and await b.get("errors") == 0
        for _ in range(3):
            b.send()
        await ClockCycles(dut.ap_clk, random.randrange(60))
        if random.randrange(2):  # of the design alone: engines are reset together with it
            for stream in b.sources:
                stream.clear()
            await b.set("control", RESET)
            assert await b.get("frames_in") <= frames + 3
        await b.reset()
    await RisingEdge(dut.ap_clk)
