// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"math/rand/v2"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl/rtltest"
)

// Frames of changing length. A frame of these benches is n tokens, which are one frame of the module, or several.

// lengths are those of the frames that the tokens of a bench's frame make up.
func lengths(n, frame int, uneven bool) (list []int) {
	r := rand.New(rand.NewPCG(uint64(frame), 99))
	for left := n; left > 0; left -= list[len(list)-1] {
		length := n
		if uneven && frame != 1 {
			length = 1 + r.IntN(left)
		}
		if uneven && frame == 0 {
			length = 1
		}
		list = append(list, length)
	}
	return list
}

// lastBits are a bit a token: 1 for the last of its frame.
func lastBits(lengths []int) (bits []int64) {
	for _, n := range lengths {
		for t := range n {
			bits = append(bits, int64(flag(t == n-1)))
		}
	}
	return bits
}

// marked is a stream of tokens with the mark of its frames above the elements of each beat.
type marked struct {
	tokens, beats, lanes, width int // beats of all tokens
	signed, uneven              bool
}

// words puts codes, drawn where there are none, and marks into beats.
func (m marked) words(r *rand.Rand, frame int, codes []int64) (words []int64) {
	bits := lastBits(lengths(m.tokens, frame, m.uneven))
	least, most := bounds(m.width, m.signed)
	for i := range m.beats {
		v := int64(0)
		if each := m.beats / m.tokens; (i+1)%each == 0 {
			v = bits[i/each]
		}
		for l := m.lanes - 1; l >= 0; l-- {
			code := between(r, least, most)
			if codes != nil {
				code = codes[i*m.lanes+l]
			}
			v = v<<m.width | code&(1<<m.width-1)
		}
		words = append(words, v)
	}
	return words
}

// codes takes beats apart: the codes, and the lengths of the frames.
func (m marked) codes(words []int64) (codes []int64, list []int) {
	from, each := 0, m.beats/m.tokens
	for i, w := range words {
		for l := range m.lanes {
			code := w >> (l * m.width) & (1<<m.width - 1)
			if m.signed && code>>(m.width-1) == 1 {
				code -= 1 << m.width
			}
			codes = append(codes, code)
		}
		if w>>(m.width*m.lanes) == 1 {
			list, from = append(list, (i+1)/each-from), (i+1)/each
		}
	}
	return codes, list
}

// withEnds is b, of n tokens of elements of so many bits on a port, where frames change in length. of computes a frame
// the module, given the number of its tokens and the codes of every port.
func withEnds(b rtltest.Bench, n, port, width int, uneven bool,
	of func(length int, in [][]int64) []int64) rtltest.Bench {
	b.Untimed, b.Frames = uneven, 12
	b.Params = append(b.Params[:len(b.Params):len(b.Params)], rtltest.P("ENDS", 1))
	b.In = append([]rtltest.Port(nil), b.In...)
	p := &b.In[port]
	m := marked{n, max(p.Beats, 1), max(p.Lanes, 1), width, p.Signed, uneven}
	p.Lanes, p.Signed, p.Width = 1, false, m.width*m.lanes+1
	drawn := b.Gen
	b.Gen = func(r *rand.Rand, at, frame int) []int64 {
		var codes []int64
		if drawn != nil {
			codes = drawn(r, at, frame)
		}
		if at == port {
			codes = m.words(r, frame, codes)
		}
		return codes
	}
	b.BigModel = nil
	b.Model = func(in [][]int64) [][]int64 {
		codes, list := m.codes(in[port])
		all := append([][]int64(nil), in...)
		all[port] = codes
		var out []int64
		for _, length := range list {
			part := make([][]int64, len(all))
			for i := range all {
				size := len(in[i]) / n * length
				if i == port {
					size *= m.lanes
				}
				part[i], all[i] = all[i][:size], all[i][size:]
			}
			out = append(out, of(length, part)...)
		}
		return [][]int64{out}
	}
	return b
}

// framedAttend is a point of either product, of as many queries as keys.
func framedAttend(c attend, module string, uneven bool) rtltest.Bench {
	c.keys, c.offset = c.queries, 0
	if c.row < c.keys || c.row%c.r != 0 {
		c.row = (c.keys + c.r - 1) / c.r * c.r
	}
	return withEnds(c.packable(module).bench(module), c.keys, 1, c.bW, uneven, func(length int, in [][]int64) []int64 {
		d := c
		d.queries, d.keys = length, length
		if module == "op_attend_sum" {
			return d.sums(in[0], in[1])
		}
		return d.scores(in[0], in[1])
	})
}

func TestAttendFramed(t *testing.T) {
	t.Parallel()
	for i, c := range tools.Few(2, []attend{attends[0], attends[2], attends[3], attends[5], attends[8], attends[11]}) {
		for k, module := range []string{"op_attend_scores", "op_attend_sum"} {
			c.causal = i%2 == 1
			rtltest.Run(t, framedAttend(c, module, (i/2+k)%2 == 0))
			if c.queries = max(c.queries, 4); i < 3 {
				c.causal = !c.causal
				rtltest.Run(t, framedAttend(c, module, true))
			}
		}
	}
}

// softmaxFramed is a bench of op_softmax_framed.
func (s softmax) framed(uneven bool) rtltest.Bench {
	b, n := s.masked(), s.rows/s.heads
	b.Module, b.Untimed = "op_softmax_framed", uneven
	b.Params = append(s.params()[1:], rtltest.P("TOKENS", n), rtltest.P("HEADS", s.heads), rtltest.P("CAUSAL", s.causal))
	b.In[1] = rtltest.Port{Name: "b", Beats: n}
	b.Gen = func(r *rand.Rand, port, frame int) []int64 {
		if port == 0 {
			return s.gen(r, port, frame)
		}
		return lastBits(lengths(n, frame, uneven))
	}
	b.Model = func(in [][]int64) [][]int64 {
		var out []int64
		from := 0
		for i, last := range in[1] {
			if last == 0 {
				continue
			}
			for r := from * s.heads; r < (i+1)*s.heads; r++ {
				seen := i + 1 - from
				if s.causal == 1 {
					seen = r/s.heads - from + 1
				}
				out = append(out, s.of(in[0][r*s.n:(r+1)*s.n], func(j int) bool { return j < seen })...)
			}
			from = i + 1
		}
		return [][]int64{out}
	}
	return b
}

func TestSoftmaxFramed(t *testing.T) {
	t.Parallel()
	for i, s := range tools.Few(2, []softmax{
		{rows: 8, heads: 2, n: 4, lanes: 1, inW: 8, signed: 1, scale: 1. / 16, outW: 8, fo: 8},
		{rows: 5, heads: 1, n: 6, lanes: 2, inW: 16, signed: 1, scale: 1. / 1024, outW: 16, fo: 16},
		{rows: 9, heads: 3, n: 3, lanes: 3, inW: 8, signed: 0, scale: 1. / 32, outW: 8, fo: 8},
		{rows: 1, heads: 1, n: 2, lanes: 1, inW: 8, signed: 1, scale: 1. / 16, outW: 8, fo: 8},
		{rows: 60, heads: 2, n: 30, lanes: 1, inW: 16, signed: 1, scale: 1. / 1024, outW: 8, fo: 8},
	}) {
		for k := range 4 {
			s.causal = k % 2
			if i > 1 && k == i%4 {
				continue
			}
			rtltest.Run(t, s.framed(k > 1))
		}
	}
}

func (c rotate) framed(uneven bool) rtltest.Bench {
	return withEnds(c.bench(), c.tokens, 0, c.x.width, uneven, func(_ int, in [][]int64) []int64 { return c.model(in[0]) })
}

func TestRotateFramed(t *testing.T) {
	t.Parallel()
	for i, c := range tools.Few(2, rotates) {
		c.flush = 1
		c.tokens = max(c.tokens, 2)
		c.cos, c.sin = nil, nil
		c.fill(rand.New(rand.NewPCG(7, uint64(i))))
		rtltest.Run(t, c.framed(i%3 > 0))
	}
}

func TestPairConstFramed(t *testing.T) {
	t.Parallel()
	for i, p := range pairs[:4] {
		r := rand.New(rand.NewPCG(43, uint64(i)))
		const tokens = 5
		p.beats *= tokens
		lo, hi := bounds(p.b.width, p.b.signed)
		b := make([]int64, p.lanes*p.beats)
		for k := range b {
			b[k] = between(r, lo, hi)
		}
		rtltest.Run(t, withEnds(p.bench(b), tokens, 0, p.a.width, i%2 == 0, func(_ int, in [][]int64) (out []int64) {
			for k, x := range in[0] {
				out = append(out, p.of(x, b[k]).Int64())
			}
			return out
		}))
	}
}

func TestSliceFramed(t *testing.T) {
	t.Parallel()
	for _, beats := range []int{1, 2, 3} { // of a token
		const tokens, width = 4, 6
		b := slice{width, beats * tokens, 0, beats, beats, 1, 1}.bench()
		b.Params = append(b.Params, rtltest.P("ENDS", 1))
		b.In = []rtltest.Port{{Name: "in", Width: width + 1, Beats: beats * tokens}}
		b.Gen = func(r *rand.Rand, _, _ int) (words []int64) {
			for range beats * tokens {
				words = append(words, r.Int64N(1<<width))
			}
			words[(1+r.IntN(tokens-1))*beats-1] |= 1 << width // two frames each, for outputs of one length
			words[len(words)-1] |= 1 << width
			return words
		}
		b.BigModel, b.Untimed = nil, true
		b.Model = func(in [][]int64) [][]int64 {
			var out []int64
			begin := 0
			for i, w := range in[0] {
				if i-begin < beats {
					out = append(out, w&(1<<width-1))
				}
				if w>>width == 1 {
					begin = i + 1
				}
			}
			return [][]int64{out}
		}
		rtltest.Run(t, b)
	}
}

// TestFramedBroken has the benches look at frames that are a token too long or too short for one part.
func TestFramedBroken(t *testing.T) {
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	attention := func(module string, causal bool) func() rtltest.Bench {
		return func() rtltest.Bench {
			c := attends[0]
			c.causal = causal
			return framedAttend(c, module, true)
		}
	}
	weights := func() rtltest.Bench {
		return softmax{rows: 8, heads: 2, n: 4, lanes: 1, inW: 8, signed: 1, scale: 1. / 16, outW: 8, fo: 8}.framed(true)
	}
	broken(t, "op_attend_walk.sv", "NW'(token) + NW'(1) == tokens", "NW'(token) == tokens",
		attention("op_attend_sum", false))
	broken(t, "op_attend_walk.sv", "LW'(tokens) - LW'(passed)", "LW'(tokens) - LW'(passed) + LW'(1)",
		attention("op_attend_scores", false))
	broken(t, "mem_kv.sv", "assign tokens = from ? odd : even", "assign tokens = from ? even : odd",
		attention("op_attend_scores", false))
	broken(t, "mem_kv.sv", "odd <= token + NW'(1)", "odd <= token", attention("op_attend_scores", true))
	broken(t, "op_softmax_framed.sv", "token + T_W'(1) == tokens", "token == tokens", weights)
	broken(t, "op_softmax_framed.sv", "assign bound = J_W'(tokens)", "assign bound = J_W'(tokens) - J_W'(1)", weights)
	broken(t, "stream_count.sv", "count <= in_data ? NW'(1)", "count <= in_data ? NW'(2)", weights)
	r := rotates[0]
	r.flush = 1
	r.fill(rand.New(rand.NewPCG(7, 0)))
	broken(t, "op_rotate.sv", "last_q <= marked", "last_q <= !marked", func() rtltest.Bench { return r.framed(true) })
}
