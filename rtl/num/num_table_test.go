// SPDX-License-Identifier: Apache-2.0

package num_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/rtl"
	"lathe/rtl/rtltest"
)

// packed is a parameter of words side by side.
func packed(name string, words []int64, w int) rtl.Param {
	all := new(big.Int)
	for i, v := range words {
		word := big.NewInt(v & (1<<w - 1))
		all.Or(all, word.Lsh(word, uint(i*w)))
	}
	return rtl.Param{Name: name, Value: fmt.Sprintf("%d'h%x", len(words)*w, all)}
}

func TestTableDecode(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 8))
	for _, c := range []struct{ in, out int }{{1, 25}, {2, 3}, {8, 40}} {
		values := make([]int64, 1<<c.in)
		for i := range values {
			values[i] = r.Int64N(1<<c.out) - 1<<(c.out-1)
		}
		p := rtltest.P
		rtltest.Run(t, rtltest.Bench{
			Module: "num_table_dec", Frames: 1<<c.in/8 + 8,
			Params: []rtl.Param{p("LANES", 2), p("IN_W", c.in), p("OUT_W", c.out), packed("VALUES", values, c.out),
				p("BEATS", 4)},
			In:  []rtltest.Port{{Name: "in", Lanes: 2, Beats: 4}},
			Out: []rtltest.Port{{Name: "out", Lanes: 2, Signed: true}},
			Gen: all(c.in, 8, false),
			Model: func(in [][]int64) [][]int64 {
				out := make([]int64, len(in[0]))
				for i, code := range in[0] {
					out[i] = values[code]
				}
				return [][]int64{out}
			},
		})
	}
}

func TestTableEncode(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for _, c := range []struct{ in, signed, out, steps int }{{8, 1, 1, 2}, {7, 0, 2, 3}, {9, 1, 8, 200}, {3, 1, 3, 1}} {
		from := make([]int64, 0, c.steps)
		for len(from) < c.steps {
			v := r.Int64N(1 << c.in)
			if c.signed != 0 {
				v -= 1 << (c.in - 1)
			}
			if at, is := slices.BinarySearch(from, v); !is {
				from = slices.Insert(from, at, v)
			}
		}
		codes := make([]int64, c.steps)
		for i := range codes {
			codes[i] = r.Int64N(1 << c.out)
		}
		p := rtltest.P
		rtltest.Run(t, rtltest.Bench{
			Module: "num_table_enc", Frames: 1<<c.in/8 + 8,
			Params: []rtl.Param{p("LANES", 2), p("IN_W", c.in), p("IN_SIGNED", c.signed), p("OUT_W", c.out), p("STEPS", c.steps),
				packed("FROM", from, c.in), packed("CODES", codes, c.out), p("BEATS", 4)},
			In:  []rtltest.Port{{Name: "in", Lanes: 2, Beats: 4, Signed: c.signed != 0}},
			Out: []rtltest.Port{{Name: "out", Lanes: 2}},
			Gen: all(c.in, 8, c.signed != 0),
			Model: func(in [][]int64) [][]int64 {
				out := make([]int64, len(in[0]))
				for i, x := range in[0] {
					k := c.steps - 1
					for k > 0 && from[k] > x {
						k--
					}
					out[i] = codes[k]
				}
				return [][]int64{out}
			},
		})
	}
}
