// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"strings"
	"testing"

	"lathe/cuda/ptx/tensor"
	"lathe/internal/diag"
)

// The kernel of a product, with its matrix A in shared memory and in registers, and lines of it.
var (
	inShared    = groupCase{n: 8, types: "f32.bf16.bf16", swizzle: tensor.Swizzle128}
	inRegisters = groupCase{n: 8, types: "f32.bf16.bf16", swizzle: tensor.Swizzle128, registers: true}
)

const (
	mmaWait   = "wgmma.wait_group.sync.aligned 0;\n"
	mmaCommit = "wgmma.commit_group.sync.aligned;\n"
	mmaFence  = "wgmma.fence.sync.aligned;\n"
	landed    = "@!%p2 bra W;\n"
	putB      = "@%p1 st.shared.b32 [%r4], %r1;\n"
	lastWarp  = "setp.ge.u32 %p5, %r1, 96;\n"
)

// groupFaults are changes of that kernel, with what must be found.
var groupFaults = []struct {
	name         string
	c            groupCase
	sound, fault string
	code         diag.Code
	says         string
}{
	{"none", inShared, mmaWait, mmaWait, "", ""},
	{"sums are read in flight", inShared, mmaWait, "add.f32 %r9, %d1, %d1;\n" + mmaWait, "L0957",
		"add reads an accumulator"},
	{"sums are written in flight", inShared, mmaWait, "mov.b32 %d1, 0;\n" + mmaWait, "L0957",
		"mov writes an accumulator"},
	{"sums in flight go through another register", inShared, mmaWait, "mov.b32 %r9, %d1;\nadd.u32 %r8, %r9, 1;\n" +
		mmaWait,
		"L0957", "add reads an accumulator"},
	{"sums in flight are renamed", inShared, mmaWait, "mov.b32 %r9, %d1;\n" + mmaWait + "mov.b32 %d1, %r9;\n", "", ""},
	{"no commit", inShared, mmaCommit, "", "L0957", "st reads an accumulator"},
	{"A is written in flight", inRegisters, mmaWait, "add.u32 %r20, %r20, 1;\n" + mmaWait, "L0957", "holds A"},
	{"A is written behind the fence", inRegisters, mmaFence, mmaFence + "add.u32 %r20, %r20, 0;\n", "L0957",
		"register 0 of A was written"},
	{"sums are written behind the fence", inShared, mmaFence, mmaFence + "add.u32 %d2, %r1, 0;\n", "L0957",
		"register 2 of the accumulators was written"},
	{"A is an accumulator in flight", inRegisters, mmaCommit, strings.Replace(inRegisters.mma(3), "%r32, %r33",
		"%d0, %r33", 1) +
		mmaCommit, "L0957", "register 0 of A is an accumulator"},
	{"matrix B is overwritten", inShared, mmaWait, "setp.eq.u32 %p5, %r1, 9;\n@%p5 st.shared.b32 [%r4], %r1;\n" +
		mmaWait, "L0973",
		"is still reading"},
	{"matrix B is overwritten behind the wait", inShared, mmaWait, mmaWait + "bar.sync 0;\n" + putB, "", ""},
	{"matrix B is overwritten before others wait", inShared, mmaWait, mmaWait + putB, "L0967", ""},
	{"matrix B is written before, without a fence", inShared, landed, "@!%p2 bra W;\nbar.sync 0;\n" +
		"@%p1 st.shared.b32 [%r4], %r1;\nbar.sync 0;\n", "L0958", ""},
	{"matrix B is written before, with a fence", inShared, landed, "@!%p2 bra W;\nbar.sync 0;\n" +
		"@%p1 st.shared.b32 [%r4], 0;\nfence.proxy.async;\nbar.sync 0;\n", "", ""},
	{"a warp does not take part", inShared, mmaFence, lastWarp + "@%p5 ret;\n" + mmaFence, "L0966", "has ended after"},
	{"another descriptor", inShared, "add.u64 %rd8, %rd6", lastWarp + "@%p5 add.u64 %rd6, %rd6, 64;\n" +
		"add.u64 %rd8, %rd6", "L0966", "the warps of a warpgroup differ"},
	{"lanes with another descriptor", inShared, "add.u64 %rd8, %rd6", "setp.eq.u32 %p5, %r1, 9;\n" +
		"@%p5 add.u64 %rd6, %rd6, 64;\nadd.u64 %rd8, %rd6", "L0966", "differs between the lanes"},
	{"lanes with another scale-d", inShared, "setp.ne.u32 %p3, %r1, %r1", "setp.ne.u32 %p3, %r1, 7", "L0966", "scale-d"},
	{"a warp with another scale-d", inShared, "setp.ne.u32 %p3, %r1, %r1", "setp.ge.u32 %p3, %r1, 64", "L0966",
		"warpgroup differ"},
	{"a matrix beyond shared memory", inShared, "cvt.u64.u32 %rd6, %r4;", "cvt.u64.u32 %rd6, 0x30000;", "L0964",
		"matrix B"},
	{"the warp ends before its wgmma", inShared, mmaWait, "ret;\n", "L0973", "the warp ends"},
	{"sums of another shape in flight", inShared, inShared.mma(3), strings.NewReplacer("m64n8k16", "m64n16k16", "%d3}",
		"%d3, %d4, %d5, %d6, %d7}").Replace(inShared.mma(3)), "L0957", "has another shape"},
	{"a base offset", inShared, mmaFence, "or.b64 %rd6, %rd6, 0x2000000000000;\n" + mmaFence, "L0959", "base offset 1"},
	{"bits of no descriptor", inShared, mmaFence, "or.b64 %rd6, %rd6, 0x8000;\n" + mmaFence, "L0959",
		"not a descriptor"},
	{"half of a box", inShared, "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%r2], 9216;",
		"mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%r2], 8192;", "L0973", "has not waited for its phase"},
	{"a parity of 2", inShared, "[%r2], 0;", "[%r2], 2;", "L0972", "parity 2"},
	{"an mbarrier is read", inShared, mmaWait, "ld.shared.b64 %rd9, [%r2];\n" + mmaWait, "L0972", "is an mbarrier"},
	{"an mbarrier is made by two", inShared, "@%p1 mbarrier.init", "mbarrier.init", "L0972", "made again"},
	{"a box at a bad address", inShared, "add.u32 %r9, %r4, 0;", "add.u32 %r9, %r4, 64;", "L0959", "multiple of 128"},
	{"a map at a bad address", inShared, "mov.b64 %rd2, tb;", "mov.b64 %rd2, tb;\nadd.u64 %rd2, %rd2, 16;", "L0959",
		"not at a multiple of 64"},
	{"no map", inShared, "cvta.param.u64 %rd2, %rd2;", "ld.param.u64 %rd2, [a];", "L0959", "no tensor map"},
}

// TestGroupFaults plants faults in a product by wgmma; each is found in one run.
func TestGroupFaults(t *testing.T) {
	for _, f := range groupFaults {
		text := f.c.text()
		if strings.Count(text, f.sound) == 0 {
			t.Fatalf("%s: the text has no %q", f.name, f.sound)
		}
		_, err := f.c.run(t, strings.Replace(text, f.sound, f.fault, 1), Options{Races: true})
		if diag.CodeOf(err) != f.code || err != nil && !strings.Contains(err.Error(), f.says) {
			t.Errorf("%s: %v, not %s with %q", f.name, err, f.code, f.says)
		}
	}
}

// mma is the line of step s.
func (c groupCase) mma(s int) string {
	for line := range strings.Lines(c.text()) {
		if strings.HasPrefix(line, "wgmma.mma_async") {
			if s--; s < 0 {
				return line
			}
		}
	}
	panic("no such step")
}

// Parts of kernels on plain bytes, with an mbarrier at %r1 and room at %r2.
const (
	bulkStart = "mov.u32 %r1, part; add.u32 %r2, %r1, 128; setp.eq.u32 %p1, %t, 0; " +
		"@%p1 mbarrier.init.shared.b64 [%r1], 1; bar.sync 0;"
	bulkLoad = "@%p1 mbarrier.arrive.expect_tx.shared.b64 %rd3, [%r1], 256; @%p1 cp.async.bulk.shared::cta.global" +
		".mbarrier::complete_tx::bytes [%r2], [%in], 256, [%r1];"
	bulkWait  = "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0; @!%p2 bra W;"
	bulkRead  = "mad.lo.u32 %r3, %t, 4, %r2; ld.shared.b32 %o0, [%r3];"
	bulkFence = "fence.proxy.async.shared::cta;"
	bulkStore = "mad.lo.u32 %r3, %t, 4, %r2; st.shared.b32 [%r3], %v;"
	bulkOut   = "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%out], [%r2], 256; @%p1 cp.async.bulk.commit_group;"
	bulkDone  = "@%p1 cp.async.bulk.wait_group 0;"
)

// 64 threads write, meet, and read what the other warp wrote.
const (
	meetStart = "mov.u32 %r1, part; add.u32 %r2, %r1, 128; setp.eq.u32 %p1, %t, 0;" +
		"@%p1 mbarrier.init.shared.b64 [%r1], 64; bar.sync 0;" + bulkStore
	meetRead = "xor.b32 %r4, %t, 32; mad.lo.u32 %r4, %r4, 4, %r2; ld.shared.b32 %o0, [%r4];"
)

var (
	raced = Options{Races: true}
	laned = Options{Races: true, Lanes: true}
	late  = Options{Races: true, Copies: Lazy}
)

// bulkCases are kernels of those parts, with what must be found.
var bulkCases = []struct {
	name, body string
	opt        Options
	code       diag.Code
	says       string
}{
	{"sound load", bulkStart + bulkLoad + bulkWait + bulkRead, laned, "", ""},
	{"sound bulkLoad, at the last moment", bulkStart + bulkLoad + bulkWait + bulkRead, late, "", ""},
	{"a state instead of a parity", bulkStart + bulkLoad +
		"@!%p1 bra D; W: mbarrier.try_wait.shared.b64 %p2, [%r1], %rd3;" + "@!%p2 bra W; D: bar.sync 0;" + bulkRead, late,
		"", ""},
	{"test_wait", bulkStart + bulkLoad + strings.Replace(bulkWait, "try_wait", "test_wait", 1) + bulkRead, late, "", ""},
	{"no wait", bulkStart + bulkLoad + "bar.sync 0;" + bulkRead, raced, "L0973", "has not waited for its phase"},
	{"no bulkWait, in flight", bulkStart + bulkLoad + "bar.sync 0;" + bulkRead, late, "L0973", "in flight"},
	{"only one warp waits", bulkStart + bulkLoad + "bar.sync 0; setp.lt.u32 %p3, %t, 32; @!%p3 bra R;" + bulkWait +
		"R: " + bulkRead, raced, "L0973", ""},
	{"others wait for one that waits", bulkStart + bulkLoad + "@!%p1 bra R;" + bulkWait + "R: bar.sync 0;" + bulkRead,
		late, "", ""},
	{"nobody waits, though all has landed", bulkStart + bulkLoad, raced, "L0973", "nobody has waited"},
	{"nobody waits", bulkStart + bulkLoad, late, "L0973", "nobody has waited"},
	{"written while it lands", bulkStart + bulkLoad + "bar.sync 0;" + bulkStore, raced, "L0973", ""},
	{"read before it is loaded", bulkStart + "@%p1 st.shared.b32 [%r2], 1; bar.sync 0; ld.shared.b32 %o1, [%r2];" +
		bulkFence + bulkLoad + bulkWait, raced, "L0967", "read at"},
	{"read before it is loaded, with a barrier", bulkStart + "@%p1 st.shared.b32 [%r2], 1; bar.sync 0;" +
		"ld.shared.b32 %o1, [%r2];" + bulkFence + "bar.sync 0;" + bulkLoad + bulkWait, raced, "", ""},
	{"written before it is loaded, without a fence", bulkStart + bulkStore + "bar.sync 0;" + bulkLoad + bulkWait,
		raced, "L0958", ""},
	{"too many arrivals", bulkStart + "mbarrier.arrive.shared.b64 _, [%r1], 2;", Options{}, "L0972", "phase lacks"},
	{"bytes are left", bulkStart + "@%p1 mbarrier.expect_tx.relaxed.cta.shared.b64 [%r1], 64;", Options{}, "L0972",
		"64 bytes that were announced"},
	{"more bytes than can be counted", bulkStart + "@%p1 mbarrier.expect_tx.relaxed.cta.shared.b64 [%r1], 0x100000;",
		Options{}, "L0972", "at most 1048575"},
	{"a state of long ago", bulkStart + "@!%p1 bra D; mbarrier.arrive.shared.b64 %rd3, [%r1];" +
		"mbarrier.arrive.shared.b64 _, [%r1]; mbarrier.test_wait.shared.b64 %p2, [%r1], %rd3; D:", Options{}, "L0972",
		"phase 0"},
	{"ended while it is used", bulkStart + bulkLoad + bulkWait + "@%p1 mbarrier.inval.shared.b64 [%r1];", raced,
		"L0967", "ends the mbarrier"},
	{"ended after use, and made again", bulkStart + bulkLoad + bulkWait +
		"bar.sync 0; @%p1 mbarrier.inval.shared.b64 [%r1];" + "@%p1 mbarrier.init.shared.b64 [%r1], 1; bar.sync 0;" +
		bulkLoad + strings.ReplaceAll(bulkWait, "W", "V") + bulkRead, raced, "", ""},
	{"used before it is made", "mov.u32 %r1, part; setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared.b64 [%r1], 1;" +
		"mbarrier.test_wait.parity.shared.b64 %p2, [%r1], 1;", raced, "L0967", ""},
	{"a length of 8", bulkStart + strings.ReplaceAll(bulkLoad, "256", "8"), Options{}, "L0965", "multiple of 16"},
	{"beyond the buffer", bulkStart + strings.ReplaceAll(bulkLoad, "256", "512"), Options{}, "L0964", "of in"},
	{"sound store", bulkStart + bulkStore + bulkFence + "bar.sync 0;" + bulkOut + bulkDone, laned, "", ""},
	{"a store without a fence", bulkStart + bulkStore + "bar.sync 0;" + bulkOut + bulkDone, raced, "L0958", ""},
	{"a fence of one warp", bulkStart + bulkStore + "@%p1 " + bulkFence + "bar.sync 0;" + bulkOut + bulkDone, raced,
		"L0958", ""},
	{"a store without a barrier", bulkStart + bulkStore + bulkFence + bulkOut + bulkDone, raced, "L0967", ""},
	{"a store without a wait", bulkStart + bulkStore + bulkFence + "bar.sync 0;" + bulkOut, raced, "L0973",
		"thread ends"},
	{"a store without a commit", bulkStart + bulkStore + bulkFence + "bar.sync 0;" + strings.Split(bulkOut, ";")[0] +
		";" + bulkDone, raced, "L0973", "thread ends"},
	{"written while it is stored", bulkStart + bulkStore + bulkFence + "bar.sync 0;" + bulkOut +
		"@%p1 st.shared.b32 [%r2], 7;" + bulkDone, raced, "L0973", "is still reading"},
	{"written once it is read", bulkStart + bulkStore + bulkFence + "bar.sync 0;" + bulkOut +
		"@%p1 cp.async.bulk.wait_group.read 0;" + "@%p1 st.shared.b32 [%r2], 7;" + bulkDone, late, "", ""},
	{"waits for all but one", bulkStart + bulkStore + bulkFence + "bar.sync 0;" + bulkOut +
		"@%p1 cp.async.bulk.wait_group 1;", raced, "L0973", "thread ends"},
	{"multicast",
		"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%in]," +
			" 16, [%r1], %h1;", Options{}, "L0961", "multicast::cluster is not executed"},
	{"reduction", "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%out], [%r1], 16;", Options{}, "L0961",
		"cp.reduce"},
	{"another block of a cluster", "mapa.shared::cluster.u32 %o0, %r1, %t;", Options{}, "L0964", "of one block"},
	{"made again, and its new phase not waited for", bulkStart + bulkLoad + bulkWait + "bar.sync 0;" +
		"@%p1 mbarrier.inval.shared.b64 [%r1]; @%p1 mbarrier.init.shared.b64 [%r1], 1; bar.sync 0;" + bulkLoad +
		"bar.sync 0;" + bulkRead, raced, "L0973", "has not waited for its phase"},
	{"threads meet at an mbarrier", meetStart + "mbarrier.arrive.shared.b64 _, [%r1];" + bulkWait + meetRead, raced,
		"", ""},
	{"threads meet at an mbarrier that orders nothing", meetStart +
		"mbarrier.arrive.relaxed.cta.shared.b64 _, [%r1];" + bulkWait + meetRead, raced, "L0967",
		"no barrier stands in between"},
	{"a fence of one lane", bulkStart +
		"setp.lt.u32 %p3, %t, 32; mad.lo.u32 %r3, %t, 4, %r2; @%p3 st.shared.b32 [%r3], %v;" + "@%p1 " + bulkFence +
		"bar.sync 0;" + strings.ReplaceAll(bulkOut, "256", "128") + bulkDone, raced, "L0958", ""},
	{"a fence of all lanes that wrote", bulkStart + "setp.lt.u32 %p3, %t, 32; mad.lo.u32 %r3, %t, 4, %r2;" +
		"@%p3 st.shared.b32 [%r3], %v; @%p3 " + bulkFence + "bar.sync 0;" + strings.ReplaceAll(bulkOut, "256", "128") +
		bulkDone, raced, "", ""},
	{"half of a warpgroup",
		"wgmma.fence.sync.aligned; mov.b64 %rd1, 0; wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8" +
			" {%o0, %o1, %o2, %o3}, %rd1, %rd1, 0;", Options{}, "L0966", "of four warps"},
	{"an unsupported wgmma",
		"wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%o0, %o1, %o2, %o3}, %rd1, %rd2, 1," + " 1, 1;", Options{},
		"L0961", "only f32.bf16.bf16"},
}

// TestBulk copies plain bytes to and from shared memory, soundly and not.
func TestBulk(t *testing.T) {
	for _, c := range bulkCases {
		got, err := words(t, c.body, 64, hash, c.opt)
		if diag.CodeOf(err) != c.code || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, not %s with %q", c.name, err, c.code, c.says)
		}
		if strings.Contains(c.name, "sound load") && err == nil {
			for i := range got {
				if got[i][0] != input[i] {
					t.Fatalf("%s: thread %d has %#x, not %#x", c.name, i, got[i][0], input[i])
				}
			}
		}
	}
}

// TestPhaseTells has a warp of block 1 learn of block 0, and another one of it by an mbarrier: what block 0 wrote
// before is then known to that one too.
func TestPhaseTells(t *testing.T) {
	const body = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 y)
{
.reg .pred %p<4>;
.reg .b32 %r<8>;
.reg .b64 %rd<4>;
.shared .align 8 .b8 bar[8];
ld.param.u64 %rd1, [y];
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, bar;
setp.eq.u32 %p1, %r1, 0; setp.ne.u32 %p2, %r2, 0;
@%p2 bra B;
@%p1 st.global.b32 [%rd1], 7;
@%p1 red.release.gpu.global.add.u32 [%rd1+4], 1;
ret;
B: @%p1 mbarrier.init.shared.b64 [%r3], 1;
bar.sync 0;
@%p1 ld.acquire.gpu.global.b32 %r4, [%rd1+4];
@%p1 mbarrier.arrive.shared.b64 _, [%r3];
W: mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 0;
@!%p3 bra W;
ld.global.b32 %r5, [%rd1];
ret;
}
`
	for _, c := range []struct {
		sound, fault string
		code         diag.Code
	}{
		{"ret;", "ret;", ""}, {"ld.acquire.gpu", "ld.relaxed.gpu", "L0967"},
		{"mbarrier.arrive.", "mbarrier.arrive.relaxed.cta.", "L0967"},
	} {
		mod, err := Parse("k.ptx", []byte(strings.ReplaceAll(body, c.sound, c.fault)))
		if err != nil {
			t.Fatal(err)
		}
		m := NewMachine(Options{Grid: true})
		k := mod.Kernel("k")
		args := params(k, put(t, m, "y", make([]byte, 8)))
		_, err = m.Launch(k, [3]uint32{2, 1, 1}, [3]uint32{64, 1, 1}, 0, args)
		if diag.CodeOf(err) != c.code {
			t.Errorf("%s: %v, not %q", c.fault, err, c.code)
		}
	}
}
