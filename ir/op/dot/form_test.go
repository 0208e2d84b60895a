// SPDX-License-Identifier: Apache-2.0

package dot

import (
	"math/rand/v2"
	"testing"

	"lathe/ir"
	"lathe/ir/format"
)

// TestFits draws weights and compares with all sums of cascades, of the least and the most data.
func TestFits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	seen := map[bool]int{}
	for range 300 {
		lanes := 1 + r.IntN(14)
		x := format.Fixed{W: 2 + r.IntN(7), Signed: r.IntN(2) == 0}
		m := &exactSum{terms: terms{out: 2 + 2*r.IntN(2), in: lanes * (1 + r.IntN(3))}}
		for range m.out * m.in {
			m.weights = append(m.weights, r.Int64N(255)-127)
		}
		long, limit := 1+r.IntN(mostCascade), int64(1)<<(8+r.IntN(8))
		want := true
		per := (lanes + (lanes+long-1)/long - 1) / ((lanes + long - 1) / long)
		for c := 0; c < m.out; c += 2 {
			for beat := 0; beat < m.in; beat += lanes {
				for from := 0; from < lanes; from += per {
					for _, ends := range [][2]int64{{x.Min(), x.Max()}, {x.Max(), x.Min()}} {
						var sum int64
						for i := from; i < min(from+per, lanes); i++ {
							w := m.weights[c*m.in+beat+i]
							if w < 0 {
								sum += w * ends[0]
							} else {
								sum += w * ends[1]
							}
						}
						want = want && sum >= -limit && sum < limit
					}
				}
			}
		}
		seen[want]++
		if got := m.fits(lanes, long, x.Min(), x.Max(), limit); got != want {
			t.Fatalf("%d lanes of %v, cascades of %d, limit %d: %v, want %v", lanes, x, long, limit, got, want)
		}
	}
	if min(seen[true], seen[false]) < 50 {
		t.Errorf("too few of a kind: %v", seen)
	}
}

// TestPairedFits: where two products may share a DSP of a cascade, the largest of them fits by itself.
func TestPairedFits(t *testing.T) {
	n, most := &ir.Node{}, 0
	for x := 2; x <= 18; x++ {
		for weight := lowBits + 1; weight <= 16; weight++ {
			for _, signed := range []bool{false, true} {
				ints := format.Fixed{W: x, Signed: signed}
				m := &exactSum{terms: terms{data: Data{ints: ints}}, tBits: pairBits}
				if m.pairedCause(n, widths{weight: weight, bias: 1}) != "" {
					continue
				}
				most++
				m.out, m.in, m.weights = 2, 1, []int64{-1 << (weight - 1), 0}
				if !m.fits(1, 1, ints.Min(), ints.Max(), 1<<(below(weight)-1)) {
					t.Errorf("%v by weights of %d bits are taken and do not fit", ints, weight)
				}
			}
		}
	}
	if most < 100 {
		t.Errorf("only %d pairs of widths are taken", most)
	}
}
