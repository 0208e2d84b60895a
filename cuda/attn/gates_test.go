// SPDX-License-Identifier: Apache-2.0

package attn_test

import (
	"errors"
	"testing"

	"lathe/cuda"
	"lathe/cuda/attn"
	"lathe/cuda/cudatest"
	"lathe/cuda/word"
	"lathe/internal/diag"
	"lathe/internal/tools"
)

// TestSDPAGates compiles every head dimension with every mask, for many and for few queries; a sample in a quick run.
func TestSDPAGates(t *testing.T) {
	var all []cuda.Instance
	for k, dim := range []int64{8, 16, 32, 64, 80, 96, 128, 256} {
		for mask := attn.NoMask; mask <= attn.AddWord; mask++ {
			for _, queries := range []int64{64, 1000} {
				n := len(all)
				p := dense(attn.SDPA{Word: word.BFloat16 + word.Float(n%2), Batch: 1, Heads: 1, KVHeads: 1, Queries: queries,
					Keys: 1000, Dim: dim, Mask: mask, Causal: attn.Causal((n + n/2 + k) % 3)})
				if !tools.Long && (queries == 64 || int(mask) != k%4) {
					continue
				}
				all = append(all, cudatest.Plan(t, p).Instances...)
			}
		}
	}
	cudatest.Gates(t, all...)
}

// TestValid refuses by L0990 what no kernel does.
func TestValid(t *testing.T) {
	sound := dense(attn.SDPA{Word: word.BFloat16, Batch: 1, Heads: 6, KVHeads: 3, Queries: 5, Keys: 5, Dim: 64})
	arch := cuda.Archs()[1]
	if _, err := sound.Plan(arch); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(p *attn.SDPA){
		"dimension": func(p *attn.SDPA) { p.Dim = 72 },
		"scale":     func(p *attn.SDPA) { p.Scale = 0 },
		"heads":     func(p *attn.SDPA) { p.KVHeads = 4 },
		"queries":   func(p *attn.SDPA) { p.Queries = 1 << 30 },
		"stride":    func(p *attn.SDPA) { p.V.Row = 65 },
		"blocks":    func(p *attn.SDPA) { p.Queries, p.Batch = 1<<29, 1<<20 },
		"shared":    func(p *attn.SDPA) { p.Dim = 256; arch.Shared = 100 * 1000 },
	} {
		p := sound
		change(&p)
		var e *diag.Error
		if _, err := p.Plan(arch); !errors.As(err, &e) || e.Code != "L0990" {
			t.Errorf("%s: %v", name, err)
		}
	}
	sound.Queries = 0
	if l := cudatest.Plan(t, sound).Launches(attn.Args{}); len(l) != 0 {
		t.Errorf("%d launches for no queries", len(l))
	}
}

// TestFloor counts the pairs of causal attention one by one.
func TestFloor(t *testing.T) {
	for queries := range int64(9) {
		for keys := range int64(9) {
			for causal := attn.Full; causal <= attn.BottomRight; causal++ {
				d := data{p: attn.SDPA{Batch: 1, Heads: 1, KVHeads: 1, Queries: queries, Keys: keys, Dim: 1, Causal: causal}}
				pairs := int64(0)
				for i := range queries {
					for j := range keys {
						if _, ok := d.allowed(0, 0, i, j); ok {
							pairs++
						}
					}
				}
				if f := d.p.Floor(); f.Flops != 4*pairs || f.Bytes != 4*(queries+keys) {
					t.Errorf("%d x %d, causal %d: %+v, want %d pairs", queries, keys, causal, f, pairs)
				}
			}
		}
	}
}

// TestPlanRefuses demands that no plan comes of a problem that no kernel takes.
func TestPlanRefuses(t *testing.T) {
	sound := attn.SDPA{Word: word.BFloat16, Batch: 1, Heads: 2, KVHeads: 1, Queries: 3, Keys: 5, Dim: 64, Scale: 0.125}
	if l := cudatest.Plan(t, sound).Launches(attn.Args{}); len(l) != 1 {
		t.Fatalf("%d launches", len(l))
	}
	arch, odd := cuda.Archs()[0], sound
	odd.Dim = 72
	if _, err := odd.Plan(arch); diag.CodeOf(err) != "L0990" {
		t.Errorf("a kernel for a head dimension of 72: %v", err)
	}
	if _, err := (attn.MXINT8{SDPA: odd}).Plan(arch); diag.CodeOf(err) != "L0990" {
		t.Errorf("a kernel of MXINT8 for a head dimension of 72: %v", err)
	}
	odd = sound
	odd.KVHeads = 3
	if _, err := odd.Plan(arch); diag.CodeOf(err) != "L0990" {
		t.Errorf("2 heads over 3: %v", err)
	}
	if _, err := (attn.MXINT8{SDPA: odd}).Plan(arch); diag.CodeOf(err) != "L0990" {
		t.Errorf("2 heads over 3 of MXINT8: %v", err)
	}
}
