// SPDX-License-Identifier: Apache-2.0

package hlo_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lathe/ir/hlo"
)

// everyKind builds a program that holds each kind of operation with attributes.
func everyKind() *hlo.Builder {
	b := hlo.New("kinds")
	x := b.Arg("x", hlo.TypeOf(hlo.I32, 1, 6, 6, 4))
	w := b.Weight(hlo.FromInt64s(hlo.I8, []int{2, 3, 3, 4}, make([]int64, 72)))
	b.At("a.onnx: conv")
	c := b.ConvInt(x, w, hlo.Conv{Stride: []int{2, 1}, Low: []int{1, 0}, High: []int{0, 1}}, 40)
	deep := b.Weight(hlo.FromInt64s(hlo.I32, []int{4, 2, 2, 1}, make([]int64, 16)))
	d := b.ConvInt(x, deep, hlo.Conv{Groups: 4}, 20)
	b.At("a.onnx: rest")
	m := b.Weight(hlo.FromInt64s(hlo.I8, []int{5, 4}, make([]int64, 20)))
	dot := b.DotInt(x, m, hlo.Dot{LhsContract: []int{3}, RhsContract: []int{1}}, 20)
	t := b.Transpose(dot, 3, 0, 2, 1)
	p := b.Pad(t, b.Int(hlo.I32, 7), []int{0, 0, -1, 2}, []int{1, 0, 0, 0}, []int{0, 0, 1, 0})
	s := b.Reverse(b.Slice(p, []int{1, 0, 0, 2}, []int{5, 1, 9, 8}, []int{2, 1, 3, 1}), 3, 0)
	rw := b.ReduceWindow(hlo.ReduceMax, s, hlo.Window{Size: []int{1, 1, 2, 2}, Low: []int{0, 0, 1, 0}})
	r := b.Reduce(hlo.ReduceMin, b.Concat(2, rw, rw), 1, 3)
	i := b.Add(r, b.Add(b.Iota(r.Type(), 1), b.Splat(r, 3)))
	k := b.Const(hlo.FromInt64s(hlo.I32, []int{3}, []int64{4, 5, 6}))
	look := b.Select(b.Compare(hlo.LE, i, b.TakeI(k, i)), i, b.Neg(i))
	b.Return(c, d, look)
	return b
}

// list prints the way in which the text writes number lists.
func list(values []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(values), "[]"), " ", ", ")
}

// marks are the pieces of the text of an operation that its attributes must agree with.
func marks(o hlo.Operation) []string {
	a := o.Attrs
	pads := func(low, high []int) string {
		var s []string
		for i := range low {
			s = append(s, fmt.Sprintf("[%d, %d]", low[i], high[i]))
		}
		return "dense<[" + strings.Join(s, ", ") + "]>"
	}
	switch o.Kind {
	case "broadcast_in_dim", "transpose", "reduce", "reverse":
		if len(a.Axes) == 0 {
			return []string{"= array<i64>}>"}
		}
		return []string{"= array<i64: " + list(a.Axes) + ">}>"}
	case "iota", "concatenate":
		return []string{fmt.Sprintf("dimension = %d :", a.Axes[0])}
	case "slice":
		return []string{"start_indices = array<i64: " + list(a.Start) + ">", "strides = array<i64: " + list(a.Stride) + ">"}
	case "pad":
		return []string{"padding_high = array<i64: " + list(a.High), "padding_low = array<i64: " + list(a.Low),
			"interior_padding = array<i64: " + list(a.Inner)}
	case "compare":
		return []string{"comparison_direction " + string(a.Dir) + ">"}
	case "reduce_window":
		return []string{pads(a.Window.Low, a.Window.High), "window_strides = array<i64: " + list(a.Window.Stride)}
	case "dot_general":
		return []string{"lhs_contracting_dimensions = [" + list(a.Dot.LhsContract) + "]"}
	case "convolution":
		return []string{pads(a.Conv.Low, a.Conv.High), "window_strides = array<i64: " + list(a.Conv.Stride),
			fmt.Sprintf("feature_group_count = %d", a.Conv.Groups)}
	}
	return nil
}

// operationLines are the lines of a text that state an operation.
func operationLines(text string) (lines []string) {
	for l := range strings.Lines(text) {
		if strings.HasPrefix(l, "    %") {
			lines = append(lines, l)
		}
	}
	return lines
}

// TestOperations holds the recorded operations against the text, line by line.
func TestOperations(t *testing.T) {
	b := everyKind()
	text := b.Text()
	if b.Err() != nil {
		t.Fatal(b.Err())
	}
	lines := operationLines(text)
	names := make([]string, 0, len(b.Operations()))
	inputs, weights, exact := 0, 0, 0
	for _, o := range b.Operations() {
		switch o.Kind {
		case hlo.KindInput:
			names = append(names, fmt.Sprintf("%%arg%d", inputs))
			inputs++
			continue
		case hlo.KindWeight:
			if !o.Type.Equal(b.Weights()[o.Attrs.Index].Type) || o.Attrs.Index != weights {
				t.Errorf("weight %d of %s", o.Attrs.Index, o.Type)
			}
			names = append(names, fmt.Sprintf("%%w%d", weights))
			weights++
			continue
		}
		line := lines[0]
		lines = lines[1:]
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		var operands []string
		for _, i := range o.Operands {
			operands = append(operands, names[i])
		}
		if o.Kind == "reduce" || o.Kind == "reduce_window" {
			operands = operands[:1] // the start value stands behind
		}
		names = append(names, name)
		want := append(marks(o), fmt.Sprintf("%s = \"stablehlo.%s\"(%s", name, o.Kind, strings.Join(operands, ", ")),
			"-> "+o.Type.String()+"\n")
		if o.Kind == "reduce" || o.Kind == "reduce_window" {
			want = want[:len(want)-1]
		}
		for _, w := range want {
			if !strings.Contains(line, w) {
				t.Errorf("%+v: no %q in %s", o, w, line)
			}
		}
		if o.Attrs.Exact {
			exact++
		}
	}
	if len(lines) > 0 || inputs != 1 || weights != 3 || exact != 2 {
		t.Errorf("%d lines left, %d inputs, %d weights, %d exact sums", len(lines), inputs, weights, exact)
	}
	last := b.Operations()[len(b.Operations())-1]
	if last.Kind != "select" || last.Pos != "a.onnx: rest" {
		t.Errorf("%+v", last)
	}
}

// TestOperationValue: constants come with their data, splats with one element, and results know their number.
func TestOperationValue(t *testing.T) {
	b := hlo.New("const")
	v := b.Const(hlo.FromInt64s(hlo.I32, []int{2, 2}, []int64{1, 2, 3, 4}))
	s := b.Const(hlo.FromInt64s(hlo.I64, []int{2}, []int64{-9, -9}))
	ops := b.Operations()
	if got := ops[v.Number()].Attrs.Value.Int64s(); !slices.Equal(got, []int64{1, 2, 3, 4}) {
		t.Error(got)
	}
	if got := ops[s.Number()].Attrs.Value.Int64s(); !slices.Equal(got, []int64{-9}) {
		t.Error(got)
	}
	if n := (hlo.Value{}).Number(); n != -1 {
		t.Error(n)
	}
}
