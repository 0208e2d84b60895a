// SPDX-License-Identifier: Apache-2.0

package pjrt_test

import (
	"slices"
	"strings"
	"testing"

	"lathe/golden/pjrt"
	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/diag"
	"lathe/ir/hlo"
)

const stateSize = 1 << 12

// training is a step of w' = w + 3x, which uses w up, and gives the sum of w too.
func training(t *testing.T, e *pjrt.Engine) *pjrt.Program {
	t.Helper()
	b := hlo.New("training")
	w, x := b.Arg("w", hlo.TypeOf(hlo.I32, stateSize)), b.Arg("x", hlo.TypeOf(hlo.I32))
	next := b.Add(w, b.Splat(w, 0))
	next = b.Add(next, b.Mul(x, b.Weight(hlo.FromInt64s(hlo.I32, nil, []int64{3}))))
	b.Donate(w, 1)
	b.Return(b.Reduce(hlo.ReduceAdd, next, 0), next)
	if b.Err() != nil {
		t.Fatal(b.Err())
	}
	p, err := e.Compile(t.Context(), b.Program())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func uploaded(t *testing.T, e *pjrt.Engine, arrays ...hlo.Array) []*pjrt.Buffer {
	t.Helper()
	buffers, err := e.Upload(t.Context(), arrays...)
	if err != nil {
		t.Fatal(err)
	}
	return buffers
}

// TestStep keeps a state on the device over many steps.
func TestStep(t *testing.T) {
	e := pjrttest.Engine(t)
	p := training(t, e)
	defer p.Drop(t.Context())
	in := uploaded(t, e, hlo.FromInt64s(hlo.I32, []int{stateSize}, make([]int64, stateSize)),
		hlo.FromInt64s(hlo.I32, nil, []int64{2}))
	state, x := in[0], in[1]
	for i := range 50 {
		out, err := p.Step(t.Context(), []*pjrt.Buffer{state, x})
		if err != nil {
			t.Fatal(err)
		}
		sum, err := out[0].Download(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if want := int64(stateSize * 6 * (i + 1)); !slices.Equal(sum.Int64s(), []int64{want}) {
			t.Fatalf("step %d: %v, want %d", i, sum.Int64s(), want)
		}
		if err := out[0].Drop(t.Context()); err != nil {
			t.Fatal(err)
		}
		state = out[1]
	}
	last, err := state.Download(t.Context())
	if err != nil || slices.Min(last.Int64s()) != 300 || slices.Max(last.Int64s()) != 300 {
		t.Errorf("%v, %v", last.Int64s()[:4], err)
	}
	got, err := p.Run(t.Context(), []hlo.Array{last, hlo.FromInt64s(hlo.I32, nil, []int64{-1})})
	if err != nil || got[1].Int64s()[7] != 297 {
		t.Errorf("a run on arrays of the host: %v, %v", got, err)
	}
}

// TestDonated wants clear errors for buffers that are gone, and an engine that works on.
func TestDonated(t *testing.T) {
	e := pjrttest.Engine(t)
	p := training(t, e)
	defer p.Drop(t.Context())
	in := uploaded(t, e, hlo.FromInt64s(hlo.I32, []int{stateSize}, make([]int64, stateSize)),
		hlo.FromInt64s(hlo.I32, nil, []int64{2}), hlo.FromInt64s(hlo.I64, nil, []int64{2}))
	w, x, wide := in[0], in[1], in[2]
	out, err := p.Step(t.Context(), []*pjrt.Buffer{w, x})
	if err != nil {
		t.Fatal(err)
	}
	refused := func(name, want string, err error) {
		t.Helper()
		if diag.CodeOf(err) != diag.PJRTRun || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	_, err = p.Step(t.Context(), []*pjrt.Buffer{w, x})
	refused("donated", "was used up by a step", err)
	_, err = w.Download(t.Context())
	refused("donated", "was used up by a step", err)
	if err := w.Drop(t.Context()); err != nil {
		t.Errorf("dropping what is gone: %v", err)
	}
	pjrt.Forget(w) // as if this side had lost track
	_, err = p.Step(t.Context(), []*pjrt.Buffer{w, x})
	refused("donated, says the worker", "no longer on the device", err)
	pjrt.Forget(w)
	_, err = w.Download(t.Context())
	refused("downloaded, says the worker", "no longer on the device", err)
	refused("freed, says the worker", "no longer on the device", w.Drop(t.Context()))
	for name, args := range map[string][]*pjrt.Buffer{
		"program takes tensor<i32>": {out[1], wide}, "1 buffers": {out[1]}, "program takes tensor<4096xi32>": {x, x},
	} {
		_, err = p.Step(t.Context(), args)
		refused("arguments", name, err)
	}
	b := hlo.New("twice")
	y, z := b.Arg("y", hlo.TypeOf(hlo.I32)), b.Arg("z", hlo.TypeOf(hlo.I32))
	b.Donate(z, 0)
	b.Return(b.Add(y, z))
	twice, err := e.Compile(t.Context(), b.Program())
	if err != nil {
		t.Fatal(err)
	}
	_, err = twice.Step(t.Context(), []*pjrt.Buffer{x, x})
	refused("twice", "are one buffer", err)
	if err := x.Drop(t.Context()); err != nil {
		t.Error(err)
	}
	_, err = p.Step(t.Context(), []*pjrt.Buffer{out[1], x})
	refused("dropped", "was dropped", err)
	if a, err := out[1].Download(t.Context()); err != nil || a.Int64s()[0] != 6 {
		t.Errorf("what was passed beside a dropped buffer: %v", err)
	}
}

// TestDonate refuses donations that cannot be.
func TestDonate(t *testing.T) {
	for name, donate := range map[string]func(b *hlo.Builder, x, y hlo.Value){
		"type":     func(b *hlo.Builder, x, _ hlo.Value) { b.Donate(x, 1) },
		"result":   func(b *hlo.Builder, x, _ hlo.Value) { b.Donate(x, 2) },
		"before":   func(b *hlo.Builder, x, _ hlo.Value) { b.Donate(x, -1) },
		"no input": func(b *hlo.Builder, x, _ hlo.Value) { b.Donate(b.Neg(x), 0) },
		"two":      func(b *hlo.Builder, x, y hlo.Value) { b.Donate(x, 0); b.Donate(y, 0) },
	} {
		b := hlo.New(name)
		x, y := b.Arg("x", hlo.TypeOf(hlo.I32)), b.Arg("y", hlo.TypeOf(hlo.I32))
		donate(b, x, y)
		b.Return(b.Add(x, y), b.Convert(x, hlo.I64))
		if diag.CodeOf(b.Err()) != diag.HLOBuild {
			t.Errorf("%s: %v", name, b.Err())
		}
	}
}
