// SPDX-License-Identifier: Apache-2.0

package op

import (
	le "encoding/binary"
	"math"

	"lathe/ir"
)

// linearFloatRows is linearFloat for very many weights, which it reads where they are; nil where it does not apply.
func linearFloatRows(n *ir.Node) (ir.Kernel, error) {
	w := n.Args[1]
	if !w.IsConst() || w.Type.Elems() < manyWeights {
		return nil, nil
	}
	data := w.Attrs.(*ir.Const).Data
	if data.DType != ir.F32 || data.Len() != w.Type.Elems() {
		return nil, nil
	}
	out, in := w.Type.Shape[0], w.Type.Shape[1]
	var bias []float32
	if len(n.Args) > 2 {
		t, err := constArg(n, 2)
		if err != nil {
			return nil, err
		}
		bias = t.Floats
	}
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		y := ir.NewTensor(n.Type)
		for v := 0; v*in < len(args[0].Floats); v++ {
			x := args[0].Floats[v*in : (v+1)*in]
			for c := range out {
				s0, s1 := floatSums(data.Bytes[4*c*in:4*(c+1)*in], x)
				if bias != nil {
					s0 += float64(bias[c])
				}
				y.Floats[v*out+c] = float32(s0 + s1)
			}
		}
		return y, nil
	}, nil
}

// floatSums adds the products with even and with odd index, as floatRows does; w is little-endian.
func floatSums(w []byte, x []float32) (s0, s1 float64) {
	at := func(w []byte) float64 { return float64(math.Float32frombits(le.LittleEndian.Uint32(w))) }
	for len(w) >= 8 && len(x) >= 2 {
		s0 += at(w) * float64(x[0])
		s1 += at(w[4:]) * float64(x[1])
		w, x = w[8:], x[2:]
	}
	if len(w) >= 4 && len(x) >= 1 {
		s0 += at(w) * float64(x[0])
	}
	return s0, s1
}
