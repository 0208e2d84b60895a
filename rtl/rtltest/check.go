// SPDX-License-Identifier: Apache-2.0

package rtltest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"lathe/internal/tools"
	"lathe/lower/schedule/tokens"
	"lathe/rtl"
	"lathe/sim"
)

// Stalls are the patterns whose cross product every bench runs.
var Stalls = []sim.Stall{{}, {Percent: 10}, {Percent: 50}, {Percent: 90}, {Percent: 50, Burst: 16}}

// Check is what Run does, with the models cached in the given folder. The error names the first thing that is wrong.
func (b Bench) Check(ctx context.Context, cache string) error {
	c, err := b.prepare(cache)
	if err != nil {
		return err
	}
	return c.check(ctx, func(ctx context.Context) (*sim.Model, error) { return sim.Build(ctx, c.spec) })
}

// check runs the bench on the model that build returns.
func (c *checker) check(ctx context.Context, build func(context.Context) (*sim.Model, error)) (err error) {
	if c.vectors, err = c.Bench.vectors(); err != nil {
		return err
	}
	if c.model, err = build(ctx); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{c.plain, c.again, c.icarus, c.yosys} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// checker is a bench in progress.
type checker struct {
	*Bench
	spec        sim.Spec
	model       *sim.Model
	vectors     *vectors
	latency, ii int
	flow        rtl.Flow
	cycles      int // to the last beat of the run without stalls
}

// prepare finds out all but the beats and the model.
func (b *Bench) prepare(cache string) (*checker, error) {
	h, err := b.header()
	if err != nil {
		return nil, err
	}
	params := append([]rtl.Param(nil), b.Params...)
	for _, im := range b.Images {
		params = append(params, im.Params("u")...)
	}
	values, err := h.Values(params)
	if err != nil {
		return nil, err
	}
	if err := b.complete(h, values); err != nil {
		return nil, err
	}
	c := &checker{Bench: b, flow: b.Flow}
	if c.latency, c.ii, err = h.Timing(params); err != nil {
		return nil, err
	}
	if h.Family != "" && !b.Pipeline {
		u := &rtl.Unit{Module: b.Module, Params: params, In: make([]string, len(b.In))}
		if c.flow, err = u.Flow(); err != nil {
			return nil, err
		}
	}
	return c, c.setSpec(h, params, cache)
}

// header is that of the bench's own file, if it brings one, else the library's.
func (b *Bench) header() (*rtl.Header, error) {
	for _, f := range b.Files {
		if f.Name == b.Module+".sv" {
			return rtl.ReadHeader(f)
		}
	}
	return rtl.Lookup(b.Module)
}

func (c *checker) setSpec(h *rtl.Header, params []rtl.Param, cache string) error {
	files, err := c.files(h)
	if err != nil {
		return err
	}
	c.spec = sim.Spec{Top: c.Module, Files: files, Params: params, Ties: c.Ties, CacheDir: cache, Warnings: true}
	if hasPort(h, "clk") {
		c.spec.Clock = "clk"
	}
	if hasPort(h, "rst") {
		c.spec.Reset = "rst"
	}
	if c.Pipeline {
		c.spec.Handshake, c.spec.Pipe = sim.ByWrapper, c.latency
		if hasPort(h, "en") {
			c.spec.Enable = "en"
		}
	}
	port := func(p Port) sim.Port {
		q := sim.Port{Name: p.Name, Width: p.Lanes * p.Width}
		if hasPort(h, p.Name+"_last") && !c.Pipeline {
			q.Last = p.Name + "_last"
		}
		return q
	}
	for _, p := range c.In {
		c.spec.In = append(c.spec.In, port(p))
	}
	for _, p := range c.Out {
		c.spec.Out = append(c.spec.Out, port(p))
	}
	return nil
}

// files are the library's sources, those of the bench in place of or beside them, and the images.
func (c *checker) files(h *rtl.Header) ([]rtl.File, error) {
	needed := append([]string{}, h.Deps...)
	for _, f := range c.Files {
		if own, err := rtl.ReadHeader(f); err == nil {
			needed = append(needed, own.Deps...)
		}
	}
	if h.Family != "" {
		needed = append(needed, c.Module)
	}
	library, err := rtl.Files(needed...)
	if err != nil {
		return nil, err
	}
	own := map[string]bool{}
	for _, f := range c.Files {
		own[f.Name] = true
	}
	files := append([]rtl.File(nil), c.Files...)
	for _, f := range library {
		if !own[f.Name] {
			files = append(files, f)
		}
	}
	for _, im := range c.Images {
		files = append(files, im.File("u"))
	}
	return files, nil
}

// input is a run of v under the given stalls.
func (c *checker) input(v *vectors, idle, back sim.Stall) sim.Input {
	return sim.Input{Streams: v.in, Frames: v.frames, InBeats: v.inBeats, OutBeats: v.outBeats, Seed: c.Seed + 1,
		Idle: []sim.Stall{idle}, Back: []sim.Stall{back}, MaxIdle: 5000 + 4*(c.latency+c.ii),
		Drain: min(c.latency+c.ii, 2000) + 16, Strict: true}
}

// right compares what a run has shown with the model, and holds it to the stream rules.
func (c *checker) right(res *sim.Result) error {
	if err := c.compare(c.vectors, res.Streams); err != nil {
		return err
	}
	return res.Check(&c.spec)
}

// plain runs without stalls and compares the measured times with the header's.
func (c *checker) plain(ctx context.Context) error {
	res, err := c.model.Run(ctx, c.input(c.vectors, sim.Stall{}, sim.Stall{}))
	if err == nil {
		err = c.right(res)
	}
	if err != nil {
		return fmt.Errorf("no stalls: %w", err)
	}
	if c.cycles = slices.Max(res.LastOut); c.Untimed {
		return nil
	}
	if res.LatencyCycles != c.latency {
		return fmt.Errorf("latency is %d cycles, the header says %d", res.LatencyCycles, c.latency)
	}
	if res.IICycles != float64(c.ii) {
		return fmt.Errorf("initiation interval is %v cycles, the header says %d", res.IICycles, c.ii)
	}
	return c.flows(ctx, res)
}

// flows compares the cycles in which frames leave with those that the header's flow line gives.
func (c *checker) flows(ctx context.Context, res *sim.Result) error {
	if c.Pipeline || c.flow == nil {
		return nil
	}
	v := c.vectors
	times, err := tokens.Alone(ctx, c.flow, v.inBeats, v.outBeats[0], len(c.Out), v.frames)
	if err != nil {
		return err
	}
	for i, out := range res.Out {
		for _, side := range []struct {
			what      string
			want, got []int
		}{{"first", times.First[i], out.First}, {"last", times.Last[i], out.Last}} {
			for f, at := range side.got {
				if at -= res.FirstIn[0]; f >= len(side.want) || at != side.want[f] {
					return fmt.Errorf("the %s beat of frame %d leaves in cycle %d, the flow line says %v", side.what, f, at, side.want)
				}
			}
		}
	}
	return nil
}

// again runs all other pairs of patterns, and then with a reset of one cycle in the middle: nothing of the old frames
// may leave. Every kind of stall must have happened at every port.
func (c *checker) again(ctx context.Context) error {
	var whats []string
	var ins []sim.Input
	for _, idle := range Stalls {
		for _, back := range Stalls {
			whats = append(whats, fmt.Sprintf("idle %+v, back-pressure %+v", idle, back))
			ins = append(ins, c.input(c.vectors, idle, back))
		}
	}
	stalled := len(ins)
	if c.spec.Reset != "" {
		for i, stall := range []sim.Stall{{}, {Percent: 50}, {Percent: 50, Burst: 16}} {
			in := c.input(c.vectors, stall, stall)
			in.ResetAt = max(1, c.cycles*(2*i+1)/7)
			whats = append(whats, fmt.Sprintf("reset at cycle %d, stalls %+v", in.ResetAt, stall))
			ins = append(ins, in)
		}
	}
	results, failed := c.model.RunAll(ctx, ins)
	for i, res := range results {
		if err := c.right(res); err != nil {
			return fmt.Errorf("%s: %w", whats[i], err)
		}
	}
	if failed != nil {
		return fmt.Errorf("%s: %w", whats[min(len(results), len(whats)-1)], failed)
	}
	return c.covered(results[:stalled])
}

// covered demands every kind of stall at every port.
func (c *checker) covered(results []*sim.Result) error {
	for i := range len(c.In) + len(c.Out) {
		var starved, blocked int
		for _, res := range results {
			s := slices.Concat(res.In, res.Out)[i]
			starved += s.Starved
			blocked += s.Blocked
		}
		joined := i < len(c.In) && len(c.In) > 1 // its ready may wait for the other input
		if starved == 0 && !joined || blocked == 0 {
			return fmt.Errorf("port %d saw %d cycles of (not valid, ready) and %d of (valid, not ready): more frames needed", i,
				starved, blocked)
		}
	}
	return nil
}

// icarus repeats a few frames in the other simulator.
func (c *checker) icarus(ctx context.Context) error {
	most := tools.Sample(20, 40)
	v := c.vectors.first(min(c.vectors.frames, max(3, min(most, 10*most/c.vectors.inBeats[0]))))
	streams, err := sim.Icarus(ctx, c.spec, c.input(v, sim.Stall{Percent: 30}, sim.Stall{Percent: 30}))
	if err == nil {
		err = c.compare(v, streams)
	}
	if err != nil {
		return fmt.Errorf("in Icarus: %w", err)
	}
	return nil
}

// synthesized remembers the modules that Yosys has read: one parameter point each is enough.
var synthesized sync.Map

// yosys has the synthesizer read the module, once for all parameter points of a test binary, but each time if the bench
// replaces modules of the library. Only a long run goes on to the coarse netlist.
func (c *checker) yosys(ctx context.Context) error {
	if _, done := synthesized.LoadOrStore(c.Module, true); done && !c.replaces() {
		return nil
	}
	if tools.Long {
		return sim.Yosys(ctx, c.spec)
	}
	return sim.YosysReads(ctx, c.spec)
}

// replaces tells whether a file of the bench stands for one of the library.
func (b *Bench) replaces() bool {
	return slices.ContainsFunc(b.Files, func(f rtl.File) bool {
		_, err := rtl.Lookup(strings.TrimSuffix(f.Name, ".sv"))
		return err == nil
	})
}
