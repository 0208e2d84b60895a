// SPDX-License-Identifier: Apache-2.0

package gemm

import (
	"fmt"

	"lathe/cuda"
	"lathe/ir/format"
)

// Case is the problem on the given channels and random bytes, extremes among them; plan comes from p.Plan.
func (p Int8) Case(plan Plan, seed uint64, channels []Channel) cuda.Case {
	var b operandsOf
	acts := func() []byte { return p.acts(seed) }
	weights := func() ([]byte, []byte) { return int8s(seed, "w", p.N*p.K), make([]byte, p.N*ceil(p.K, 32)) }
	o := Operands{Bias: cuda.Null()}
	o.X = b.in("x", int64(p.M)*int64(p.K), acts)
	o.W = b.in("w", LayoutInt8.Bytes(p.N, p.K), func() []byte {
		q, _ := weights()
		return LayoutInt8.Pack(q, p.N, p.K)
	})
	y, size := p.element()
	if !p.Raw {
		o.Bias = b.in("channels", int64(p.N)*ChannelBytes, func() []byte { return PackChannels(channels) })
	}
	o.Y = b.out("y", int64(p.M)*int64(p.N)*size)
	x := "int8"
	if p.Unsigned {
		x = "uint8"
	}
	c := cuda.CaseOf(p, plan, o)
	c.Name = fmt.Sprintf("%s/m=%d n=%d k=%d %s", plan.Instances[0].Kernel, p.M, p.N, p.K, p.Result)
	c.Shape, c.Formats = fmt.Sprintf("M=%d N=%d K=%d", p.M, p.N, p.K), x+" x int8 -> "+y
	c.Buffers, c.Int8 = b.buffers, true
	c.Check = func(outputs [][]byte) cuda.Verdict {
		q, _ := weights()
		return p.checkCodes(acts(), q, channels, outputs)
	}
	return c
}

// acts draws the rows of x; the first is 0.
func (p Int8) acts(seed uint64) []byte {
	out := int8s(seed, "x", p.M*p.K)
	clear(out[:min(p.K, len(out))])
	return out
}

// codes8 are signed bytes that saturate.
var codes8 = format.Fixed{W: 8, Signed: true}

// int8s draws bytes, extremes among them.
func int8s(seed uint64, operand string, n int) []byte {
	r := dice(seed, operand)
	out := make([]byte, n)
	for i := range out {
		if out[i] = byte(r.Uint32()); r.IntN(16) == 0 {
			out[i] = [...]byte{0x80, 0x81, 0xFF, 0, 1, 127}[r.IntN(6)]
		}
	}
	return out
}

// checkCodes demands every code.
func (p Int8) checkCodes(x, w []byte, channels []Channel, outputs [][]byte) cuda.Verdict {
	v := verdict{Verdict: cuda.Verdict{BitEqual: true}}
	_, size := p.element()
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
			var c Channel
			if !p.Raw {
				c = channels[n]
			}
			i := m*p.N + n
			got := uint64(0)
			for b := range size {
				got |= uint64(outputs[0][int64(i)*size+b]) << (8 * b)
			}
			v.same(i, got, uint64(p.Code(sum, c))&(1<<(8*size)-1))
		}
	}
	return v.done()
}

// DrawChannels makes channels whose codes use their range, those of a real scale where mul is set.
func (p Int8) DrawChannels(seed uint64, mul bool) []Channel {
	r := dice(seed, "channels")
	var out []Channel
	for range p.N {
		c := Channel{Mul: 1, Up: r.IntN(3)}
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
