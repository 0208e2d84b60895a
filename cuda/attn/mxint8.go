// SPDX-License-Identifier: Apache-2.0

package attn

import (
	"strconv"

	"lathe/cuda"
	"lathe/cuda/word"
)

// MXINT8 is SDPA with keys and values as blocks of 32 elements along the head dimension that share a scale, which is
// how a cache grows key by key. The strides of K and V count bytes and are equal; Scales are the distances of scales, a
// byte a block, for both. Queries and outputs are bf16, and there is no mask.
type MXINT8 struct {
	SDPA
	Scales Strides
}

// MXINT8Args are Args with the scales of keys and values.
type MXINT8Args struct {
	Args
	KScales, VScales cuda.Arg
}

// cachedKeys are the keys of a tile of dimension 256: the encoded tiles need room beside the decoded ones.
const cachedKeys = 32

func (p MXINT8) tile() tile {
	t, _ := p.SDPA.tile()
	if p.Dim == 256 {
		t.keys = cachedKeys
	}
	return t
}

// Plan is the kernel. Errors as that of SDPA.
func (p MXINT8) Plan(a cuda.Arch) (cuda.Plan[MXINT8Args], error) {
	return planned(a, p, decode)
}

// decode is what to do with a problem that only the kernel on floats takes.
const decode = "decode keys and values, and use sdpa"

// Valid reports what no kernel can take on any architecture: error L0990.
func (p MXINT8) Valid() error {
	switch {
	case p.Word != word.BFloat16:
		return refuse("sdpa_mxint8", "queries in %v: MXINT8 is exact in bf16 only", p.Word).WithHint(decode)
	case p.Mask != NoMask:
		return refuse("sdpa_mxint8", "a mask").WithHint(decode)
	case p.Dim == 8:
		return refuse("sdpa_mxint8", "head dimension 8: rows of bytes start at multiples of 16").WithHint(decode)
	case p.K != p.V || p.K.Batch%16 != 0 || p.K.Head%16 != 0 || p.K.Row%16 != 0:
		return refuse("sdpa_mxint8", "strides %v of keys and %v of values: they must be equal, and rows start at multiples "+
			"of 16 bytes", p.K, p.V).WithHint(decode)
	}
	return p.SDPA.Valid()
}

func (p MXINT8) instance() (cuda.Instance, error) {
	t, causal := p.tile(), 0
	if p.Causal != Full {
		causal = 1
	}
	var params []string
	for _, n := range []int{int(p.Dim), t.keys, t.queries, warps, causal} {
		params = append(params, strconv.Itoa(n))
	}
	return cuda.Named("sdpa_mxint8", params...)
}

func (p MXINT8) launches(i cuda.Instance, shared int, a MXINT8Args) []cuda.Launch {
	args := append([]cuda.Arg{a.Q, a.K, a.KScales, a.V, a.VScales, a.Lengths, a.O, a.LSE}, p.scalars()...)
	return p.launch(i, shared, args, p.Q, p.K, p.Scales, p.O)
}

// Floor is that of SDPA with 8.25 bits a key's or value's element.
func (p MXINT8) Floor() cuda.Floor {
	f := p.SDPA.Floor()
	f.Bytes -= 2 * p.Batch * p.KVHeads * p.Keys * (p.Dim - (p.Dim+31)/32)
	return f
}
