// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/num"
	"lathe/rtl/rtltest"
)

// recur is a point of op_recur, named as there. Functions are random tables, or smooth.
type recur struct {
	kind, steps, hidden, in, out int // 3 is op_recur_reset
	relu, smooth                 bool
	cells, starts                bool // rows have c beside h; frames begin with states of their own
	x                            format
	xUp, wW, sumF                int
	gateW, gateF, cellW, cellF   int
	y                            format
	yF, round, over              int
	mult                         string
	weights                      [][]int64
	bias, h0, c0                 []int64
	tanh, sigmoid                lookup
}

// lookup is a function of codes.
type lookup struct {
	table  []int64
	smooth *interp
}

func (l *lookup) of(code int64) int64 {
	if l.smooth != nil {
		return l.smooth.code(code)
	}
	return l.table[code&int64(len(l.table)-1)]
}

// parts are the parameters of the function, and its image.
func (l *lookup) parts(name string, width int) ([]rtl.Param, rtl.Image) {
	if l.smooth == nil {
		im := rtl.Image{Param: name, Width: width}
		for _, v := range l.table {
			im.Words = append(im.Words, num.Fit(big.NewInt(v), width, false, num.Wrap))
		}
		return nil, im
	}
	im := l.smooth.bench().Images[0]
	im.Param = name
	p := rtltest.P
	return []rtl.Param{p(name+"_D", l.smooth.d), p(name+"_V_W", 28), p(name+"_C1_W", 24), p(name+"_C2_W", 18)}, im
}

// gates are the rows of a hidden unit.
func (c *recur) gates() int { return []int{4, 3, 1, 3}[c.kind] }

// results are the format of tanh.
func (c *recur) results() (f format, frac int) {
	if c.kind == 2 {
		return c.y, c.yF
	}
	return format{c.gateW, true}, c.gateW - 1
}

// fill draws weights, some of them extreme, biases and functions.
func (c *recur) fill(r *rand.Rand) {
	least, most := bounds(c.wW, true)
	for i := range c.gates() * c.hidden {
		row := make([]int64, c.hidden)
		for j := range row {
			row[j] = []int64{least, most, between(r, least, most)}[min(i%7, 2)]
		}
		c.weights = append(c.weights, row)
	}
	for range c.hidden {
		c.bias = append(c.bias, between(r, least, most))
	}
	least, most = bounds(c.y.width, c.y.signed)
	low, high := bounds(c.cellW, true)
	for range c.hidden {
		c.h0, c.c0 = append(c.h0, between(r, least, most)), append(c.c0, between(r, low, high))
	}
	f, frac := c.results()
	from := func(f format, of func(float64) float64, d, frac, edge int) lookup {
		if c.smooth {
			return lookup{smooth: &interp{f: of, lanes: 1, in: format{c.gateW, true}, out: f, fx: c.gateF, d: d, fo: frac,
				edge: edge, frames: 1, beats: 1}}
		}
		least, most := bounds(f.width, f.signed)
		var l lookup
		for range 1 << c.gateW {
			l.table = append(l.table, between(r, least, most))
		}
		return l
	}
	c.tanh = from(f, math.Tanh, 3, frac, 2)
	if f == c.y {
		if s := c.tanh.smooth; s != nil {
			s.round, s.over = c.round, c.over
		}
	}
	c.sigmoid = from(format{c.gateW, false}, sigmoid, 4, c.gateW, 1)
	for _, l := range []*lookup{&c.tanh, &c.sigmoid} {
		if l.smooth != nil {
			l.smooth.sample()
		}
	}
}

// fit rounds a value of frac fraction bits to even.
func fit(v int64, frac, width, to int) int64 {
	return num.Cast{Shift: frac - to, Width: width, Signed: true}.Of(big.NewInt(v)).Int64()
}

func (c *recur) gate(v int64, frac int) int64 { return fit(v, frac, c.gateW, c.gateF) }

// result is the cast to the output.
func (c *recur) result(v int64, frac int) int64 {
	return num.Cast{Shift: frac - c.yF, Width: c.y.width, Signed: c.y.signed, Round: c.round,
		Over: c.over}.Of(big.NewInt(v)).Int64()
}

// model goes over the rows of a frame.
func (c *recur) model(x []int64) (y []int64) {
	h, cells := make([]int64, c.hidden), make([]int64, c.hidden)
	if c.starts {
		h, cells = c.h0, append(cells[:0], c.c0...)
	}
	for ; len(x) > 0; x = x[c.gates()*c.hidden:] {
		before := c.before(x, h, cells)
		next := make([]int64, c.hidden)
		for j := range next {
			next[j] = c.unit(j, x[j*c.gates():(j+1)*c.gates()], h, cells, before)
		}
		for j, v := range next {
			if y = append(y, v); c.cells {
				y = append(y[:len(y)-1], v<<(c.cellF-c.yF), cells[j])
			}
		}
		h = next
	}
	return y
}

// before are the states of all units behind reset gates that stand before the product.
func (c *recur) before(x, h, cells []int64) (out []int64) {
	for j := 0; j < c.hidden && c.kind == 3; j++ {
		r := c.sigmoid.of(c.gate(c.sum(j, 1, x[3*j+1], h), c.sumF))
		out = append(out, c.result(r*cells[j], c.gateW+c.cellF))
	}
	return out
}

// sum is that of gate g of unit j, without a bias.
func (c *recur) sum(j, g int, x int64, h []int64) int64 {
	sum := x << c.xUp
	for i, w := range c.weights[j*c.gates()+g] {
		sum += w * h[i]
	}
	return sum
}

// unit is h of unit j, whose cell it replaces; before are those of before.
func (c *recur) unit(j int, x, h, cells, before []int64) int64 {
	sums := make([]int64, len(x))
	for g := range sums {
		switch {
		case g == 2 && c.kind == 1:
			sums[g] = c.sum(j, g, 0, h) + c.bias[j]
		case g == 2 && c.kind == 3:
			sums[g] = c.sum(j, g, x[g], before)
		default:
			sums[g] = c.sum(j, g, x[g], h)
		}
	}
	one, th := int64(1)<<c.gateW, c.gateW-1
	switch c.kind {
	case 0:
		in, forget, out := c.sigmoid.of(c.gate(sums[0], c.sumF)), c.sigmoid.of(c.gate(sums[1], c.sumF)),
			c.sigmoid.of(c.gate(sums[3], c.sumF))
		frac := c.gateW + max(c.cellF, th)
		kept := (forget * cells[j]) << (frac - c.gateW - c.cellF)
		added := (in * c.tanh.of(c.gate(sums[2], c.sumF))) << (frac - c.gateW - th)
		cells[j] = fit(kept+added, frac, c.cellW, c.cellF)
		return c.result(out*c.tanh.of(c.gate(cells[j], c.cellF)), c.gateW+th)
	case 1, 3:
		z, reset := c.sigmoid.of(c.gate(sums[0], c.sumF)), c.sigmoid.of(c.gate(sums[1], c.sumF))
		n := c.tanh.of(c.gate(sums[2], c.sumF))
		if c.kind == 1 {
			n = c.tanh.of(c.gate(x[2]<<(c.xUp+c.gateW)+reset*sums[2], c.sumF+c.gateW))
		}
		fine := max(c.cellF, th)
		sum := (one-z)*n<<(fine-th) + z*(cells[j]<<(fine-c.cellF))
		cells[j] = fit(sum, fine+c.gateW, c.cellW, c.cellF)
		return c.result(cells[j], c.cellF)
	}
	if c.relu {
		return c.result(max(sums[0], 0), c.sumF)
	}
	return c.tanh.of(c.gate(sums[0], c.sumF))
}

// widthT is that of any sum.
func (c *recur) widthT() int {
	most := int64(1)<<(c.x.width+c.xUp) + 1<<c.wW
	return bits(big.NewInt(most + int64(c.hidden)<<(c.wW-1+c.y.width)))
}

// image packs the weights of each group and fold.
func (c *recur) image() rtl.Image {
	rows := c.gates() * c.out
	im := rtl.Image{Param: "WEIGHTS", Width: rows * c.in * c.wW}
	for group := 0; group < len(c.weights); group += rows {
		for fold := 0; fold < c.hidden; fold += c.in {
			var all []int64
			for _, row := range c.weights[group : group+rows] {
				all = append(all, row[fold:fold+c.in]...)
			}
			im.Words = append(im.Words, word(c.wW, all))
		}
	}
	return im
}

// packed are words of so many numbers of v.
func packed(name string, width int, v []int64, lanes int) rtl.Image {
	im := rtl.Image{Param: name, Width: lanes * width}
	for ; len(v) > 0; v = v[lanes:] {
		im.Words = append(im.Words, word(width, v[:lanes]))
	}
	return im
}

func (c *recur) bench() rtltest.Bench {
	p, f := rtltest.P, c.gates()*c.out
	b := rtltest.Bench{
		Module: "op_recur",
		Params: []rtl.Param{p("KIND", c.kind), p("RELU", flag(c.relu)), p("STEPS", c.steps), p("HIDDEN", c.hidden),
			p("IN_LANES", c.in), p("OUT_LANES", c.out), p("X_W", c.x.width), p("X_SIGNED", flag(c.x.signed)),
			p("X_UP", c.xUp), p("W_W", c.wW), p("T_W", c.widthT()), p("SUM_F", c.sumF), p("GATE_W", c.gateW),
			p("GATE_F", c.gateF), p("CELL_W", c.cellW), p("CELL_F", c.cellF), p("OUT_W", c.y.width), p("OUT_F", c.yF),
			p("OUT_SIGNED", flag(c.y.signed)), p("ROUND", c.round), p("OVER", c.over), p("SMOOTH", flag(c.smooth))},
		Images: []rtl.Image{c.image()},
		In:     []rtltest.Port{{Name: "in", Lanes: f, Signed: c.x.signed, Beats: c.steps * c.hidden / c.out}},
		Out:    []rtltest.Port{{Name: "out", Lanes: c.out * (1 + flag(c.cells)), Signed: c.y.signed || c.cells}},
		Model:  func(in [][]int64) [][]int64 { return [][]int64{c.model(in[0])} },
		Seed:   uint64(c.hidden + c.in), Frames: 12,
	}
	add := func(params []rtl.Param, im ...rtl.Image) {
		b.Params, b.Images = append(b.Params, params...), append(b.Images, im...)
	}
	if !c.relu {
		result, _ := c.results()
		params, im := c.tanh.parts("TANH", result.width)
		add(params, im)
	}
	if c.kind != 2 {
		params, im := c.sigmoid.parts("SIGMOID", c.gateW)
		add(params, im)
	}
	if c.kind == 1 {
		add([]rtl.Param{p("BIAS_W", c.wW)}, packed("BIAS", c.wW, c.bias, c.out))
	}
	if c.cells {
		add([]rtl.Param{p("CELLS", 1)})
	}
	if c.starts {
		add([]rtl.Param{p("STARTS", 1)}, packed("START", c.y.width, c.h0, c.hidden))
		if c.kind < 2 {
			add(nil, packed("START_C", c.cellW, c.c0, c.out))
		}
	}
	if c.kind == 3 {
		b.Module, b.Params = "op_recur_reset", b.Params[2:]
	}
	if c.mult != "" {
		b.Params = append(b.Params, text("MULT", c.mult))
	}
	return b
}

// recurs are all kinds, with one and several groups, folds and rows, tables and parabolas, wide and narrow states.
var recurs = []recur{
	{kind: 0, steps: 3, hidden: 6, in: 2, out: 3, x: fixed8, xUp: 3, wW: 5, sumF: 9, gateW: 6, gateF: 3,
		cellW: 10, cellF: 8, y: fixed8, yF: 7, cells: true, starts: true},
	{kind: 0, steps: 2, hidden: 4, in: 4, out: 1, x: format{6, false}, wW: 4, sumF: 7, gateW: 7, gateF: 4,
		cellW: 9, cellF: 4, y: format{5, true}, yF: 3, round: num.Floor, over: num.Wrap, mult: "lut", starts: true},
	{kind: 0, steps: 4, hidden: 2, in: 1, out: 2, x: fixed16, xUp: 1, wW: 8, sumF: 14, gateW: 14, gateF: 10,
		cellW: 18, cellF: 13, y: format{12, true}, yF: 11, smooth: true, cells: true},
	{kind: 0, steps: 1, hidden: 1, in: 1, out: 1, x: fixed8, wW: 3, sumF: 5, gateW: 5, gateF: 2, cellW: 6,
		cellF: 2, y: format{4, false}, yF: 4},
	{kind: 1, steps: 3, hidden: 6, in: 3, out: 2, x: fixed8, xUp: 2, wW: 5, sumF: 8, gateW: 6, gateF: 3,
		cellW: 9, cellF: 8, y: fixed8, yF: 7},
	{kind: 1, steps: 2, hidden: 4, in: 2, out: 4, x: format{6, false}, xUp: 1, wW: 4, sumF: 7, gateW: 7,
		gateF: 4, cellW: 7, cellF: 3, y: format{5, true}, yF: 2, round: num.Up, starts: true},
	{kind: 1, steps: 3, hidden: 2, in: 2, out: 1, x: fixed16, wW: 7, sumF: 13, gateW: 13, gateF: 9, cellW: 16,
		cellF: 15, y: format{10, true}, yF: 9, smooth: true},
	{kind: 3, steps: 3, hidden: 6, in: 2, out: 3, x: fixed8, xUp: 2, wW: 5, sumF: 8, gateW: 6, gateF: 3,
		cellW: 9, cellF: 8, y: fixed8, yF: 7},
	{kind: 3, steps: 2, hidden: 4, in: 4, out: 1, x: format{6, false}, xUp: 1, wW: 4, sumF: 7, gateW: 7,
		gateF: 4, cellW: 7, cellF: 3, y: format{5, true}, yF: 2, round: num.Up, mult: "lut"},
	{kind: 3, steps: 2, hidden: 2, in: 1, out: 2, x: fixed16, wW: 7, sumF: 13, gateW: 13, gateF: 9, cellW: 16,
		cellF: 15, y: format{10, true}, yF: 9, smooth: true},
	{kind: 2, steps: 4, hidden: 6, in: 2, out: 2, x: fixed8, xUp: 2, wW: 6, sumF: 9, gateW: 7, gateF: 4,
		y: fixed8, yF: 7, cellW: 1, starts: true},
	{kind: 2, steps: 3, hidden: 3, in: 3, out: 3, x: fixed16, wW: 6, sumF: 12, gateW: 13, gateF: 9,
		y: format{9, true}, yF: 8, smooth: true, round: num.Floor, cellW: 1},
	{kind: 2, steps: 3, hidden: 4, in: 1, out: 2, relu: true, x: fixed8, xUp: 3, wW: 5, sumF: 9, gateW: 4,
		y: format{6, false}, yF: 4, cellW: 1, mult: "lut"},
	// More rows than stages.
	{kind: 2, steps: 11, hidden: 2, in: 1, out: 1, relu: true, x: fixed8, xUp: 1, wW: 4, sumF: 7, gateW: 4,
		y: fixed8, yF: 6, cellW: 1},
}

func TestRecur(t *testing.T) {
	t.Parallel()
	for i, c := range tools.Few(3, recurs) {
		c.fill(rand.New(rand.NewPCG(71, uint64(i))))
		rtltest.Run(t, c.bench())
	}
}

// TestRecurBroken has the bench look at faults: of states, of when they are read, of what travels beside a sum.
func TestRecurBroken(t *testing.T) {
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	var of [5]recur
	for i, at := range []int{0, 4, 1, 13, 7} {
		of[i] = recurs[at]
		of[i].fill(rand.New(rand.NewPCG(73, uint64(i))))
	}
	for _, c := range []struct {
		file, old, fault string
		of               *recur
	}{
		{"op_recur_walk.sv", "assign first = row < CW'(PHASES);", "assign first = row == CW'(PHASES);", &of[0]},
		{"op_recur_walk.sv", "rest <= CW'(DRAIN);", "rest <= CW'(DRAIN - 1);", &of[0]},
		{"op_recur_walk.sv", "busy && (!take || valid)", "busy && valid", &of[0]},
		{"op_recur_walk.sv", "(STEPS > DRAIN ? STEPS : DRAIN)", "DRAIN", &of[3]},
		{"op_recur_state.sv", "load ? fresh : {", "load && !zero ? fresh : {", &of[0]},
		{"op_recur_cells.sv", ".DEPTH(FRONT + READ - 1)", ".DEPTH(FRONT + READ)", &of[2]},
		{"op_recur_cells.sv", ".addr(early)", ".addr(from)", &of[2]},
		{"op_recur_units.sv", ".DEPTH(2 + LF)) u_shown", ".DEPTH(1 + LF)) u_shown", &of[0]},
		{"op_recur_cells.sv", "zero_q <= zero;", "zero_q <= zero && write;", &of[1]},
		{"op_recur_lstm.sv", ".DEPTH(LF + 4)) u_output", ".DEPTH(LF + 3)) u_output", &of[0]},
		{"op_recur_gru.sv", ".DEPTH(2)) u_n", ".DEPTH(1)) u_n", &of[1]},
		{"op_recur_reset.sv", "in_ready = en && take && !second", "in_ready = en && take", &of[4]},
		{"op_recur_reset.sv", ".DEPTH(FRONT - 1)) u_own_x", ".DEPTH(FRONT)) u_own_x", &of[4]},
		{"op_recur_reset.sv", ".zero(first)", ".zero(second)", &of[4]},
		{"op_recur_before.sv", ".DEPTH(3)) u_m_q", ".DEPTH(2)) u_m_q", &of[4]},
		{"op_recur_before.sv", ".DEPTH(LF + 1)) u_update", ".DEPTH(LF)) u_update", &of[4]},
		{"op_recur.sv", ".DEPTH(SF)) u_own", ".DEPTH(SF + 1)) u_own", &of[1]},
	} {
		broken(t, c.file, c.old, c.fault, c.of.bench)
	}
}
