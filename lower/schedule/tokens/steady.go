// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"context"
	"math"

	"lathe/ir"
	"lathe/ir/op/ring"
	"lathe/ir/unit"
	"lathe/lower/schedule/tokens/beat"
)

// fewFrames is how many samples a simulation runs first, and mostFrames at most: what a design can hold back hides for
// so long that its samples cannot follow each other as they did at first.
const (
	fewFrames  = 16
	mostFrames = 1024
)

// effort bounds the samples of one simulation by parts times cycles; fewest are those of one beyond it.
const (
	effort = 5e7
	fewest = 3
)

// even is by which part the cycles of a sample may differ between runs that are both steady: a rhythm of several
// samples does not divide every run.
const even = 0.01

// framesFor is how many frames of g are simulated first.
func framesFor(g *ir.Graph, k *known) int {
	return Whole(g, min(fewFrames, max(fewest, affordable(g, k))))
}

// Whole is at least frames, and as many as have both halves end where a group of samples does that are at once in
// layers that share units: the rate within a group is another one.
func Whole(g *ir.Graph, frames int) int { return upTo(frames, 2*ring.Images(g)) }

// upTo is the least multiple of step that is n or more.
func upTo(n, step int) int { return (n + step - 1) / step * step }

// affordable is how many frames of g one simulation may run, whatever FIFOs it has.
func affordable(g *ir.Graph, k *known) int {
	parts := 0
	for _, n := range g.Nodes {
		if n.IsConst() {
			continue
		}
		if u, err := k.of(n); err != nil || !u.fifo() {
			parts += 3
		}
	}
	return min(mostFrames, int(effort/slowest(g)/float64(max(parts, 1))))
}

// slowest is the initiation interval that no FIFO can better: that of the slowest unit.
func slowest(g *ir.Graph) float64 {
	ii := 1
	for _, n := range g.Nodes {
		if !n.IsConst() {
			ii = max(ii, n.HW.II)
		}
	}
	return float64(ii)
}

// Steady is Run for as many samples as it takes until twice as many have no other rate. It says how many that are.
func Steady(ctx context.Context, g *ir.Graph, units *unit.Cache) (*Times, int, error) {
	return steadyAsIs(ctx, ring.Units(g), newKnown(units))
}

// steadyAsIs is Steady of what is known already.
func steadyAsIs(ctx context.Context, g *ir.Graph, k *known) (*Times, int, error) {
	return steady(g, k, func(frames int) (*Times, error) {
		return simulate(ctx, g, options{frames: frames, known: k, depth: scheduled})
	})
}

func steady(g *ir.Graph, k *known, run func(frames int) (*Times, error)) (t *Times, frames int, err error) {
	frames = framesFor(g, k)
	if t, err = run(frames); err != nil || !t.Done {
		return t, frames, err
	}
	for {
		ii, more := t.II(), Whole(g, max(2*frames, t.underWay()))
		if more > affordable(g, k) {
			return t, frames, nil
		}
		longer, err := run(more)
		switch {
		case err != nil || !longer.Done:
			return longer, more, err
		case longer.II() == ii && ii >= slowest(g):
			return t, frames, nil
		}
		t, frames = longer, more
		if longer.II() >= slowest(g) && math.Abs(longer.II()-ii) <= even*ii {
			return t, frames, nil
		}
	}
}

// underWay is a number of samples of which most enter after the first one has left.
func (t *Times) underWay() int {
	latency := 0
	for _, first := range t.First {
		latency = max(latency, first[0])
	}
	return int(min(3*float64(latency)/max(t.II(), 1), mostFrames))
}

// with simulates FIFOs of the given depths.
func (s *sizer) with(branches []*ir.Node, depth map[*ir.Node]int, frames int) (*Times, error) {
	chosen := map[*ir.Node]bool{}
	for _, b := range branches {
		chosen[b] = true
	}
	return simulate(s.ctx, s.g, options{frames: frames, known: s.known, depth: func(n *ir.Node) (int, bool) {
		if !chosen[n] {
			return scheduled(n)
		}
		return depth[n], depth[n] > beat.BlockRAM
	}})
}

// longer makes further runs as long as it takes until their rate is steady. Inputs then keep the pace of the slowest
// unit: what a design holds because it takes samples sooner than it can compute them needs no FIFO.
func (s *sizer) longer(frames int) {
	s.frames, s.pace, s.quiet = frames, slowest(s.g), map[string]ran{}
}

// paced holds the beats of an input back until their frame is due.
func paced(beats int, pace float64) func(cycle int) bool {
	offered := 0
	return func(cycle int) bool {
		if float64(cycle) < float64(offered/beats)*pace {
			return true
		}
		offered++
		return false
	}
}
