// SPDX-License-Identifier: Apache-2.0

package gemm_test

import (
	"strings"
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	"lathe/cuda/gemm"
	"lathe/cuda/gemm/gemmtest"
	"lathe/cuda/word"
	"lathe/internal/tools"
)

// TestCases runs the cases that are not timed, with the bound of a CPU in place of that of a GPU, and demands that a
// wrong word of each result is refused.
func TestCases(t *testing.T) {
	all, err := gemmtest.CasesWithin(gemmtest.CPUBound)
	if err != nil {
		t.Fatal(err)
	}
	timed := map[string]bool{}
	var small []cuda.Case
	for _, c := range all {
		if c.Timed {
			timed[c.Instances[0].Template.Name] = true
		} else {
			small = append(small, c)
		}
	}
	for _, c := range tools.Few(len(small)/2, small) {
		t.Run(c.Name, func(t *testing.T) {
			out := cudatest.Run(t, cudatest.JobOf(c, true))
			if v := c.Check(out); v.Wrong != "" {
				t.Fatal(v.Wrong)
			}
			k := 0
			for _, b := range c.Buffers {
				if !b.Output {
					continue
				}
				at := map[string]int64{"y": b.Bytes - 1, "scales": 0}
				if i, ok := at[b.Name]; ok {
					out[k][i] ^= 0x40
					if v := c.Check(out); v.Wrong == "" {
						t.Errorf("a wrong byte of %s passes", b.Name)
					}
					out[k][i] ^= 0x40
				}
				k++
			}
		})
	}
	for _, name := range []string{"w8a16", "w8a16_thin", "w16a16", "conv16", "conv8", "mx_block", "mx_wide",
		"int8"} {
		if !timed[name] {
			t.Errorf("%s is not timed", name)
		}
	}
}

// TestPlans demands the choices that the shapes call for.
func TestPlans(t *testing.T) {
	for _, c := range []struct {
		p    gemm.W8A16
		want string
	}{
		{gemm.W8A16{M: 1, N: 14336, K: 4096}, "w8a16_thin"},
		{gemm.W8A16{M: 8, N: 28672, K: 8192}, "w8a16_thin"},
		{gemm.W8A16{M: 16, N: 28672, K: 8192}, "w8a16<16"},
		{gemm.W8A16{M: 4096, N: 8192, K: 8192}, "w8a16<128, 128"},
		{gemm.W8A16{M: 1, N: 64, K: 1 << 20}, "w8a16"},
	} {
		c.p.Out = word.BF16
		for _, a := range archs() {
			plan, err := c.p.Plan(a)
			if err != nil {
				t.Errorf("%s: %v", a.Name, err)
				continue
			}
			for _, i := range plan.Instances {
				if shared, err := i.Shared(); err != nil || shared > a.Shared {
					t.Errorf("%s: %s has %d bytes of shared memory: %v", a.Name, i, shared, err)
				}
			}
			if a.Name == gemmtest.Measured && !strings.HasPrefix(plan.Instances[0].String(), c.want) {
				t.Errorf("M=%d N=%d K=%d: %s, want %s", c.p.M, c.p.N, c.p.K, plan.Why, c.want)
			}
			t.Log(a.Name, c.p.M, c.p.N, c.p.K, plan.Why)
		}
	}
}

// TestRefusals demands a reason for what no kernel can take.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		err  error
		says string
	}{
		{gemm.W8A16{M: -1, Epilogue: gemm.Epilogue{Out: word.BF16}}.Valid(), "sizes lie between"},
		{gemm.W8A16{M: 1, N: 3, Epilogue: gemm.Epilogue{Out: word.BF16, Gate: true}}.Valid(), "not pairs"},
		{gemm.W8A16{M: 1, N: 2, Epilogue: gemm.Epilogue{Out: "f16"}}.Valid(), "no result in"},
		{gemm.MX{M: 1, N: 1, K: 1 << 20, Wide: true, Epilogue: gemm.Epilogue{Out: word.F32}}.Valid(), "blocks along k"},
		{gemm.Int8{M: 1, N: 1, K: 1 << 17, Result: gemmtest.Codes8}.Valid(), "more than 32 bits"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), "L0990") || !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("got %v, want L0990 with %q", c.err, c.says)
		}
	}
	p := gemm.W8A16{M: 1 << 30, N: 1 << 30, K: 64, Epilogue: gemm.Epilogue{Out: word.F32}}
	if _, err := p.Plan(arch(t)); err == nil || !strings.Contains(err.Error(), "more than a grid") {
		t.Errorf("got %v", err)
	}
}
