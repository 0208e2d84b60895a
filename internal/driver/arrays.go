// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"math/rand/v2"
	"slices"

	"lathe/internal/diag"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/ref"
	"lathe/lower/float"
)

// Batch is how the samples of input arrays lie in them, and so how those of outputs will.
type Batch struct {
	Samples int
	// axis says whether samples have an axis of their own, replace a batch axis of size 1, or are just one.
	axis sampleAxis
}

type sampleAxis uint8

const (
	single    sampleAxis = iota // the array has the model's shape
	replaced                    // the leading axis of size 1 is longer
	prepended                   // one more leading axis
)

// callerShape is the shape that the caller's array has for a value of shape under perm (ir.Input.Perm).
func callerShape(shape, perm []int) []int {
	if perm == nil {
		return shape
	}
	out := make([]int, len(shape))
	for i, p := range perm {
		out[p] = shape[i]
	}
	return out
}

// outputShape is the shape that the caller's array has for an output.
func outputShape(o *ir.Output) []int {
	shape := o.Node.Type.Shape
	if o.Perm == nil {
		return shape
	}
	out := make([]int, len(shape))
	for i, p := range o.Perm {
		out[i] = shape[p]
	}
	return out
}

// sampled is the shape of N samples of a shape: a leading axis of 1 may count them.
func sampled(shape []int) string {
	if len(shape) > 0 && shape[0] == 1 {
		shape = shape[1:]
	}
	if len(shape) == 0 {
		return "N"
	}
	return "Nx" + ir.ShapeString(shape)
}

// batchOf finds how array shape a holds samples of the model's shape s.
func batchOf(a, s []int) (Batch, bool) {
	switch {
	case slices.Equal(a, s):
		return Batch{1, single}, true
	case len(a) == len(s) && len(s) > 0 && s[0] == 1 && slices.Equal(a[1:], s[1:]):
		return Batch{a[0], replaced}, true
	case len(a) == len(s)+1 && slices.Equal(a[1:], s):
		return Batch{a[0], prepended}, true
	}
	return Batch{}, false
}

// Samples reads one array for each graph input from f and cuts it into samples: float values, or the nearest codes
// where the input is quantized, or the whole numbers that the model takes. All arrays must hold equally many. NaN and
// infinities are refused where the input is quantized. A graph without inputs has one sample, of no values; f may then
// be nil.
func Samples(g *ir.Graph, f *npz.File) ([]ref.Sample, Batch, error) {
	var batch Batch
	if len(g.In) == 0 {
		return make([]ref.Sample, 1), Batch{1, single}, nil
	}
	var samples []ref.Sample
	for i, n := range g.In {
		a, err := f.Get(n.Name)
		if err != nil && len(g.In) == 1 && len(f.Arrays) == 1 {
			a, err = &f.Arrays[0], nil // with one of each there is no doubt
		}
		if err != nil {
			mask, e := lengthsArray(g, n, f)
			if e != nil {
				return nil, batch, e
			}
			if mask != nil {
				a, err = mask, nil
			}
		}
		if err != nil {
			return nil, batch, hintBind(err, len(g.In) > len(f.Arrays))
		}
		perm := n.Attrs.(*ir.Input).Perm
		shape := callerShape(n.Type.Shape, perm)
		b, ok := batchOf(a.Shape, shape)
		if !ok {
			return nil, batch, diag.New(diag.ArrayShape, f.Path, "array %q has shape %s, input %q takes %s", a.Name,
				ir.ShapeString(a.Shape), n.Name, ir.ShapeString(shape)).
				WithHint("%s", reshaping(a.Shape, shape))
		}
		if b.Samples == 0 {
			return nil, batch, diag.New(diag.ArrayShape, f.Path, "array %q of shape %s holds no sample", a.Name,
				ir.ShapeString(a.Shape))
		}
		if i == 0 {
			batch, samples = b, make([]ref.Sample, b.Samples)
		} else if b.Samples != batch.Samples {
			return nil, batch, diag.New(diag.SampleCounts, f.Path, "array %q holds %d samples, array %q %d", a.Name, b.Samples,
				g.In[0].Name, batch.Samples)
		}
		read := appendSamples
		if isWhole(g, n.Type) {
			read = appendWholes
		}
		if err := read(samples, n, a, f.Path, perm); err != nil {
			return nil, batch, err
		}
	}
	return samples, batch, nil
}

// hintBind adds to the error of a missing array where weights that are inputs come from.
func hintBind(err error, fewer bool) error {
	if d, ok := err.(*diag.Error); ok && fewer {
		return d.WithNote("the model has more inputs than there are arrays; --bind takes its weights from another file")
	}
	return err
}

func appendSamples(samples []ref.Sample, n *ir.Node, a *npz.Array, path string, perm []int) error {
	values := a.Float32s()
	if e := float.Padding(n, values); e != nil {
		return e.WithNote("array %q of %s", a.Name, path)
	}
	values, err := finite(n, values, a.Name, path)
	if err != nil {
		return err
	}
	size := n.Type.Elems()
	index := permIndex(n.Type.Shape, perm)
	for s := range samples {
		t := ir.NewTensor(ir.Float(n.Type.Shape...))
		for i := range size {
			at := i
			if index != nil {
				at = index[i]
			}
			t.Floats[i] = values[s*size+at]
		}
		n.Attrs.(*ir.Input).Scale(t.Floats)
		if !n.Type.IsFloat() {
			t = ir.EncodeFloats(n.Type, t.Floats)
		}
		samples[s] = append(samples[s], t)
	}
	return nil
}

// appendWholes is appendSamples for an input of whole numbers.
func appendWholes(samples []ref.Sample, n *ir.Node, a *npz.Array, path string, perm []int) error {
	values, err := wholes(n, a, path)
	if err != nil {
		return err
	}
	size, index := n.Type.Elems(), permIndex(n.Type.Shape, perm)
	for s := range samples {
		t := &ir.Tensor{Type: n.Type, Codes: pick(values[s*size:(s+1)*size], index)}
		samples[s] = append(samples[s], t)
	}
	return nil
}

// permIndex lists, for each element of a value of the given shape, its flat position in the caller's array; nil: the
// same.
func permIndex(shape, perm []int) []int {
	if perm == nil {
		return nil
	}
	return ir.TransposeIndex(callerShape(shape, perm), perm)
}

// Arrays stacks the outputs of samples into one array each, in the caller's layout: decoded values (float32, or float64
// where a format has more than 24 bits), or integer codes. Whole numbers of the model keep their type.
func Arrays(g *ir.Graph, outputs []ref.Sample, b Batch, codes bool) ([]npz.Array, error) {
	var arrays []npz.Array
	for i, o := range g.Out {
		t := o.Node.Type
		shape := outputShape(&o)
		stacked := append([]int{b.Samples}, shape...)
		switch {
		case b.axis == single:
			stacked = shape
		case b.axis == replaced && len(shape) > 0 && shape[0] == 1:
			stacked = append([]int{b.Samples}, shape[1:]...)
		}
		unsigned := g.Origin != nil && slices.Contains(g.Origin.Unsigned, o.Name)
		a, err := stack(o, i, outputs, stacked, codes, isWhole(g, t), unsigned)
		if err != nil {
			return nil, err
		}
		arrays = append(arrays, a)
		if _, blocks := t.BlockFormat(); codes && blocks {
			fields, err := scaleFields(o, i, outputs)
			if err != nil {
				return nil, err
			}
			arrays = append(arrays, fields)
		}
	}
	return arrays, nil
}

// HasCodes finds out before the work whether Arrays can give the codes of all outputs. Error L0913, at the path of the
// model, where it cannot.
func HasCodes(model string, g *ir.Graph) error {
	if g.Stage == ir.StageFloat {
		return diag.New(diag.NoCodes, model, "the model runs as imported: its outputs are float and have no codes").
			WithHint("quantize it by --plan or --calibrate")
	}
	for _, o := range g.Out {
		if _, blocks := o.Node.Type.BlockFormat(); blocks {
			if err := noScales(model, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// noScales is an error where the blocks of an output do not lie along the last axis of the caller's array.
func noScales(model string, o ir.Output) error {
	if o.Perm == nil {
		return nil
	}
	return diag.New(diag.NoCodes, model, "output %q is in blocks along an axis that is not the last of the model's",
		o.Name).
		WithHint("ask for values, without --codes, or give the output a fixed format")
}

// scaleFields stacks the scale bytes of an output in blocks, as NAME_scale: one for each block of the last axis.
func scaleFields(o ir.Output, i int, outputs []ref.Sample) (npz.Array, error) {
	if err := noScales("", o); err != nil {
		return npz.Array{}, err
	}
	var all []int64
	for _, s := range outputs {
		all = append(all, s[i].BlockScales...)
	}
	return npz.Int64Array(o.Name+"_scale", append([]int{len(outputs)}, o.Node.Type.ScaleShape()...), all), nil
}

func stack(o ir.Output, i int, outputs []ref.Sample, shape []int, codes, whole, unsigned bool) (npz.Array, error) {
	t := o.Node.Type
	index := outputIndex(t.Shape, o.Perm)
	if (codes || whole) && !t.IsFloat() {
		var all []int64
		for _, s := range outputs {
			all = append(all, pick(s[i].Codes, index)...)
		}
		if whole {
			return wholeArray(o.Name, t, shape, all, unsigned), nil
		}
		return npz.Int64Array(o.Name, shape, all), nil
	}
	if codes {
		return npz.Array{}, diag.New(diag.NoCodes, "", "output %q is float and has no codes", o.Name).WithHint("give a plan")
	}
	var all []float64
	for _, s := range outputs {
		v, err := s[i].Decode()
		if err != nil {
			return npz.Array{}, o.Node.Errorf(diag.FormatData, "%v", err)
		}
		all = append(all, pick(v, index)...)
	}
	if !t.IsFloat() && t.Format.Width() > 24 {
		return npz.Float64Array(o.Name, shape, all), nil
	}
	narrow := make([]float32, len(all))
	for k, v := range all {
		narrow[k] = float32(v)
	}
	return npz.Float32Array(o.Name, shape, narrow), nil
}

// outputIndex lists, for each element of the caller's array, its flat position in the node's value; nil: the same.
func outputIndex(shape, perm []int) []int {
	if perm == nil {
		return nil
	}
	return ir.TransposeIndex(shape, perm)
}

func pick[T any](values []T, index []int) []T {
	if index == nil {
		return values
	}
	out := make([]T, len(index))
	for i, k := range index {
		out[i] = values[k]
	}
	return out
}

// RandomSamples makes n samples for a quantized graph from a seed: every second one of uniformly random codes, the
// others of extremes, small values and single large ones.
func RandomSamples(g *ir.Graph, n int, seed uint64) ([]ref.Sample, error) {
	samples := make([]ref.Sample, n)
	for k, in := range g.In {
		if isWhole(g, in.Type) {
			appendRandom(samples, g, in, seed+uint64(k)<<32)
			continue
		}
		element := in.Type.Format
		b, blocks := in.Type.BlockFormat()
		if blocks {
			element = b.Element()
		}
		fx, ok := format.AsFixed(element)
		zero := int64(0)
		switch i, integers := format.IntegersOf(element); {
		case integers && !ok:
			fx, zero, ok = i.Codes, i.Zero, true
		case format.Coded(element), blocks:
			fx, ok = format.Raw(element), true
		}
		if !ok {
			return nil, in.Errorf(diag.NoRandomSamples, "random samples need a fixed-point input, not %s", in.Type.Format)
		}
		for s := range samples {
			r := rand.New(rand.NewPCG(seed+uint64(k)<<32, uint64(s)))
			t := ir.NewTensor(in.Type)
			for i := range t.Codes {
				t.Codes[i] = randomCode(r, fx, zero, s%4)
			}
			for i := range t.BlockScales {
				t.BlockScales[i] = randomScale(r, b, s%8)
			}
			if in.HW.Ends {
				t = prefix(in.Type, 1+r.IntN(in.HW.Tokens))
			}
			samples[s] = append(samples[s], t)
		}
	}
	return samples, nil
}

// appendRandom draws whole numbers for an input of the model.
func appendRandom(samples []ref.Sample, g *ir.Graph, in *ir.Node, seed uint64) {
	ints, _ := ir.WholeOf(in.Type.Format)
	for s := range samples {
		r, t := rand.New(rand.NewPCG(seed, uint64(s))), ir.NewTensor(in.Type)
		for i := range t.Codes {
			t.Codes[i] = randomWhole(r, ints, g.Positions(in))
		}
		samples[s] = append(samples[s], t)
	}
}

// randomCode draws a code: of one kind extreme ones, of another those around zero, else any.
func randomCode(r *rand.Rand, f format.Fixed, zero int64, kind int) int64 {
	uniform := func() int64 { return f.Min() + int64(r.Uint64N(uint64(f.Max()-f.Min())+1)) }
	switch {
	case kind == 1 && r.IntN(2) == 0:
		return f.Min()
	case kind == 1:
		return f.Max()
	case kind == 3 && r.IntN(8) != 0:
		return min(max(zero+int64(r.IntN(3)-1), f.Min()), f.Max())
	}
	return uniform()
}

// randomScale draws a scale field of b: around 1 for the most part, sometimes any but NaN.
func randomScale(r *rand.Rand, b format.Block, kind int) int64 {
	lo, hi := b.ScaleLimits()
	exp := 0
	if kind == 5 || r.IntN(64) == 0 {
		exp = lo + int(r.Int64N(int64(hi-lo+1)))
	} else {
		exp = min(max(r.IntN(17)-12, lo), hi)
	}
	field, _ := b.ScaleField(exp)
	return field
}
