// SPDX-License-Identifier: Apache-2.0

package array

import (
	"math"
	"sort"

	"lathe/internal/workers"
	"lathe/ir/format"
)

// Large arrays of scalar codes go through tables, which are made of Decode and Encode.

const (
	narrow = 8       // bits of codes whose encoder is a table
	short  = 16      // bits of codes whose values are one
	many   = 1 << 14 // elements from which an encoder is worth its table
	grain  = 1 << 12 // elements at once
	keyLen = 16      // bits of a float64 that say where the search for its step begins
)

// encodeAll is f.Encode of all values, with the seed for stochastic rounding.
func encodeAll(f format.Format, codes []int64, x []float64, seed uint32) {
	stochastic := format.Rounding(f) == format.RoundStochastic
	var s *steps
	if len(x) >= many && f.Width() <= narrow && !stochastic && format.Coded(f) {
		s = newSteps(f)
	}
	fast, _ := f.(interface {
		EncodeFloat64s(codes []int64, x []float64) bool
	})
	workers.Ranges(len(x), grain, func(from, to int) {
		switch part, into := x[from:to], codes[from:to]; {
		case s != nil:
			s.encode(into, part)
		case stochastic:
			for i, v := range part {
				into[i] = format.EncodeSeeded(f, format.FromFloat64(v), format.StochasticWord(seed, uint32(from+i)))
			}
		case fast != nil && fast.EncodeFloat64s(into, part):
		default:
			for i, v := range part {
				into[i] = f.Encode(format.FromFloat64(v))
			}
		}
	})
}

// decodeAll is the values of all codes.
func decodeAll(f format.Format, out []float64, codes []int64) {
	var table []float64
	if w := f.Width(); w <= short && len(codes) >= 1<<w {
		table = make([]float64, 1<<w)
		for c := range table {
			table[c] = f.Decode(int64(c)).Float64()
		}
	}
	fast, _ := f.(interface {
		Floats(codes []int64, out []float64) bool
	})
	workers.Ranges(len(codes), grain, func(from, to int) {
		if table == nil && fast != nil && fast.Floats(codes[from:to], out[from:to]) {
			return
		}
		for i, c := range codes[from:to] {
			if table != nil {
				out[from+i] = table[int(c)&(len(table)-1)]
			} else {
				out[from+i] = f.Decode(c).Float64()
			}
		}
	})
}

// steps are the least float64 of each code, in ascending order; start is the step of the least number of each key, the
// upper bits of a float64.
type steps struct {
	from            []float64 // behind the last one +Inf, which nothing goes beyond
	codes           []int64
	start           [1 << keyLen]uint16
	nan, zero, less int64 // codes of NaN, +0 and -0
}

// newSteps finds the steps of f, which has narrow codes.
func newSteps(f format.Format) *steps {
	code := func(v float64) int64 { return f.Encode(format.FromFloat64(v)) }
	s := &steps{nan: code(math.NaN()), zero: code(0), less: code(math.Copysign(0, -1))}
	end := int64(math.Float64bits(math.Inf(1)))
	from, codes := format.Steps(f, -end, end, func(i int64) format.Exact { return format.FromFloat64(ordered(i)) })
	for i, v := range from {
		s.from, s.codes = append(s.from, ordered(v)), append(s.codes, codes[i])
	}
	s.from = append(s.from, math.NaN()) // which no number reaches
	for key := range s.start {
		bits := uint64(key) << (64 - keyLen)
		if bits>>63 != 0 {
			bits |= 1<<(64-keyLen) - 1
		}
		if v := math.Float64frombits(bits); v == v {
			s.start[key] = uint16(sort.Search(len(codes)-1, func(k int) bool { return s.from[k+1] > v }))
		}
	}
	return s
}

// ordered is the float64 at a place in their order: +0 at 0, positive ones behind.
func ordered(at int64) float64 {
	if at < 0 {
		return -math.Float64frombits(uint64(-at))
	}
	return math.Float64frombits(uint64(at))
}

func (s *steps) encode(codes []int64, x []float64) {
	for i, v := range x {
		bits := math.Float64bits(v)
		switch {
		case v != v:
			codes[i] = s.nan
		case bits == 0:
			codes[i] = s.zero
		case bits == 1<<63:
			codes[i] = s.less
		default:
			k := s.start[bits>>(64-keyLen)]
			for v >= s.from[k+1] {
				k++
			}
			codes[i] = s.codes[k]
		}
	}
}
