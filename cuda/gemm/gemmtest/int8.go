// SPDX-License-Identifier: Apache-2.0

package gemmtest

import (
	"fmt"
	"math/big"

	"lathe/cuda"
	"lathe/cuda/gemm"
	"lathe/cuda/word"
	"lathe/ir/format"
)

// Int8 is the problem on the given channels and random bytes, extremes among them; plan comes from p.Plan.
func Int8(p gemm.Int8, plan gemm.Plan, seed uint64, channels []gemm.Channel) cuda.Case {
	acts := func() []byte { return Acts(p, seed) }
	return bytesCase(p, plan, seed, channels,
		byteOperands{int64(p.M) * int64(p.K), acts, acts, p.PackedBytes(), p.Pack, p.Word(), nil})
}

// HopperInt8 is Int8 for the kernel of sm_90a; plan comes from p.Plan.
func HopperInt8(p gemm.HopperInt8, plan gemm.Plan, seed uint64, channels []gemm.Channel) cuda.Case {
	acts := func() []byte { return Acts(p.Int8, seed) }
	return bytesCase(p.Int8, plan, seed, channels,
		byteOperands{int64(p.M) * int64(p.K), acts, acts, int64(p.N) * int64(p.K), p.Pack, p.Word(), nil})
}

// Conv8 is the problem on the given channels and random bytes, extremes among them; plan comes from p.Plan.
func Conv8(p gemm.Conv8, plan gemm.Plan, seed uint64, channels []gemm.Channel) cuda.Case {
	size := p.Count * p.H * p.W * p.C
	image := func() []byte { return Int8s(seed, "x", size) }
	seen := func() []byte { return windows(p.Images, image(), []byte{byte(p.Outside)}) }
	c := bytesCase(p.Int8, plan, seed, channels,
		byteOperands{int64(size), image, seen, p.PackedBytes(), p.Pack, p.Word(), p.Added})
	c.Bytes = p.Floor().Bytes
	c.Shape = imagesText(p.Images, p.N)
	c.Name = fmt.Sprintf("%s/%s to %dx%d, outside %d, %s", plan.Instances[0].Kernel, c.Shape, p.OH, p.OW, p.Outside,
		p.Result)
	return c
}

// ConvBytes is the convolution of images with p.N rows of weights, a code of outside beyond them; p.M and p.K follow.
func ConvBytes(i gemm.Images, p gemm.Int8, outside int) gemm.Conv8 {
	p.M, p.K = i.Count*i.OH*i.OW, i.KH*i.KW*i.C
	return gemm.Conv8{Images: i, Int8: p, Outside: outside}
}

// byteOperands are what a product of bytes multiplies.
type byteOperands struct {
	// x is as the kernel reads it, of so many bytes; rows are those of the product.
	size    int64
	x, rows func() []byte
	// packed is the size of weights that are packed by pack.
	packed int64
	pack   func(w []byte) []byte
	// word is that of the result, added what its codes have added; nil for nothing.
	word  word.Type
	added *gemm.Added
}

// bytesCase is a case of the product p of the operands in.
func bytesCase(p gemm.Int8, plan gemm.Plan, seed uint64, channels []gemm.Channel, in byteOperands) cuda.Case {
	var b operandsOf
	weights := func() []byte { return Int8s(seed, "w", p.N*p.K) }
	o := gemm.Operands{Bias: cuda.Null()}
	o.X = b.in("x", in.size, in.x)
	o.W = b.in("w", in.packed, func() []byte { return in.pack(weights()) })
	if !p.Raw {
		o.Bias = b.in("channels", int64(p.N)*gemm.ChannelBytes, func() []byte { return gemm.PackChannels(channels) })
	}
	more := func() []byte { return Int8s(seed, "r", p.M*p.N) }
	if in.added != nil {
		o.Residual = b.in("r", int64(p.M)*int64(p.N), more)
	}
	o.Y = b.out("y", int64(p.M)*int64(p.N)*int64(in.word.Bytes()))
	x := "int8"
	if p.Unsigned {
		x = "uint8"
	}
	c := cuda.CaseOf(p, plan, o)
	c.Name = fmt.Sprintf("%s/m=%d n=%d k=%d %s", plan.Instances[0].Kernel, p.M, p.N, p.K, p.Result)
	c.Shape, c.Formats = fmt.Sprintf("M=%d N=%d K=%d", p.M, p.N, p.K), x+" x int8 -> "+string(in.word)
	c.Buffers, c.Int8 = b.buffers, true
	c.Check = func(outputs [][]byte) cuda.Verdict {
		return checkCodes(p, in, weights(), channels, more(), outputs)
	}
	return c
}

// Acts draws the rows of x; the first is 0.
func Acts(p gemm.Int8, seed uint64) []byte {
	out := Int8s(seed, "x", p.M*p.K)
	clear(out[:min(p.K, len(out))])
	return out
}

// Codes8 are signed bytes that saturate.
var Codes8 = format.Fixed{W: 8, Signed: true}

// Int8s draws bytes, extremes among them.
func Int8s(seed uint64, operand string, n int) []byte {
	r := Dice(seed, operand)
	out := make([]byte, n)
	for i := range out {
		if out[i] = byte(r.Uint32()); r.IntN(16) == 0 {
			out[i] = [...]byte{0x80, 0x81, 0xFF, 0, 1, 127}[r.IntN(6)]
		}
	}
	return out
}

// checkCodes demands every code of a product with weights w, to which more are added where the case has that.
func checkCodes(p gemm.Int8, in byteOperands, w []byte, channels []gemm.Channel, more []byte,
	outputs [][]byte) cuda.Verdict {
	v, x, size := verdict{Verdict: cuda.Verdict{BitEqual: true}}, in.rows(), in.word.Bytes()
	for _, m := range sample(p.M, p.N*p.K) {
		for n := range p.N {
			sum := int64(0)
			for k := range p.K {
				a := int64(int8(x[m*p.K+k]))
				if p.Unsigned {
					a = int64(x[m*p.K+k])
				}
				sum += a * int64(int8(w[n*p.K+k]))
			}
			var c gemm.Channel
			if !p.Raw {
				c = channels[n]
			}
			i := m*p.N + n
			got := uint64(0)
			for b := range size {
				got |= uint64(outputs[0][i*size+b]) << (8 * b)
			}
			want := code(p, sum, c)
			if in.added != nil {
				want = sumCode(*in.added, p.Result.Round, want, more[i])
			}
			v.same(i, got, uint64(want)&(1<<(8*size)-1))
		}
	}
	return v.done()
}

// sumCode is the code of q and the byte r, by the definition.
func sumCode(a gemm.Added, round format.Round, q int64, r byte) int64 {
	v := int64(int8(r))
	if a.Unsigned {
		v = int64(r)
	}
	t := format.RSBig(big.NewInt(q*a.Mul+v*a.Factor+a.Bias), a.Shift, round)
	return a.Result.RequantBig(t.Add(t, big.NewInt(int64(a.Zero))), 0)
}

// Channels makes channels whose codes use their range, those of a real scale where mul is set.
func Channels(p gemm.Int8, seed uint64, mul bool) []gemm.Channel {
	r := Dice(seed, "channels")
	var out []gemm.Channel
	for range p.N {
		c := gemm.Channel{Mul: 1, Up: r.IntN(3)}
		c.Bias, c.Shift = (int64(r.IntN(1<<13))-1<<12)<<c.Up, c.Up+7+r.IntN(4) // ties are common
		if mul {
			c.Mul, c.Shift = int32(1<<30+r.IntN(1<<30)), 38+r.IntN(7)
		} else if r.IntN(8) == 0 {
			c.Shift = r.IntN(170) - 85 // to the left and to the right, and far beyond 64
			if r.IntN(4) == 0 {
				c.Bias = 0
			}
		}
		out = append(out, c)
	}
	return out
}

// code is the code of a sum in a channel, by the definition.
func code(p gemm.Int8, sum int64, c gemm.Channel) int64 {
	if p.Raw {
		return sum
	}
	t := big.NewInt(sum)
	t.Lsh(t, uint(c.Up)).Add(t, big.NewInt(c.Bias)).Mul(t, big.NewInt(int64(c.Mul)))
	t = format.RSBig(t, c.Shift, p.Result.Round)
	return p.Result.RequantBig(t.Add(t, big.NewInt(int64(p.Zero))), 0)
}
