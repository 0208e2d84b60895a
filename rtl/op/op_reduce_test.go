// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/rtltest"
)

// run is outer*n*inner elements of which n become one.
type run struct{ outer, n, inner, lanes int }

var runs = []run{{2, 8, 1, 2}, {1, 5, 1, 1}, {3, 6, 1, 6}, {1, 12, 1, 4}, {2, 3, 4, 2}, {1, 4, 6, 6}, {2, 1, 2, 1},
	{1, 1, 1, 1}, {2, 9, 1, 3}}

// outLanes is the lanes of the result.
func (s run) outLanes() int {
	if s.inner > 1 {
		return s.lanes
	}
	return 1
}

// reduce applies f to the elements of each run.
func (s run) reduce(x []int64, f func([]int64) int64) []int64 {
	var out []int64
	for o := range s.outer {
		for i := range s.inner {
			var e []int64
			for k := range s.n {
				e = append(e, x[(o*s.n+k)*s.inner+i])
			}
			out = append(out, f(e))
		}
	}
	return out
}

// bench is a bench of a module on the run.
func (s run) bench(t *testing.T, module string, signed bool, f func([]int64) int64, more ...rtl.Param) {
	t.Helper()
	p := rtltest.P
	params := []rtl.Param{p("OUTER", s.outer), p("N", s.n), p("LANES", s.lanes)}
	if module != "op_argmax" {
		params = append(params, p("INNER", s.inner))
	}
	rtltest.Run(t, rtltest.Bench{
		Module: module, Params: append(params, more...),
		In:    []rtltest.Port{{Name: "in", Lanes: s.lanes, Signed: signed, Beats: s.outer * s.n * s.inner / s.lanes}},
		Out:   []rtltest.Port{{Name: "out", Lanes: s.outLanes(), Signed: signed && module != "op_argmax"}},
		Model: func(x [][]int64) [][]int64 { return [][]int64{s.reduce(x[0], f)} },
	})
}

func TestReduce(t *testing.T) {
	t.Parallel()
	for _, i := range tools.Drawn(4, len(runs)) {
		s := runs[i]
		signed, least := i%3 != 0, int64(0)
		if signed {
			least = -1 << 6
		}
		kind, f, acc := (i+i/3)%3, greatest(least), 7
		switch kind {
		case 1:
			f = func(e []int64) int64 {
				m := e[0]
				for _, v := range e {
					m = min(m, v)
				}
				return m
			}
		case 2:
			f, acc = total, 11
		}
		s.bench(t, "op_reduce", signed, f, rtltest.P("E_W", 7), rtltest.P("SIGNED", flag(signed)), rtltest.P("KIND", kind),
			rtltest.P("ACC_W", acc))
	}
}

func TestReduceMean(t *testing.T) {
	t.Parallel()
	for _, i := range tools.Drawn(4, len(runs)) {
		s := runs[i]
		div, mode := s.n, []int{0, 1, 5}[i%3]
		if i%4 == 3 {
			div = 1
		}
		s.bench(t, "op_reduce_mean", true, func(e []int64) int64 { return rounded(total(e), i%3-1, div, mode, 8) },
			rtltest.P("E_W", 7), rtltest.P("LSHIFT", i%3-1), rtltest.P("DIV", div), rtltest.P("ROUND", mode))
	}
}

func TestArgMax(t *testing.T) {
	t.Parallel()
	for i, s := range runs {
		if s.inner > 1 {
			continue
		}
		last, width := i%2, 4
		if i == 3 {
			width = 3 // indices from 8 on saturate
		}
		s.bench(t, "op_argmax", i%3 != 1, func(e []int64) int64 {
			best := 0
			for k, v := range e {
				if v > e[best] || v == e[best] && last == 1 {
					best = k
				}
			}
			return int64(min(best, 1<<width-1))
		}, rtltest.P("E_W", 3), rtltest.P("SIGNED", flag(i%3 != 1)), rtltest.P("TAIL", last), rtltest.P("OUT_W", width))
	}
}
