// SPDX-License-Identifier: Apache-2.0

// Package attntest holds the cases of the attention kernels, with their definition in float64.
package attntest

import (
	"encoding/binary"
	"fmt"
	"math"

	"lathe/cuda"
	"lathe/cuda/attn"
	"lathe/cuda/word"
)

// Cases are the kernels of the family on the shapes that are checked and timed where a GPU is present. Error as
// cuda.Make.
func Cases() ([]cuda.Case, error) {
	var all []cuda.Case
	for _, c := range []struct {
		batch, heads, kv, queries, keys, dim int64
		causal                               attn.Causal
		sharp                                float64 // what multiplies the usual scale: 8 makes tops move from tile to tile
		timed, cached                        bool    // cached: keys and values in MXINT8 too
	}{
		{2, 2, 1, 130, 150, 64, attn.Full, 1, false, true}, {1, 2, 2, 70, 150, 128, attn.BottomRight, 8, false, true},
		{1, 1, 1, 70, 70, 256, attn.TopLeft, 1, false, true},
		{2, 2, 1, 70, 65, 8, attn.Full, 1, false, false}, {1, 2, 1, 130, 150, 16, attn.BottomRight, 1, false, true},
		{1, 2, 2, 70, 150, 32, attn.Full, 8, false, true},
		{1, 2, 1, 130, 95, 128, attn.Full, 1, false, true}, {2, 2, 1, 50, 145, 128, attn.BottomRight, 1, false, true},
		{4, 16, 16, 4096, 4096, 128, attn.Full, 1, true, true},
		{4, 16, 16, 4096, 4096, 128, attn.BottomRight, 1, true, false},
		{2, 16, 16, 8192, 8192, 128, attn.Full, 1, true, false}, {1, 16, 16, 16384, 16384, 128, attn.Full, 1, true, false},
		{16, 32, 32, 1024, 1024, 64, attn.Full, 1, true, false}, {32, 12, 12, 512, 512, 64, attn.Full, 1, true, false},
		{16, 32, 8, 64, 8192, 128, attn.BottomRight, 1, true, true},
	} {
		p := attn.SDPA{Word: word.BFloat16, Batch: c.batch, Heads: c.heads, KVHeads: c.kv, Queries: c.queries, Keys: c.keys,
			Dim: c.dim, Causal: c.causal, Scale: float32(c.sharp / math.Sqrt(float64(c.dim)))}
		p.Q, p.O = attn.Dense(c.heads, c.queries, c.dim), attn.Dense(c.heads, c.queries, c.dim)
		p.K, p.V = attn.Dense(c.kv, c.keys, c.dim), attn.Dense(c.kv, c.keys, c.dim)
		one, err := SDPA(p, c.timed)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
		if !c.cached {
			continue
		}
		cached := attn.MXINT8{SDPA: p, Scales: attn.Dense(c.kv, c.keys, (c.dim+31)/32)}
		if one, err = MXINT8(cached, c.timed); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	for _, family := range []func() ([]cuda.Case, error){decodes, appends, hopperCases} {
		more, err := family()
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// measured is the architecture whose configurations the cases have.
const measured = "sm_90"

// sample is element i of operand k of a case: a multiple of 1/64 within 2 of 0, which every format holds.
func sample(k, i int64) float64 {
	h := uint64(i)*0x9E3779B97F4A7C15 + uint64(k)*0xD1B54A32D192ED03
	h = (h ^ h>>29) * 0xBF58476D1CE4E5B9
	return float64(int64(h>>56)-128) / 64
}

// samples fills bf16 words.
func samples(k int64) func([]byte) {
	return func(b []byte) {
		for i := 0; i < len(b); i += 2 {
			binary.LittleEndian.PutUint16(b[i:], cuda.BF16Word(sample(k, int64(i/2))))
		}
	}
}

// SDPA is the kernel on samples, bf16, dense, without mask and lengths. Errors as those of the plan.
func SDPA(p attn.SDPA, timed bool) (cuda.Case, error) {
	a, err := cuda.FindArch(measured)
	if err != nil {
		return cuda.Case{}, err
	}
	plan, err := p.Plan(a)
	if err != nil {
		return cuda.Case{}, err
	}
	c, o := dense(p, plan.Instances[0], sample)
	return finished(c, cuda.CaseOf(p, plan, o), timed, "bf16 -> bf16"), nil
}

// finished joins the data of a case with its launches.
func finished(c, launches cuda.Case, timed bool, formats string) cuda.Case {
	c.Instances, c.Launches, c.Bytes, c.Flops = launches.Instances, launches.Launches, launches.Bytes, launches.Flops
	c.Timed, c.Formats = timed, formats
	return c
}

// dense is a case of an instance without launches: its buffers, with k and v in bf16, and the arguments that name them.
// Element i of q, k and v has the value value(0, i), value(1, i) and value(2, i).
func dense(p attn.SDPA, i cuda.Instance, value func(k, i int64) float64) (cuda.Case, attn.Args) {
	rows, shared := p.Batch*p.Heads*p.Queries, 2*p.Batch*p.KVHeads*p.Keys*p.Dim
	return cuda.Case{
			Name: fmt.Sprintf("%s/%dx%dx%dx%dx%d/causal=%d", i.Template.Name, p.Batch, p.Heads, p.Queries, p.Keys, p.Dim,
				p.Causal),
			Shape: fmt.Sprintf("batch %d, heads %d/%d, %d queries, %d keys, dimension %d", p.Batch, p.Heads, p.KVHeads,
				p.Queries, p.Keys, p.Dim),
			Instances: []cuda.Instance{i},
			Buffers: []cuda.CaseBuffer{
				{Name: "q", Bytes: 2 * rows * p.Dim, Fill: samples(0)}, {Name: "k", Bytes: shared, Fill: samples(1)},
				{Name: "v", Bytes: shared, Fill: samples(2)}, {Name: "o", Bytes: 2 * rows * p.Dim, Output: true},
				{Name: "lse", Bytes: 4 * rows, Output: true},
			},
			Check: func(out [][]byte) cuda.Verdict { return judge(p, out, value) },
		}, attn.Args{Q: cuda.Buffer(0), K: cuda.Buffer(1), V: cuda.Buffer(2), O: cuda.Buffer(3), LSE: cuda.Buffer(4),
			Mask: cuda.Null(), Lengths: cuda.Null()}
}

// searched is the number of products up to which a check looks at all rows.
const searched = 1 << 23

// judge compares all rows of small cases with the definition, and nine of others. A probability is rounded to bf16
// once, and so is the result: an output may be off by 2^-8 of the sum of the magnitudes that it is made of, and of
// itself; lse by 1e-5.
func judge(p attn.SDPA, out [][]byte, value func(k, i int64) float64) cuda.Verdict {
	v := cuda.Verdict{Tol: 1}
	rows := p.Batch * p.Heads * p.Queries
	step := max((rows-1)/8, 1)
	if rows*p.Keys*p.Dim <= searched {
		step = 1
	}
	for r := int64(0); r < rows; r += step {
		o, size, lse := define(p, r, value)
		note := func(what string, got, want, allowed float64) {
			share := math.Abs(got-want) / allowed
			if got == want {
				share = 0
			}
			v.MaxErr = max(v.MaxErr, share)
			if !(share <= 1) && v.Wrong == "" {
				v.Wrong = fmt.Sprintf("query row %d: %s is %v, want %v within %v", r, what, got, want, allowed)
			}
		}
		for c := range o {
			note(fmt.Sprintf("o[%d]", c), cuda.BF16At(out[0], r*p.Dim+int64(c)), o[c],
				0x1p-8*(math.Abs(o[c])+1.02*size[c])+1e-9)
		}
		note("lse", float64(math.Float32frombits(binary.LittleEndian.Uint32(out[1][4*r:]))), lse,
			1e-5*max(1, math.Abs(lse)))
	}
	return v
}

// define computes row r of a case in float64: outputs, the sums of magnitudes behind them, and lse.
func define(p attn.SDPA, r int64, value func(k, i int64) float64) (o, size []float64, lse float64) {
	last, i := p.Keys, r%p.Queries
	switch p.Causal {
	case attn.TopLeft:
		last = min(last, i+1)
	case attn.BottomRight:
		last = min(last, i+1+p.Keys-p.Queries)
	}
	return defineTo(p, r, last, value)
}

// defineTo computes row r of keys below last.
func defineTo(p attn.SDPA, r, last int64, value func(k, i int64) float64) (o, size []float64, lse float64) {
	o, size = make([]float64, p.Dim), make([]float64, p.Dim)
	head, sum := r/p.Queries, 0.0
	kv := (head/p.Heads*p.KVHeads + head%p.Heads/(p.Heads/p.KVHeads)) * p.Keys
	for j := range max(last, 0) {
		s := 0.0
		for c := range p.Dim {
			s += value(0, r*p.Dim+c) * value(1, (kv+j)*p.Dim+c)
		}
		w := math.Exp(s * float64(p.Scale)) // samples are small: nothing overflows
		sum += w
		for c := range o {
			x := w * value(2, (kv+j)*p.Dim+int64(c))
			o[c], size[c] = o[c]+x, size[c]+math.Abs(x)
		}
	}
	for c := range o {
		if sum > 0 {
			o[c], size[c] = o[c]/sum, size[c]/sum
		}
	}
	return o, size, math.Log(sum)
}
