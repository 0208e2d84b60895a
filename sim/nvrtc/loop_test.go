// SPDX-License-Identifier: Apache-2.0

package nvrtc_test

import (
	"strings"
	"testing"

	"lathe/cuda"
	"lathe/sim/nvrtc"
)

// looped has a loop with two turns of an inner one, whose copies are skipped by a forward branch, and one for the end.
const looped = "	.section	.text.kernel,\"ax\",@progbits\n" + `kernel:
.text.kernel:
        /*0000*/                   MOV R1, R2 ;
.L_x_1:
        /*0010*/               @P0 BRA ` + "`(.L_x_2)" + ` ;
        /*0020*/                   LDGSTS.E [R1], [R2] ;
.L_x_2:
        /*0030*/                   HMMA.16816.F32.BF16 R1, R2, R3, R4 ;
.L_x_3:
        /*0040*/              @!PT LDS RZ, [RZ] ;
        /*0050*/                   HMMA.16816.F32.BF16 R1, R2, R3, R4 ;
        /*0060*/              @!P1 BRA ` + "`(.L_x_3)" + ` ;
        /*0070*/                   IADD3 R1, R2, R3, R4 ;
        /*0080*/              @!P1 BRA ` + "`(.L_x_1)" + ` ;
.L_x_4:
        /*0090*/                   HMMA.16816.F32.BF16 R1, R2, R3, R4 ;
        /*00a0*/                   HMMA.16816.F32.BF16 R1, R2, R3, R4 ;
        /*00b0*/                   HMMA.16816.F32.BF16 R1, R2, R3, R4 ;
        /*00c0*/                   IADD3 R1, R2, R3, R4 ;
        /*00d0*/                   IADD3 R1, R2, R3, R4 ;
        /*00e0*/                   IADD3 R1, R2, R3, R4 ;
        /*00f0*/                   IADD3 R1, R2, R3, R4 ;
        /*0100*/                   IADD3 R1, R2, R3, R4 ;
        /*0110*/                   IADD3 R1, R2, R3, R4 ;
        /*0120*/               @P0 BRA ` + "`(.L_x_4)" + ` ;
        /*0130*/                   EXIT ;
`

// TestSlots counts the loops of a listing: 5 slots and 2 for each turn of the inner loop, or 10 of the other.
func TestSlots(t *testing.T) {
	c := nvrtc.Disassembly(looped)[0]
	for _, want := range []struct {
		count    int
		mnemonic string
		slots    int
		says     string
	}{
		{2, "HMMA.16816", 7, ""}, {3, "HMMA", 9, ""}, {4, "HMMA", 11, ""}, {1, "HMMA", 4, ""},
		{5, "HMMA.F32", 13, ""}, {3, "IMMA", 0, "no loop has IMMA"},
	} {
		got, err := c.Slots(cuda.Loop{Count: want.count, Mnemonic: want.mnemonic})
		if got != want.slots || (err == nil) != (want.says == "") || err != nil && !strings.Contains(err.Error(), want.says) {
			t.Errorf("%d %s: %d slots, %v, want %d %s", want.count, want.mnemonic, got, err, want.slots, want.says)
		}
	}
	const end = " ;\n        /*0060*/"
	idle := strings.Replace(looped, "HMMA.16816.F32.BF16 R1, R2, R3, R4"+end, "MOV R1, R2"+end, 1)
	if _, err := nvrtc.Disassembly(idle)[0].Slots(cuda.Loop{Count: 2, Mnemonic: "HMMA"}); err == nil {
		t.Error("a loop within that has no products is counted")
	}
}

// voting is a loop of nine slots and two products: a block that a vote skips, and the other side of a branch on one,
// have six more.
const voting = "	.section	.text.kernel,\"ax\",@progbits\n" + `kernel:
.text.kernel:
.L_x_1:
        /*0000*/                   VOTE.ANY P0, P0 ;
        /*0010*/              @!P0 BRA ` + "`(.L_x_2)" + ` ;
        /*0020*/                   FMUL R1, R2, R3 ;
        /*0030*/                   HMMA.16816.F32.BF16 R1, R2, R3, R4 ;
.L_x_2:
        /*0040*/                   HMMA.16816.F32.BF16 R1, R2, R3, R4 ;
        /*0050*/                   VOTE.ANY P1, P1 ;
        /*0060*/               @P1 BRA ` + "`(.L_x_3)" + ` ;
        /*0070*/                   HMMA.16816.F32.BF16 R1, R2, R3, R4 ;
        /*0080*/                   BRA ` + "`(.L_x_5)" + ` ;
.L_x_3:
        /*0090*/                   FMUL R1, R2, R3 ;
.L_x_4:
        /*00a0*/                   HMMA.16816.F32.BF16 R1, R2, R3, R4 ;
        /*00b0*/              @!P2 BRA ` + "`(.L_x_4)" + ` ;
        /*00c0*/                   FMUL R1, R2, R3 ;
.L_x_5:
        /*00d0*/                   FADD R1, R2, R3 ;
        /*00e0*/               @P3 BRA ` + "`(.L_x_1)" + ` ;
`

// TestVotes leaves out what stands behind a vote of the warp, and nothing else.
func TestVotes(t *testing.T) {
	for _, c := range []struct {
		old, new string
		slots    int
	}{
		{"", "", 9},
		{"VOTE.ANY P0, P0", "ISETP.NE P0, PT, R1, R2", 11}, // no vote
		{"VOTE.ANY P1, P1", "VOTE.ANY P1, P1 ;\n /*0*/ MOV R1, R2", 10},
		{"VOTE.ANY P0, P0", "VOTE.ANY P0, P0 ;\n /*0*/ ISETP.NE P0, PT, R1, R2", 12}, // another predicate of that name
		{"VOTE.ANY P0, P0", "VOTE.ANY P0, P0 ;\n /*0*/ ISETP.NE P4, P0, R1, R2", 12}, // its second result
		{"VOTE.ANY P0, P0", "VOTE.ANY P0, P0 ;\n /*0*/ R2P PR, R5, 0x1", 12},
		{"VOTE.ANY P0, P0 ;", "VOTE.ANY P0, P0 ;\n.L_x_9:", 11},
		{"@!P0 BRA", "@P0 BRA", 11}, // to where the sides meet

	} {
		text := strings.Replace(voting, c.old, c.new, 1)
		code := nvrtc.Disassembly(text)[0]
		count := len(code.Loops[len(code.Loops)-1].Products)
		got, err := code.Slots(cuda.Loop{Count: count, Mnemonic: "HMMA"})
		if got != c.slots || err != nil {
			t.Errorf("%s: %d slots for %d products, %v, want %d", c.new, got, count, err, c.slots)
		}
	}
}

// TestBudget refuses a loop that takes one slot more than the header allows.
func TestBudget(t *testing.T) {
	for budget, says := range map[string]string{
		"11 for 4 HMMA": "", "10 for 4 HMMA": "11 issue slots for 4 HMMA, its budget is 10",
		"N == 2: 2 * N + 6 for 2 * N HMMA": "its budget is 10", "N == 3: 1 for 4 HMMA": "", "SM == 80: 1 for 4 HMMA": "",
		"7 for 2 HMMA, SM == 90: 10 for 4 HMMA": "its budget is 10", "9 for 4 IMMA": "no loop has IMMA",
	} {
		template, err := cuda.ReadTemplate("map/k.cu", "// k: nothing.\n//   threads: 32\n//   regs: 32\n//   loop: "+budget+
			"\ntemplate <int N>\n__device__ __forceinline__ void k(u32 n) {\n}\n")
		if err != nil {
			t.Fatal(err)
		}
		i := cuda.Instance{Template: template, Kernel: "kernel", Params: []string{"2"}}
		got := strings.Join(nvrtc.Disassembly(looped)[0].Refusals(i, "sm_90"), "\n")
		if (got == "") != (says == "") || !strings.Contains(got, says) {
			t.Errorf("%s: %q, want %q", budget, got, says)
		}
	}
}
