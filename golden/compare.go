// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"fmt"
	"math"

	"lathe/golden/ref"
	"lathe/internal/diag"
	"lathe/ir"
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
	return fmt.Sprintf("%s[%s] of sample %d: %s gives %d (%g), ref %d (%g)", m.Node, index, m.Sample, m.Engine,
		m.Got, m.GotV, m.Want, m.WantV)
}

// Compare counts the codes in which got differs from want and describes the first difference, which is nil where
// there is none. nodes name the values of a sample in order. A missing value or a wrong length is an error, not a
// mismatch.
func Compare(engine string, nodes []*ir.Node, want, got []ref.Sample) (compared, mismatches int, first *Mismatch,
	err error) {
	if len(want) != len(got) {
		return 0, 0, nil, diag.New("L0820", engine, "%d samples came back, %d went in", len(got), len(want))
	}
	for s := range want {
		for i, n := range nodes {
			w, g := want[s][i], got[s][i]
			if g == nil || len(g.Codes) != len(w.Codes) || len(w.Codes) != n.Type.Elems() {
				return 0, 0, nil, n.Errorf("L0820", "%s gave no value of %d codes for sample %d", engine, n.Type.Elems(), s)
			}
			compared += len(w.Codes)
			for k := range w.Codes {
				if w.Codes[k] == g.Codes[k] {
					continue
				}
				if mismatches == 0 {
					first = &Mismatch{Node: n.Name, Pos: n.Pos, Engine: engine, Sample: s, Index: unravel(k, n.Type.Shape),
						Want: w.Codes[k], Got: g.Codes[k], WantV: decode(n.Type, w.Codes[k], k), GotV: decode(n.Type, g.Codes[k], k)}
				}
				mismatches++
			}
		}
	}
	return compared, mismatches, first, nil
}

// decode is the value of a code of type t at flat position k.
func decode(t ir.Type, code int64, k int) float64 {
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
