// SPDX-License-Identifier: Apache-2.0

package nvrtc_test

import "slices"

// feature is a PTX instruction, or a few that came together, and which GPUs have them.
type feature struct {
	name string
	// since is ten times the compute capability from which on every GPU has it; 0 where only targets of only do.
	since int
	// only are exact targets that have it, beyond those that since says.
	only []string
	// ptx are statements, each of which assembles where the feature is there and nowhere else. They use the registers
	// that featureUnit declares.
	ptx []string
}

// featureTargets are the targets over which the table of features is known: those of Archs, one below, and the exact
// ones of the newest.
func featureTargets() []string {
	return []string{"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_120", "sm_120a"}
}

// on says whether a target has the feature.
func (f feature) on(target string) bool {
	if slices.Contains(f.only, target) {
		return true
	}
	number := 0
	for _, r := range target {
		if r >= '0' && r <= '9' {
			number = number*10 + int(r-'0')
		}
	}
	return f.since > 0 && number >= f.since
}

// featureUnit is a module for a target whose kernel executes the statements.
func featureUnit(target string, statements ...string) string {
	text := ".version 8.8\n.target " + target + "\n.address_size 64\n.visible .entry k(.param .u64 p0) {\n" +
		"  .reg .pred p, q;\n  .reg .b16 %h<16>;\n  .reg .s8 %c<4>;\n  .reg .b32 %r<64>;\n  .reg .b64 %rd<16>;\n" +
		"  .reg .f32 %f<64>;\n  .shared .align 128 .b8 smem[4096];\n"
	for _, s := range statements {
		text += "  " + s + "\n"
	}
	return text + "  ret;\n}\n"
}

const (
	mma4      = "{%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f0,%f1,%f2,%f3}"
	mma4int   = "{%r10,%r11,%r12,%r13}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, {%r10,%r11,%r12,%r13}"
	scaled    = "{%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f0,%f1,%f2,%f3}, {%r6}, {%h0,%h1}, {%r7}, {%h2,%h3}"
	bulk      = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [smem], [%rd0], 16, [%rd1];"
	bulkBox   = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
	eightInt  = "{%r0,%r1,%r2,%r3}"
	eightSums = "{%f0,%f1,%f2,%f3}"
)

var features = []feature{
	{"dp4a", 61, nil, []string{"dp4a.s32.s32 %r0, %r1, %r2, %r3;"}},
	{"ldmatrix", 75, nil, []string{"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0,%r1,%r2,%r3}, [smem];"}},
	{"no_allocate", 70, nil, []string{"ld.global.nc.L1::no_allocate.v4.b32 {%r0,%r1,%r2,%r3}, [%rd0];"}},
	{"cvt.s8.f32", 20, nil, []string{"cvt.rni.sat.s8.f32 %r0, %f0;", "tanh.approx.f32 %f0, %f1;"}},
	{"cvt.pack.s8", 72, nil, []string{"cvt.pack.sat.s8.s32.b32 %r0, %r1, %r2, %r3;"}},
	{"cp.async", 80, nil, []string{"cp.async.cg.shared.global [smem], [%rd0], 16, %r0;"}},
	{"mma.bf16", 80, nil, []string{"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 " + mma4 + ";"}},
	{"mma.s8", 80, nil, []string{"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 " + mma4int + ";"}},
	{"mma.s4", 80, nil, []string{"mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 " + mma4int + ";"}},
	{"fma.bf16x2", 80, nil, []string{"fma.rn.bf16x2 %r0, %r1, %r2, %r3;", "max.bf16x2 %r0, %r1, %r2;",
		"cvt.rn.bf16x2.f32 %r0, %f0, %f1;", "max.NaN.f32 %f0, %f1, %f2;"}},
	{"redux.s32", 80, nil, []string{"redux.sync.add.s32 %r0, %r1, 0xffffffff;"}},
	{"mbarrier", 80, nil, []string{"mbarrier.init.shared.b64 [smem], 1;"}},
	{"mma.e4m3", 89, nil, []string{"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 " + mma4 + ";",
		"cvt.rn.satfinite.e4m3x2.f32 %h0, %f0, %f1;"}},
	{"mul.bf16x2", 90, nil, []string{"mul.bf16x2 %r0, %r1, %r2;", "sub.bf16x2 %r0, %r1, %r2;",
		"ex2.approx.ftz.bf16x2 %r0, %r1;", "tanh.approx.bf16x2 %r0, %r1;"}},
	{"cvt.bf16.int", 90, nil, []string{"cvt.rn.bf16.s8 %h0, %c0;", "cvt.rn.bf16.s16 %h0, %h1;",
		"cvt.rn.bf16.s32 %h0, %r0;"}},
	{"red.bf16x2", 90, nil, []string{"red.global.add.noftz.bf16x2 [%rd0], %r0;"}},
	{"stmatrix", 90, nil, []string{"stmatrix.sync.aligned.m8n8.x4.shared.b16 [smem], {%r0,%r1,%r2,%r3};"}},
	{"try_wait", 90, nil, []string{"mbarrier.try_wait.shared.b64 p, [smem], %rd0;"}},
	{"cp.async.bulk", 90, nil, []string{bulk, bulkBox + " [smem], [%rd0, {%r0, %r1}], [%rd1];"}},
	{"cluster", 90, nil, []string{"mapa.u64 %rd0, %rd1, %r0;", "barrier.cluster.arrive.aligned;"}},
	{"elect", 90, nil, []string{"elect.sync %r0|p, 0xffffffff;"}},
	{"griddepcontrol", 90, nil, []string{"griddepcontrol.wait;"}},
	{"ld.256", 100, nil, []string{"ld.global.v8.b32 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [%rd0];"}},
	{"setmaxnreg", 0, []string{"sm_90a", "sm_100a", "sm_120a"}, []string{"setmaxnreg.dec.sync.aligned.u32 40;"}},
	{"wgmma", 0, []string{"sm_90a"}, []string{
		"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 " + eightSums + ", " + eightInt + ", %rd0, 1, 1, 1, 0;",
		"wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r10,%r11,%r12,%r13}, " + eightInt + ", %rd0, 1;"}},
	{"tcgen05", 0, []string{"sm_100a"}, []string{
		"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [smem], 32;",
		"tcgen05.mma.cta_group::1.kind::i8 [%r0], %rd0, %rd1, %r1, p;"}},
	{"redux.f32", 0, []string{"sm_100a"}, []string{"redux.sync.min.f32 %f0, %f1, 0xffffffff;"}},
	{"mma.mxf8", 0, []string{"sm_120a"}, []string{"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale." +
		"scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0 " + scaled + ";"}},
	{"cvt.ue8m0", 0, []string{"sm_100a", "sm_120a"}, []string{"cvt.rp.satfinite.ue8m0x2.f32 %h0, %f0, %f1;",
		"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r0,%r1}, [smem];"}},
}
