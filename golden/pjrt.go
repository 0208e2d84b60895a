// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"context"

	"lathe/golden/pjrt"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/carrier"
	"lathe/ir/ref"
)

// batchLimit bounds the samples of one execution, batchElems the elements of one value in it.
const (
	batchLimit = 1024
	batchElems = 1 << 22
)

// RunPJRT evaluates samples on a PJRT engine, several at once, and returns the values of the outputs (or, with trace,
// of Traced nodes) of each sample. progress, if not nil, gets the number of samples done.
func RunPJRT(ctx context.Context, e *pjrt.Engine, g *ir.Graph, samples []ref.Sample, trace bool,
	progress func(done int)) ([]ref.Sample, error) {
	if len(samples) == 0 {
		return nil, nil
	}
	size := min(batchLimit, len(samples))
	for _, n := range g.Nodes {
		if !n.IsConst() {
			size = max(1, min(size, batchElems/max(1, n.Type.Elems())))
		}
	}
	printed, err := Print(g, size, trace)
	if err != nil {
		return nil, err
	}
	program, err := e.Compile(ctx, printed)
	if err != nil {
		return nil, err
	}
	defer program.Drop(context.WithoutCancel(ctx))
	form := Form{Samples: size, Trace: trace}
	out := make([]ref.Sample, len(samples))
	for from := 0; from < len(samples); from += size {
		err := runOnce(ctx, program, g, samples[from:], form, out[from:min(from+size, len(out))])
		if err != nil {
			return nil, err
		}
		if progress != nil {
			progress(min(from+size, len(samples)))
		}
	}
	return out, nil
}

// batch stacks the first samples; where there are too few the last one is repeated.
func (f Form) batch(g *ir.Graph, samples []ref.Sample) []hlo.Array {
	var arrays []hlo.Array
	for i, n := range g.In {
		t := carrier.Type(n.Type, f.of(n))
		var floats []float32
		var codes, scales []int64
		for s := range max(f.of(n), 1) {
			v := samples[min(s, len(samples)-1)][i]
			floats, codes = append(floats, v.Floats...), append(codes, v.Codes...)
			scales = append(scales, v.BlockScales...)
		}
		if n.Type.IsFloat() {
			arrays = append(arrays, hlo.FromFloat32s(t.Dims, floats))
			continue
		}
		arrays = append(arrays, hlo.FromInt64s(t.DType, t.Dims, codes))
		if _, block := n.Type.BlockFormat(); block {
			t = carrier.ScaleType(n.Type, f.of(n))
			arrays = append(arrays, hlo.FromInt64s(t.DType, t.Dims, scales))
		}
	}
	return arrays
}

// unbatchAll appends the values of nodes to each sample of out.
func unbatchAll(g *ir.Graph, nodes []*ir.Node, results []hlo.Array, out []ref.Sample, size int) error {
	want := len(nodes)
	for _, n := range nodes {
		if _, block := n.Type.BlockFormat(); block {
			want++
		}
	}
	if len(results) != want {
		return diag.New(diag.PJRTRun, g.Name, "%d results for %d values", len(results), len(nodes))
	}
	for _, n := range nodes {
		if err := unbatch(n, results[0], out, size); err != nil {
			return err
		}
		results = results[1:]
		blocks := n.Type.Blocks()
		if blocks == 0 {
			continue
		}
		fields := results[0].Int64s()
		results = results[1:]
		if len(fields) != blocks*size {
			return n.Errorf(diag.PJRTRun, "PJRT returned %d scales for %d samples of %s", len(fields), size, n.Type)
		}
		for s := range out {
			out[s][len(out[s])-1].BlockScales = fields[s*blocks : (s+1)*blocks]
		}
	}
	return nil
}

// unbatch appends the value of node n to each sample of out.
func unbatch(n *ir.Node, a hlo.Array, out []ref.Sample, size int) error {
	elems := n.Type.Elems()
	if a.Type.Len() != elems*size {
		return n.Errorf(diag.PJRTRun, "PJRT returned %s for %d samples of %s", a.Type, size, n.Type)
	}
	var floats []float64
	var codes []int64
	if n.Type.IsFloat() {
		floats = a.Float64s()
	} else {
		codes = a.Int64s()
	}
	for s := range out {
		v := ir.NewTensor(n.Type)
		for i := range elems {
			if n.Type.IsFloat() {
				v.Floats[i] = float32(floats[s*elems+i])
			} else {
				v.Codes[i] = codes[s*elems+i]
			}
		}
		out[s] = append(out[s], v)
	}
	return nil
}
