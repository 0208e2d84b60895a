// SPDX-License-Identifier: Apache-2.0

package sums

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/cmvm"
	"lathe/rtl/rtltest"
)

// rounded is sum / 2^shift as an integer, straight from the definition of each rounding.
func rounded(sum *big.Int, shift, round int) *big.Int {
	if shift <= 0 {
		return new(big.Int).Lsh(sum, uint(-shift))
	}
	step := new(big.Int).Lsh(big.NewInt(1), uint(shift))
	q, rest := new(big.Int).DivMod(sum, step, new(big.Int)) // the floor
	if rest.Sign() == 0 {
		return q
	}
	side := new(big.Int).Lsh(rest, 1).Cmp(step) // of the middle
	negative := sum.Sign() < 0
	higher := map[int]bool{
		even: side > 0 || side == 0 && q.Bit(0) == 1, away: side > 0 || side == 0 && !negative, up: side >= 0,
		down: side > 0, halfZero: side > 0 || side == 0 && negative, floor: false, ceil: true, toZero: negative,
		outward: !negative}[round]
	if higher {
		q.Add(q, big.NewInt(1))
	}
	return q
}

// coded brings q into the codes of c.
func coded(q *big.Int, c Cast) int64 {
	q = new(big.Int).Add(q, big.NewInt(int64(c.Zero)))
	size := new(big.Int).Lsh(big.NewInt(1), uint(c.Bits))
	if c.Over == wraps {
		q.Mod(q, size)
		if c.Signed && q.Bit(c.Bits-1) == 1 {
			q.Sub(q, size)
		}
		return q.Int64()
	}
	least, most := big.NewInt(0), new(big.Int).Sub(size, big.NewInt(1))
	if c.Signed {
		most.Rsh(most, 1)
		least.Not(most)
	}
	switch limit := big.NewInt(int64(c.Over-3) / 2); {
	case c.Over == symmetric && c.Signed:
		least.Neg(most)
	case c.Over == symmetric:
		most.Sub(most, big.NewInt(1))
	case c.Over > wraps && c.Over%2 != 0:
		least, most = big.NewInt(0), limit
	case c.Over > wraps:
		most = big.NewInt(int64(c.Over-4) / 2)
		least = new(big.Int).Neg(most)
	}
	switch {
	case q.Cmp(least) < 0:
		return least.Int64()
	case q.Cmp(most) > 0:
		return most.Int64()
	}
	return q.Int64()
}

// drawn is a layer of random casts behind random sums. Its inputs have all codes of their width, since a bench draws
// any of them.
func drawn(r *rand.Rand, signed bool) *Layer {
	p := random(r, 1+r.IntN(8), 1+r.IntN(6), 1+r.IntN(8))
	l := &Layer{InBits: 1 + r.IntN(7), Stages: r.IntN(4), StageLevels: 1 + 4*r.Float64()}
	if r.IntN(3) == 0 {
		l.Stages, l.StageLevels = 0, 0.7 // a row of registers behind every chain
	}
	lows := r.IntN(2) == 0
	if lows {
		l.InLow = make([]int, len(p.Inputs))
	}
	for i := range p.Inputs {
		bits := l.InBits
		if lows {
			l.InLow[i] = r.IntN(bits)
			bits -= l.InLow[i]
		}
		p.Inputs[i] = cmvm.Range{Lo: 0, Hi: 1<<bits - 1}
		if signed {
			p.Inputs[i] = cmvm.Range{Lo: -1 << (bits - 1), Hi: 1<<(bits-1) - 1}
		}
	}
	if r.IntN(3) == 0 {
		for range p.Matrix {
			p.Scale = append(p.Scale, 1+r.Int64N(1<<10))
		}
	}
	l.Problem = p
	c := Cast{Bits: 1 + r.IntN(9), Signed: r.IntN(2) == 0, Round: r.IntN(9), Over: r.IntN(3)}
	if c.Bits > 1 && r.IntN(5) == 0 {
		c.Over = 3 + 2*int(1+r.Int64N(1<<(c.Bits-1)-1)) + rtl.Flag(c.Signed && r.IntN(2) == 0)
	}
	if r.IntN(3) == 0 {
		c.Zero = r.IntN(1<<c.Bits) - r.IntN(1<<c.Bits)
	}
	l.OutBits = c.Bits + r.IntN(4)
	own := c.Over <= wraps && r.IntN(2) == 0
	for range p.Matrix {
		if c.Shift = r.IntN(22) - 2; r.IntN(20) == 0 {
			c.Shift = r.IntN(200)
		}
		if own {
			c.Bits = r.IntN(l.OutBits + 1)
			c.Low = r.IntN(l.OutBits - c.Bits + 1)
		}
		l.Casts = append(l.Casts, c)
	}
	return l
}

// consistent holds what is said of rows of registers against their number, their flip-flops and the output.
func consistent(t *testing.T, s *rtl.Sums, out int) {
	inside := 0
	for _, bits := range s.Live[1 : len(s.Live)-1] {
		inside += bits
	}
	if len(s.Live) != s.Rows+1 || s.Live[s.Rows] != out || inside != s.Registers {
		t.Errorf("%+v for %d bits of output", *s, out)
	}
}

// TestLayers simulates layers under all stalls beside the definitions of products, roundings and overflows.
func TestLayers(t *testing.T) {
	r, free := rand.New(rand.NewPCG(11, 3)), 0
	for i := range tools.Sample(6, 400) {
		signed := r.IntN(2) == 0
		u := simulate(t, fmt.Sprintf("layer%d", i), drawn(r, signed), signed)
		free += rtl.Flag(u.Body.Sums.Free)
	}
	if free == 0 {
		t.Error("no layer without an enable")
	}
}

// TestSerialLayers is TestLayers of layers whose vectors come digit by digit.
func TestSerialLayers(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 3))
	serial := map[int]int{}
	for i := range tools.Sample(8, 400) {
		signed := i%4 < 2
		l := drawn(r, signed)
		l.Digits = []int{1, 2, 4}[i%3]
		for i%7 > 0 && l.steps() < 2 { // few whose elements have but one digit
			l = drawn(r, signed)
			l.Digits = []int{1, 2, 4}[i%3]
		}
		u := simulate(t, fmt.Sprintf("serial%d", i), l, signed)
		if longest := u.Body.Steps; longest > 0 {
			serial[l.Digits]++
			if u.Body.Sums.Digits != l.Digits || longest != l.steps() {
				t.Errorf("%d digits of %d bits: %+v", longest, l.Digits, u.Body.Sums)
			}
		}
	}
	if serial[1] == 0 || serial[2] == 0 || serial[4] == 0 {
		t.Errorf("serial layers, by the bits of digits: %v", serial)
	}
}

// simulate solves a layer and simulates it.
func simulate(t *testing.T, name string, l *Layer, signed bool) *rtl.Unit {
	t.Helper()
	asked := l.Casts
	if err := l.Solve(); err != nil {
		t.Fatal(err)
	}
	u, err := l.Unit()
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	for _, c := range asked {
		held += c.Bits
	}
	consistent(t, u.Body.Sums, held)
	flow, err := u.Flow()
	if err != nil {
		t.Fatal(err)
	}
	p := l.Problem
	rtltest.Run(t, rtltest.Bench{Module: name, Flow: flow, Files: []rtl.File{rtltest.Body(t, name, u)},
		In:    []rtltest.Port{{Name: "in", Lanes: len(p.Inputs), Signed: signed}},
		Out:   []rtltest.Port{{Name: "out", Lanes: len(p.Matrix), Signed: asked[0].Signed}},
		Model: func(in [][]int64) [][]int64 { return [][]int64{defined(l, asked, in[0])} }})
	return u
}

// defined is what a layer makes of a vector, by definition.
func defined(l *Layer, asked []Cast, x []int64) []int64 {
	p := l.Problem
	y := make([]int64, len(p.Matrix))
	for o, row := range p.Matrix {
		sum := new(big.Int)
		for j, w := range row {
			v := x[j]
			if l.InLow != nil {
				v >>= l.InLow[j]
			}
			sum.Add(sum, big.NewInt(w*v))
		}
		if p.Scale != nil {
			sum.Mul(sum, big.NewInt(p.Scale[o]))
		}
		sum.Add(sum, big.NewInt(p.Bias[o]))
		if c := asked[o]; c.Bits > 0 {
			y[o] = coded(rounded(sum, c.Shift, c.Round), c) << c.Low
		}
	}
	return y
}
