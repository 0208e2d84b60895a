// SPDX-License-Identifier: Apache-2.0

package column

import (
	"lathe/cuda"
	"lathe/cuda/word"
	"lathe/ir"
	"lathe/ir/format"
)

// CUDAUnit is a unit of one call: problem p of each sample.
func CUDAUnit[O any](u *cuda.Unit, p cuda.Batched[O], o O, t cuda.Target) (*cuda.Unit, error) {
	call, err := p.Call(o, t)
	if err != nil {
		return nil, cuda.Refused(err)
	}
	u.Calls = []cuda.Call{call}
	return u, nil
}

// FloatWord is the float in which kernels read and write values of type t; a Refusal for codes.
func FloatWord(n *ir.Node, t ir.Type) (word.Float, error) {
	switch t.Format {
	case format.FP32:
		return word.Float32, nil
	case format.BF16:
		return word.BFloat16, nil
	case format.F16:
		return word.Float16, nil
	}
	return 0, cuda.Refuse("%s of %s", n.Op.Name, t.Format)
}

// FloatWords are those of the first argument and of the result.
func FloatWords(n *ir.Node) (in, out word.Float, err error) {
	if in, err = FloatWord(n, n.Args[0].Type); err == nil {
		out, err = FloatWord(n, n.Type)
	}
	return in, out, err
}
