// SPDX-License-Identifier: Apache-2.0

package gemm

import (
	"slices"

	"lathe/cuda"
)

// Reduced problems run the kernel that Plan chooses for a large one on as little as fills more than a tile in each
// direction, with ragged ends that its loads of 16 bytes allow: by them the interpreter executes what is timed.

// Reduced is a small problem, and its plan in the configuration of p, its k range in two parts where that of p has
// parts. Errors as Plan.
func (p W8A16) Reduced(a cuda.Arch) (W8A16, Plan, error) {
	want, err := p.choose(a)
	if err != nil {
		return p, Plan{}, err
	}
	steps, parts := 0, min(want.splits, 2)
	for _, t := range tilesBF16 {
		if slices.Equal(t.params(), want.params) {
			p.M, p.N, steps = t.bm+3, t.bn+8, t.stages+1
		}
	}
	for _, t := range thins {
		if slices.Equal(t.params(), want.params) {
			p.M, p.N, steps = thinRows-1, t.cols()+8, t.wk+1
		}
	}
	p.K = 64*steps*parts + 8
	for _, c := range p.choices(gpuOf(a)) {
		if c.template == want.template && slices.Equal(c.params, want.params) && c.splits == parts {
			plan, err := p.with(c)
			return p, plan, err
		}
	}
	return p, Plan{}, refuse(want.template, "no small problem for %v", want.params)
}

// Reduced is a small problem, and its plan in the configuration of p, its k range in two parts where that of p has
// parts. Errors as Plan.
func (p W16A16) Reduced(a cuda.Arch) (W16A16, Plan, error) {
	want, err := p.choose(a, p.splits())
	if err != nil {
		return p, Plan{}, err
	}
	t, parts := want.tile, min(want.splits, 2)
	p.M, p.N, p.K = t.bm+3, t.bn+8, 64*(t.stages+1)*parts+8
	plan, err := p.with(p.on(t, parts, gpuOf(a)))
	return p, plan, err
}

// Reduced is a small problem, and its plan in the configuration of p. Errors as Plan.
func (p Hopper16) Reduced(a cuda.Arch) (Hopper16, Plan, error) {
	c, err := p.hopper().choose(p.M, a)
	if err != nil {
		return p, Plan{}, err
	}
	p.M, p.N, p.K = c.tile.bm+3, c.tile.bn+8, 64*(hopperStages+1)+8
	plan, err := p.hopper().with(p.hopper().on(c.tile.bn, gpuOf(a)))
	return p, plan, err
}

// Reduced is a small problem, and its plan in the configuration of p. Errors as Plan.
func (p Hopper8) Reduced(a cuda.Arch) (Hopper8, Plan, error) {
	c, err := p.hopper().choose(p.M, a)
	if err != nil {
		return p, Plan{}, err
	}
	p.M, p.N, p.K = c.tile.bm+3, c.tile.bn+8, 64*(hopperStages+1)+8
	plan, err := p.hopper().with(p.hopper().on(c.tile.bm, gpuOf(a)))
	return p, plan, err
}

// Reduced is a small problem, and its plan in the configuration of p. Errors as Plan.
func (p HopperInt8) Reduced(a cuda.Arch) (HopperInt8, Plan, error) {
	c, err := p.hopper().choose(p.M, a)
	if err != nil {
		return p, Plan{}, err
	}
	p.M, p.N, p.K = c.tile.beyond()
	plan, err := p.with(p.hopper().on(c.tile.bn, gpuOf(a)))
	return p, plan, err
}

// beyond are rows, columns and products of bytes just beyond a tile, its stages all filled.
func (t tile) beyond() (m, n, k int) { return t.bm + 3, t.bn + 8, 128*t.stages + 16 }

// Reduced is a small problem, and its plan in the configuration of p. Errors as Plan.
func (p MX) Reduced(a cuda.Arch) (MX, Plan, error) {
	t, err := p.choose(a)
	if err != nil {
		return p, Plan{}, err
	}
	p.M, p.N, p.K = t.beyond()
	plan, err := p.with(t, Span(p.K))
	return p, plan, err
}

// Reduced is a small problem, and its plan in the configuration of p. Errors as Plan.
func (p Window) Reduced(a cuda.Arch) (Window, Plan, error) {
	t, err := p.choose(a)
	if err != nil {
		return p, Plan{}, err
	}
	p.M, p.N, p.K = t.beyond()
	plan, err := p.with(t)
	return p, plan, err
}

// Reduced is a small problem, and its plan in the configuration of p. Errors as Plan.
func (p Int8) Reduced(a cuda.Arch) (Int8, Plan, error) {
	t, err := p.choose(a)
	if err != nil {
		return p, Plan{}, err
	}
	p.M, p.N, p.K = t.beyond()
	plan, err := p.with(t)
	return p, plan, err
}
