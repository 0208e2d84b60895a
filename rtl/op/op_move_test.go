// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"math/big"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/rtltest"
)

// moveBench benches a module that moves beats of one code and computes nothing: from lists, for every beat of a frame
// that leaves, the beat of the frame that came, -1 for one that the module makes.
func moveBench(module string, width, beats int, from []int, made *big.Int, params ...rtl.Param) rtltest.Bench {
	return rtltest.Bench{
		Module: module, Params: params,
		In:  []rtltest.Port{{Name: "in", Width: width, Beats: beats}},
		Out: []rtltest.Port{{Name: "out", Width: width}},
		BigModel: func(in [][]*big.Int) [][]*big.Int {
			out := make([]*big.Int, len(from))
			for i, k := range from {
				if out[i] = made; k >= 0 {
					out[i] = in[0][k]
				}
			}
			return [][]*big.Int{out}
		},
	}
}

func TestConcat(t *testing.T) {
	p := rtltest.P
	for _, c := range []struct{ width, a, b, groups int }{{8, 1, 1, 1}, {5, 3, 2, 1}, {1, 1, 4, 3}, {70, 5, 1, 2}} {
		rtltest.Run(t, rtltest.Bench{
			Module: "op_concat",
			Params: []rtl.Param{p("WIDTH", c.width), p("A_BEATS", c.a), p("B_BEATS", c.b), p("GROUPS", c.groups)},
			In:     []rtltest.Port{{Name: "a", Beats: c.a * c.groups}, {Name: "b", Beats: c.b * c.groups}},
			Out:    []rtltest.Port{{Name: "out"}},
			BigModel: func(in [][]*big.Int) [][]*big.Int {
				var out []*big.Int
				for g := range c.groups {
					out = append(out, in[0][g*c.a:(g+1)*c.a]...)
					out = append(out, in[1][g*c.b:(g+1)*c.b]...)
				}
				return [][]*big.Int{out}
			},
		})
	}
}

// slice is a point of op_slice.
type slice struct{ width, beats, first, run, every, count, groups int }

func (c slice) bench() rtltest.Bench {
	p := rtltest.P
	var from []int
	for g := range c.groups {
		for k := range c.count {
			for i := range c.run {
				from = append(from, g*c.beats+c.first+k*c.every+i)
			}
		}
	}
	return moveBench("op_slice", c.width, c.beats*c.groups, from, nil, p("WIDTH", c.width), p("BEATS", c.beats),
		p("FIRST", c.first), p("RUN", c.run), p("EVERY", c.every), p("COUNT", c.count), p("GROUPS", c.groups))
}

var slices = []slice{
	{8, 6, 2, 3, 3, 1, 1}, {5, 1, 0, 1, 1, 1, 3}, {9, 7, 1, 1, 2, 3, 2}, {3, 12, 3, 2, 5, 2, 1}, {4, 4, 0, 4, 4, 1, 1},
	{2, 8, 7, 1, 3, 1, 2}, {33, 9, 0, 2, 4, 2, 1},
}

func TestSlice(t *testing.T) {
	for _, c := range slices {
		rtltest.Run(t, c.bench())
	}
}

// pad is a point of op_pad.
type pad struct{ lanes, w, value, before, body, after, groups int }

func (c pad) bench() rtltest.Bench {
	p := rtltest.P
	var from []int
	for g := range c.groups {
		for range c.before {
			from = append(from, -1)
		}
		for i := range c.body {
			from = append(from, g*c.body+i)
		}
		for range c.after {
			from = append(from, -1)
		}
	}
	codes := make([]int64, c.lanes)
	for i := range codes {
		codes[i] = int64(c.value)
	}
	return moveBench("op_pad", c.lanes*c.w, c.body*c.groups, from, word(c.w, codes), p("LANES", c.lanes), p("W", c.w),
		p("VALUE", c.value), p("BEFORE", c.before), p("BODY", c.body), p("AFTER", c.after), p("GROUPS", c.groups))
}

var pads = []pad{{1, 8, 0, 1, 2, 1, 1}, {3, 5, 21, 0, 1, 2, 2}, {2, 4, 9, 3, 3, 0, 3}, {1, 1, 1, 2, 1, 2, 1}}

func TestPad(t *testing.T) {
	for _, c := range pads {
		rtltest.Run(t, c.bench())
	}
}

// repetition is a point of op_repeat.
type repetition struct{ width, copies, beats, times, groups int }

func (c repetition) bench() rtltest.Bench {
	p := rtltest.P
	b := moveBench("op_repeat", c.width, c.beats*c.groups, nil, nil, p("WIDTH", c.width), p("COPIES", c.copies),
		p("BEATS", c.beats), p("TIMES", c.times), p("GROUPS", c.groups))
	b.Out[0].Lanes = c.copies
	b.BigModel = func(in [][]*big.Int) [][]*big.Int {
		var out []*big.Int
		for g := range c.groups {
			for range c.times {
				for _, v := range in[0][g*c.beats : (g+1)*c.beats] {
					for range c.copies {
						out = append(out, v)
					}
				}
			}
		}
		return [][]*big.Int{out}
	}
	return b
}

var repetitions = []repetition{{8, 1, 2, 2, 1}, {5, 3, 1, 4, 2}, {12, 1, 5, 3, 2}, {3, 2, 1, 1, 3}, {7, 1, 3, 1, 1},
	{9, 1, 70, 2, 1}}

func TestRepeat(t *testing.T) {
	for _, c := range repetitions {
		rtltest.Run(t, c.bench())
	}
}

// stretch is a point of op_stretch.
type stretch struct{ width, beats, runs, size, start, step, of, groups int }

func (c stretch) bench() rtltest.Bench {
	p := rtltest.P
	var from []int
	for g := range c.groups {
		for i := range c.size {
			run := 0
			for run < c.runs-1 && (run+1)*c.of <= i*c.step+c.start {
				run++
			}
			for k := range c.beats {
				from = append(from, (g*c.runs+run)*c.beats+k)
			}
		}
	}
	return moveBench("op_stretch", c.width, c.groups*c.runs*c.beats, from, nil, p("WIDTH", c.width), p("BEATS", c.beats),
		p("RUNS", c.runs), p("SIZE", c.size), p("START", c.start), p("STEP", c.step), p("OF", c.of), p("GROUPS", c.groups))
}

var stretches = []stretch{{8, 2, 3, 6, 0, 1, 2, 2}, {5, 1, 2, 8, -1, 1, 3, 3}, {12, 3, 4, 7, 0, 3, 6, 1},
	{3, 1, 1, 4, -3, 1, 1, 2}, {9, 2, 5, 9, -2, 1, 1, 2}, {7, 4, 3, 8, -5, 6, 16, 1}, {4, 1, 3, 3, 0, 1, 1, 2}}

func TestStretch(t *testing.T) {
	for _, c := range stretches {
		rtltest.Run(t, c.bench())
	}
}

// order is a point of op_reorder.
type order struct {
	width, beats int
	d, s         [6]int
	base, groups int
	style        string
}

func (c order) bench() rtltest.Bench {
	p := rtltest.P
	var from []int
	for i := range c.groups * c.d[0] {
		base := c.base + i/c.d[0]*c.beats + i%c.d[0]*c.s[0]
		for j := range c.d[1] {
			for k := range c.d[2] * c.d[3] {
				for l := range c.d[4] * c.d[5] {
					from = append(from, base+j*c.s[1]+k/c.d[3]*c.s[2]+k%c.d[3]*c.s[3]+l/c.d[5]*c.s[4]+l%c.d[5]*c.s[5])
				}
			}
		}
	}
	params := []rtl.Param{p("WIDTH", c.width), p("BEATS", c.beats), p("BASE", c.base),
		p("GROUPS", c.groups), text("STYLE", c.style)}
	for i, name := range []string{"0", "1", "2", "3", "4", "5"} {
		params = append(params, p("D"+name, c.d[i]), p("S"+name, c.s[i]))
	}
	return moveBench("op_reorder", c.width, c.beats*c.groups, from, nil, params...)
}

var orders = []order{
	{8, 6, [6]int{1, 1, 2, 1, 1, 3}, [6]int{0, 0, 1, 0, 0, 2}, 0, 1, "auto"},
	{5, 24, [6]int{2, 2, 3, 1, 1, 2}, [6]int{1, 12, 4, 0, 0, 2}, 0, 1, "distributed"},
	{16, 30, [6]int{1, 5, 2, 1, 1, 3}, [6]int{0, 1, 15, 0, 0, 5}, 0, 2, "block"},
	{3, 4, [6]int{1, 1, 1, 1, 1, 4}, [6]int{0, 0, 0, 0, 0, -1}, 3, 1, "auto"},
	{4, 12, [6]int{3, 2, 1, 1, 1, 2}, [6]int{4, -2, 0, 0, 0, 1}, 2, 3, "auto"},
	{7, 2, [6]int{1, 3, 2, 1, 1, 2}, [6]int{0, 0, 1, 0, 0, 0}, 0, 1, "auto"},
	{9, 1, [6]int{1, 1, 1, 1, 1, 1}, [6]int{0, 0, 0, 0, 0, 0}, 0, 4, "auto"},
	{2, 72, [6]int{2, 3, 1, 2, 2, 3}, [6]int{1, 24, 0, 12, 6, 2}, 0, 1, "auto"},
	{6, 10, [6]int{1, 1, 1, 1, 1, 3}, [6]int{0, 0, 0, 0, 0, 3}, 1, 1, "auto"},
}

func TestReorder(t *testing.T) {
	for _, c := range orders {
		rtltest.Run(t, c.bench())
	}
}

func TestMoveBroken(t *testing.T) {
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	broken(t, "op_slice.sv", "phase <= EW'(START);", "phase <= EW'(0);", slices[2].bench)
	broken(t, "op_slice.sv", "place <= PW'(LAST)", "place < PW'(LAST)", slices[0].bench)
	broken(t, "op_pad.sv", "in_valid || !takes", "in_valid || !body", pads[0].bench)
	broken(t, "op_pad.sv", "if (rst) place <= CW'(0);", "", pads[2].bench)
	broken(t, "op_repeat.sv", "turn  <= TW'(0);", "", repetitions[0].bench)
	broken(t, "op_repeat.sv", ".en   (moves)", ".en   (1'b1)", repetitions[2].bench)
	broken(t, "op_stretch.sv", "&& run != RW'(RUNS - 1)", "", stretches[4].bench)
	broken(t, "op_stretch.sv", "phase <= AW'(START);", "phase <= AW'(0);", stretches[5].bench)
	broken(t, "op_reorder.sv", "assign in_ready = !full[wbank];", "assign in_ready = 1'b1;", orders[8].bench)
	broken(t, "op_reorder.sv", "rbank ? rplace + AW'(BEATS) : rplace", "rplace", orders[0].bench)
	broken(t, "op_reorder.sv", "AW'(S1 - B2)", "AW'(S1 - B3)", orders[1].bench)
}
