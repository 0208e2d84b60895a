// SPDX-License-Identifier: Apache-2.0

package attn_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"lathe/cuda"
	"lathe/cuda/attn"
	"lathe/cuda/cudatest"
	"lathe/cuda/word"
)

// round is x in a format.
func round(w word.Float, x float64) float64 {
	if w == word.BFloat16 {
		return cuda.BF16(cuda.BF16Word(x))
	}
	return cudatest.F16Value(cudatest.F16Word(x))
}

func encode(w word.Float, v []float64) []byte {
	var out []byte
	for _, x := range v {
		bits := cuda.BF16Word(x)
		if w == word.Float16 {
			bits = cudatest.F16Word(x)
		}
		out = binary.LittleEndian.AppendUint16(out, bits)
	}
	return out
}

func decode(w word.Float, b []byte) []float64 {
	if w == word.BFloat16 {
		return cudatest.BF16(b)
	}
	var out []float64
	for ; len(b) > 0; b = b[2:] {
		out = append(out, cudatest.F16Value(binary.LittleEndian.Uint16(b)))
	}
	return out
}

// data are the operands of a problem, dense and in float64, each a value of its format.
type data struct {
	p       attn.SDPA
	q, k, v []float64
	mask    []float64 // [batch][queries][keys]; for attn.Keep 0 or 1
	lengths []int32
}

// newData makes operands: some queries are large, so that one key wins; one is NaN. Keys and values beyond a length are
// NaN. The mask forbids a third of the keys, all of them to query 3, and to query 5 those of the first tiles.
func newData(p attn.SDPA, lengths []int32) data {
	r := rand.New(rand.NewPCG(uint64(p.Queries*1000+p.Keys), uint64(p.Dim)))
	fill := func(heads, rows int64) []float64 {
		v := make([]float64, p.Batch*heads*rows*p.Dim)
		for i := range v {
			v[i] = round(p.Word, r.NormFloat64())
		}
		return v
	}
	d := data{p: p, q: fill(p.Heads, p.Queries), k: fill(p.KVHeads, p.Keys), v: fill(p.KVHeads, p.Keys), lengths: lengths}
	for i := range d.q {
		row := int64(i) / p.Dim % p.Queries
		if row%4 == 1 {
			d.q[i] = round(p.Word, d.q[i]*8)
		}
		if row == 7 && i%int(p.Dim) == 2 {
			d.q[i] = math.NaN()
		}
	}
	for b, n := range lengths {
		for i := range p.KVHeads * p.Keys * p.Dim {
			if i/p.Dim%p.Keys >= int64(n) {
				at := int64(b)*p.KVHeads*p.Keys*p.Dim + i
				d.k[at], d.v[at] = math.NaN(), math.NaN()
			}
		}
	}
	if p.Mask == attn.NoMask {
		return d
	}
	d.mask = make([]float64, p.Batch*d.masks()*p.Queries*p.Keys)
	for i := range d.mask {
		row, key := int64(i)/p.Keys%p.Queries, int64(i)%p.Keys
		forbidden := r.IntN(3) == 0 || row == 3 || row == 5 && key < p.Keys-2
		switch {
		case p.Mask == attn.Keep && !forbidden:
			d.mask[i] = 1
		case p.Mask != attn.Keep && forbidden:
			d.mask[i] = math.Inf(-1)
		case p.Mask != attn.Keep:
			d.mask[i] = round(p.Word, 2*r.NormFloat64())
		}
	}
	return d
}

// special puts NaN and infinities into single values of some keys, and NaN into all of a key that few queries may see:
// the last ones by a causal mask, or query 11 by a mask.
func (d data) special() {
	p, inside := d.p, d.p.Keys
	for _, n := range d.lengths {
		inside = min(inside, int64(n))
	}
	for head := range p.Batch * p.KVHeads {
		k, v := d.k[head*p.Keys*p.Dim:], d.v[head*p.Keys*p.Dim:]
		for n, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.NaN(), math.Inf(1)} {
			key := inside - 3 - int64(n)*7 // in two tiles
			v[key*p.Dim+int64(n)] = x
			v[key*p.Dim+p.Dim-9+int64(n)] = -x
		}
		v[(inside-5)*p.Dim+1] = math.Inf(-1) // Inf - Inf, for those who see both
		if first := p.Keys - p.Queries + 1; p.Causal == attn.BottomRight && first > 0 && first < inside {
			v[first*p.Dim+5] = math.NaN() // the first key that query 0 does not see
		}
		key := inside - 1
		if p.Causal == attn.TopLeft {
			key = min(key, p.Queries-1)
		}
		k[key*p.Dim+3], v[key*p.Dim+p.Dim-1] = math.NaN(), math.NaN()
		for i := range d.masks() * p.Queries {
			if p.Mask != attn.NoMask && i%p.Queries != 11 {
				d.mask[(head/p.KVHeads*d.masks()*p.Queries+i)*p.Keys+key] = forbids(p.Mask)
			}
		}
	}
}

// forbids is the element of a mask by which a key is not seen.
func forbids(m attn.Mask) float64 {
	if m == attn.Keep {
		return 0
	}
	return math.Inf(-1)
}

// maskBytes are the mask as the kernel reads it.
func (d data) maskBytes() []byte {
	switch d.p.Mask {
	case attn.AddF32:
		return cudatest.F32Bytes(d.mask)
	case attn.AddWord:
		return encode(d.p.Word, d.mask)
	}
	var out []byte
	for _, m := range d.mask {
		out = append(out, byte(m*7))
	}
	return out
}

// masks is how many masks a batch has: one, or one a head.
func (d data) masks() int64 {
	if d.p.MaskStrides.Head != 0 {
		return d.p.Heads
	}
	return 1
}

// allowed says whether query i of head h of batch b may see key j, and what is added to the score.
func (d data) allowed(b, h, i, j int64) (bias float64, ok bool) {
	p := d.p
	ok = d.lengths == nil || j < int64(d.lengths[b])
	switch p.Causal {
	case attn.TopLeft:
		ok = ok && j <= i
	case attn.BottomRight:
		ok = ok && j <= i+p.Keys-p.Queries
	}
	if p.Mask != attn.NoMask {
		m := d.mask[((b*d.masks()+h%d.masks())*p.Queries+i)*p.Keys+j]
		if p.Mask == attn.Keep {
			return 0, ok && m != 0
		}
		return m, ok && !math.IsInf(m, -1)
	}
	return 0, ok
}

// row computes query i by the definition in float64, where scores with a bias are rounded to fp32, and plainly: scores
// and sums in fp32, probabilities and outputs rounded to the format. off is the largest error of the plain result: of
// few columns not less than 2.5 standard deviations of what rounded probabilities do, which many columns show.
func (d data) row(b, h, i int64) (exact []float64, off, lse float64) {
	p, plain, squares := d.p, make([]float64, d.p.Dim), make([]float64, d.p.Dim)
	exact = make([]float64, p.Dim)
	q := d.q[((b*p.Heads+h)*p.Queries+i)*p.Dim:][:p.Dim]
	kv := (b*p.KVHeads + h/(p.Heads/p.KVHeads)) * p.Keys
	var scores, singles []float64
	var keys []int64
	top, topSingle := math.Inf(-1), math.Inf(-1)
	for j := range p.Keys {
		bias, ok := d.allowed(b, h, i, j)
		if !ok {
			continue
		}
		s, f := 0.0, float32(0)
		for c, k := range d.k[(kv+j)*p.Dim:][:p.Dim] {
			s += q[c] * k
			f += float32(q[c]) * float32(k)
		}
		s = s*float64(p.Scale) + bias
		if p.Mask >= attn.AddF32 {
			s = float64(float32(s)) // a bias may be so large that nothing else is left
		}
		f = f*p.Scale + float32(bias)
		scores, singles, keys = append(scores, s), append(singles, float64(f)), append(keys, j)
		top, topSingle = max(top, s), max(topSingle, float64(f))
	}
	sum, single := 0.0, float32(0)
	for n := range scores {
		sum += math.Exp(scores[n] - top)
		single += float32(math.Exp(singles[n] - topSingle))
	}
	for n, j := range keys {
		w := math.Exp(scores[n]-top) / sum
		f := round(p.Word, float64(float32(math.Exp(singles[n]-topSingle))/single))
		for c, v := range d.v[(kv+j)*p.Dim:][:p.Dim] {
			exact[c] += w * v
			squares[c] += w * v * w * v
			plain[c] = float64(float32(plain[c] + f*v))
		}
	}
	for c := range plain {
		if e := math.Abs(round(p.Word, plain[c]) - exact[c]); e > off {
			off = e
		}
		if e := unit(p.Word) / 2 * math.Sqrt(squares[c]); p.Dim < 64 && e > off && !math.IsInf(e, 0) {
			off = e
		}
	}
	return exact, off, top + math.Log(sum)
}
