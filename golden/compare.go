// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"fmt"
	"math"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/ref"
)

// Mismatch is one element on which two engines disagree.
type Mismatch struct {
	Node   string  `json:"node"`
	Pos    string  `json:"source,omitempty"`
	Engine string  `json:"engine"`
	Sample int     `json:"sample"`
	Index  []int   `json:"index"`
	Want   int64   `json:"want"`
	Got    int64   `json:"got"`
	WantV  float64 `json:"want_value"`
	GotV   float64 `json:"got_value"`
	// Scale says that the codes are the scales of the block that begins at Index.
	Scale bool `json:"scale,omitempty"`
}

// String says where and what: "conv1[0,3,2,1] of sample 7: rtl gives 12 (0.75), ref 13 (0.8125)".
func (m *Mismatch) String() string {
	index := ""
	for i, k := range m.Index {
		if i > 0 {
			index += ","
		}
		index += fmt.Sprint(k)
	}
	what := ""
	if m.Scale {
		what = "scale of the block at "
	}
	return fmt.Sprintf("%s%s[%s] of sample %d: %s gives %d (%s), ref %d (%s)", what, m.Node, index, m.Sample, m.Engine,
		m.Got, diag.Number(float64(m.GotV), -1), m.Want, diag.Number(float64(m.WantV), -1))
}

// Compare counts the codes in which got differs from want and describes the first difference, which is nil where
// there is none. nodes name the values of a sample in order. A missing value or a wrong length is an error, not a
// mismatch.
func Compare(engine string, nodes []*ir.Node, want, got []ref.Sample) (compared, mismatches int, first *Mismatch,
	err error) {
	if len(want) != len(got) {
		return 0, 0, nil, diag.New(diag.EngineValues, engine, "%d samples came back, %d went in", len(got), len(want))
	}
	for s := range want {
		for i, n := range nodes {
			w, g := want[s][i], got[s][i]
			if g == nil || len(g.Codes) != len(w.Codes) || len(w.Codes) != n.Type.Elems() {
				return 0, 0, nil, n.Errorf(diag.EngineValues, "%s gave no value of %d codes for sample %d", engine,
					n.Type.Elems(), s)
			}
			c, bad, m, err := compareValue(n, w, g)
			if err != nil {
				return 0, 0, nil, n.Errorf(diag.EngineValues, "%s gave %v for sample %d", engine, err, s)
			}
			if m != nil && first == nil {
				first = m
				first.Engine, first.Sample = engine, s
			}
			compared, mismatches = compared+c, mismatches+bad
		}
	}
	return compared, mismatches, first, nil
}

// compareValue compares codes, and the scales of blocks, of one value of node n.
func compareValue(n *ir.Node, want, got *ir.Tensor) (compared, mismatches int, first *Mismatch, err error) {
	if len(got.BlockScales) != n.Type.Blocks() || len(want.BlockScales) != n.Type.Blocks() {
		return 0, 0, nil, fmt.Errorf("%d scales, ref %d, of %d blocks", len(got.BlockScales), len(want.BlockScales),
			n.Type.Blocks())
	}
	blocks := 0 // that are compared
	for k, w := range want.Codes {
		if want.BlockScales != nil && n.Type.Block(k) == blocks {
			if w, g := want.BlockScales[blocks], got.BlockScales[blocks]; w != g {
				if mismatches++; first == nil {
					first = scaleMismatch(n, k, w, g)
				}
			}
			blocks++
		}
		if g := got.Codes[k]; w != g {
			if mismatches++; first == nil {
				first = &Mismatch{Node: n.Name, Pos: n.Pos, Index: unravel(k, n.Type.Shape), Want: w, Got: g,
					WantV: decode(n.Type, w), GotV: decode(n.Type, g)}
			}
		}
	}
	return len(want.Codes) + blocks, mismatches, first, nil
}

// scaleMismatch describes scales that differ, of the block that begins at position k. A code of -1 says that the beats
// of one block disagree; it and NaN are shown as 0.
func scaleMismatch(n *ir.Node, k int, want, got int64) *Mismatch {
	b := n.Type.Format.(format.Block)
	m := &Mismatch{Node: n.Name, Pos: n.Pos, Index: unravel(k, n.Type.Shape), Want: want, Got: got, Scale: true}
	for _, v := range []struct {
		code int64
		to   *float64
	}{{want, &m.WantV}, {got, &m.GotV}} {
		if x := b.ScaleValue(max(v.code, 0)).Float64(); v.code >= 0 && !math.IsNaN(x) { // JSON has no NaN
			*v.to = x
		}
	}
	return m
}

// decode is the value of a code of type t; of elements of blocks that at scale 1.
func decode(t ir.Type, code int64) float64 {
	if t.Scales != nil {
		return math.NaN()
	}
	return t.Format.Decode(code).Float64()
}

// unravel turns a flat row-major position into an index.
func unravel(k int, shape []int) []int {
	index := make([]int, len(shape))
	for i := len(shape) - 1; i >= 0; i-- {
		index[i] = k % shape[i]
		k /= shape[i]
	}
	return index
}
