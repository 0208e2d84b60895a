// SPDX-License-Identifier: Apache-2.0

package float_test

import (
	"slices"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/leaf"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/whole"
	"lathe/ir/ref"
	"lathe/lower"
	"lathe/lower/plan"
	"lathe/lower/quantize"
)

// counted adds rows of words, which ids look up, and of places, which are pad + 1, pad + 2, ... for ids that are not
// pad. Comparisons are by rel; without sums places are whether an id is pad.
func counted(t *testing.T, rel string, pad int64, sums bool) *ir.Graph {
	t.Helper()
	ids := &ir.Node{Name: "ids", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Type{Shape: []int{1, 4}, Format: ir.Int64}}
	rows := make([]float32, 24)
	for i := range rows {
		rows[i] = float32(i*i%17) / 8
	}
	table := &ir.Node{Name: "table", Op: leaf.Const, Attrs: &ir.Const{Data: ir.FloatBlob(rows)}, Type: ir.Float(8, 3)}
	none := &ir.Node{Name: "pad", Op: leaf.Const, Attrs: &ir.Const{Data: ir.CodeBlob([]int64{pad})},
		Type: ir.Type{Format: ir.Int64}}
	g := &ir.Graph{Name: "g", In: []*ir.Node{ids}, Nodes: []*ir.Node{ids, table, none}}
	real := wholeNode(t, g, whole.Compare, "real", &whole.CompareAttrs{Rel: rel}, ids, none)
	if rel == "eq" {
		real = wholeNode(t, g, whole.Not, "not", nil, real)
	}
	ones := wholeNode(t, g, whole.Convert, "ones", &whole.ConvertAttrs{To: ir.I64}, real)
	places := ones
	if sums {
		count := wholeNode(t, g, whole.CumSum, "count", &whole.CumSumAttrs{Axis: 1}, ones)
		places = wholeNode(t, g, pointwise.Mul, "counts", nil, count, ones)
	}
	places = wholeNode(t, g, pointwise.Add, "places", nil, places, none)
	word := wholeNode(t, g, whole.Gather, "word", &column.AxisAttrs{}, table, ids)
	place := wholeNode(t, g, whole.Gather, "place", &column.AxisAttrs{}, table, places)
	g.Out = []ir.Output{{Name: "y", Node: wholeNode(t, g, pointwise.Add, "y", nil, word, place)}}
	return g
}

// TestWithoutPadding: positions that are counted from ids become constants, those of the model for ids without padding,
// and samples with padding are refused.
func TestWithoutPadding(t *testing.T) {
	for _, rel := range []string{"ne", "eq"} {
		g := counted(t, rel, 1, true)
		whole := ir.NewTensor(g.In[0].Type)
		copy(whole.Codes, []int64{3, 0, 2, 7})
		c := quantize.Calibration{Samples: map[string][]*ir.Tensor{"ids": {whole}}}
		plan, err := plan.Parse("plan.toml", []byte("[quantize]\ndata = \"fixed(16,8)\"\n"))
		if err != nil {
			t.Fatal(err)
		}
		q, r, err := lower.Quantize(t.Context(), g, plan, c, quantize.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if in := q.In[0].Attrs.(*ir.Input); !slices.Equal(in.Without, []int{1}) {
			t.Errorf("%s: the input is without %v", rel, in.Without)
		}
		if len(r.Notes) == 0 || !strings.Contains(r.Notes[0], `input "ids", without padding: as long as no id is 1`) {
			t.Errorf("%s: %q", rel, r.Notes)
		}
		want := once(t, g, whole)
		codes := ir.NewTensor(q.In[0].Type)
		copy(codes.Codes, whole.Codes)
		got, err := once(t, q, codes).Decode()
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range want.Floats {
			if float32(got[i]) != v { // eighths are exact
				t.Errorf("%s: element %d is %g, want %g", rel, i, got[i], v)
			}
		}
		whole.Codes[2] = 1
		if _, _, err := lower.Quantize(t.Context(), g, plan, c, quantize.Options{}); diag.CodeOf(err) != "L0916" ||
			!strings.Contains(err.Error(), `id 1, which is padding, at element 2 of input "ids"`) {
			t.Errorf("%s: %v", rel, err)
		}
	}
}

// TestPaddingIsNotAssumed: what is not counted stays refused.
func TestPaddingIsNotAssumed(t *testing.T) {
	for name, g := range map[string]*ir.Graph{"no sums": counted(t, "ne", 1, false), "order": counted(t, "gt", 1, true)} {
		_, _, err := lower.Quantize(t.Context(), g, plan.Default(), quantize.Calibration{}, quantize.Options{})
		if diag.CodeOf(err) != "L0337" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// once is the output of a graph of one.
func once(t *testing.T, g *ir.Graph, in *ir.Tensor) *ir.Tensor {
	t.Helper()
	p, err := ref.New(g)
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Run(t.Context(), []ref.Sample{{in}})
	if err != nil {
		t.Fatal(err)
	}
	return out[0][0]
}
