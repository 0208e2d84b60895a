// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"context"
	"runtime"
	"slices"

	"lathe/emit/bench"
	"lathe/emit/report"
	"lathe/emit/verilog"
	"lathe/emit/vivado"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/ref"
	"lathe/rtl"
	"lathe/sim"
)

// DefaultVectors is how many samples the testbench of an emitted folder holds unless something else is asked for.
const DefaultVectors = 32

// vectorWork bounds the multiplications that test vectors may cost which nobody has asked for.
const vectorWork = 1 << 28

// VectorSamples chooses at most n samples for the testbench: those given, and then, where there are none, random codes
// with extremes among them.
func (h *Hardware) VectorSamples(given []ref.Sample, n int, seed uint64) ([]ref.Sample, error) {
	if len(given) > 0 {
		return given[:min(n, len(given))], nil
	}
	return RandomSamples(h.Scheduled, n, seed)
}

// AffordableVectors is DefaultVectors, or fewer where the reference would compute for long; 0 for very large models.
func (h *Hardware) AffordableVectors() int {
	return min(DefaultVectors, vectorWork/multiplications(h.Scheduled))
}

// Complete adds to the design what makes its folder stand on its own: testbench with the samples and the results of the
// reference, Makefile, report.html, a core for FuseSoC, and scripts for Vivado if that knows the part. Without samples
// there is no testbench. model is the path of the model.
func (h *Hardware) Complete(ctx context.Context, model string, samples []ref.Sample) error {
	d := h.Design
	d.Extra = nil
	if len(samples) > 0 {
		v, err := h.vectors(ctx, samples)
		if err != nil {
			return err
		}
		if d.Extra, err = bench.Files(d, v); err != nil {
			return err
		}
	}
	makefile, err := bench.Makefile(d, &h.Plan.Target.FPGA, len(samples) > 0)
	if err != nil {
		return err
	}
	var scripts []rtl.File
	if h.Plan.Target.FPGA.Family.Vivado() {
		if scripts, err = vivado.Files(d); err != nil {
			return err
		}
	}
	facts, err := h.Report(ctx, model, Measured{Missing: []string{NotMeasured}})
	if err != nil {
		return err
	}
	page, err := report.HTML(facts)
	if err != nil {
		return diag.New(diag.UnitFault, d.Name, "cannot print the report: %v", err)
	}
	d.Extra = append(append(d.Extra, makefile, rtl.File{Name: "report.html", Data: page}), scripts...)
	if err := bench.AddCore(d); err != nil {
		return err
	}
	return verilog.Describe(d)
}

// evaluate runs samples in a few blocks, and reports how many are done.
func (h *Hardware) evaluate(ctx context.Context, program *ref.Program, samples []ref.Sample) ([]ref.Sample, error) {
	const blocks = 20
	var results []ref.Sample
	for block := range slices.Chunk(samples, max((len(samples)+blocks-1)/blocks, runtime.GOMAXPROCS(0))) {
		h.Progress.report("vectors", len(results), len(samples))
		out, err := program.Run(ctx, block)
		if err != nil {
			return nil, err
		}
		results = append(results, out...)
	}
	return results, nil
}

// vectors packs samples, and what the reference makes of them, as the wrapper's streams carry them.
func (h *Hardware) vectors(ctx context.Context, samples []ref.Sample) (v bench.Vectors, err error) {
	program, err := ref.New(h.Scheduled)
	if err != nil {
		return v, err
	}
	g, d, lengths := h.Scheduled, h.Design, []int(nil)
	if lengthsAt(g) >= 0 {
		samples, lengths = vectorLengths(g, samples)
	}
	results, err := h.evaluate(ctx, program, samples)
	switch {
	case err != nil:
		return v, err
	case d.Tokens > 0:
		return sim.SequenceVectors(d, samples, results, vectorSequences(d.Tokens, len(samples))), nil
	case lengths != nil:
		return sim.FrameVectors(g, d, samples, results, lengths), nil
	}
	v.Samples = len(samples)
	outputs := len(d.Ports) - len(g.Out)
	for i, p := range d.Ports { // inputs first
		from, at := results, i-outputs
		if p.Input {
			from, at = samples, slices.IndexFunc(g.In, func(n *ir.Node) bool { return n.Name == p.Name })
		}
		v.Streams = append(v.Streams, sim.PackStream(p, from, at))
	}
	return v, nil
}

// vectorSequences are what the testbench of a decoder does with so many samples: a sequence of each kind, and whole
// ones.
func vectorSequences(tokens, samples int) []sim.Sequence {
	list := kinds(tokens, DefaultPrefill(tokens))
	for i := len(list); i < samples; i++ {
		list = append(list, sim.Sequence{Sample: i, Tokens: tokens, Prefill: tokens})
	}
	return list[:samples]
}
