// SPDX-License-Identifier: Apache-2.0

package board

import "math/rand/v2"

// Fault changes what goes over a line: each byte becomes as many as it likes. nil: none does.
type Fault func(b byte) []byte

// Faults are those of a simulated line; To is of the way to the board, From of the way back. Before each byte to the
// board, Reset says for how many cycles the board is reset, and Stall for how many bytes the line stands still. Torn
// says of a byte to the board that its stop bit is missing. nil: nothing of that kind happens.
type Faults struct {
	To, From     Fault
	Reset, Stall func() int
	Torn         func() bool
}

// Noise loses, doubles or changes so many of ten thousand bytes, both ways.
func Noise(rate int, seed uint64) Faults {
	if rate == 0 {
		return Faults{}
	}
	return Faults{To: noise(rate, rand.New(rand.NewPCG(seed, 1))), From: noise(rate, rand.New(rand.NewPCG(seed, 2)))}
}

func noise(rate int, r *rand.Rand) Fault {
	return func(b byte) []byte {
		if r.IntN(10_000) >= rate {
			return []byte{b}
		}
		switch r.IntN(3) {
		case 0:
			return nil
		case 1:
			return []byte{b, b}
		}
		return []byte{b ^ byte(1+r.IntN(255))}
	}
}

// records are what the harness does for a byte.
func (f *Faults) records(b byte) (list []byte) {
	ask := func(which func() int, what byte) {
		if which != nil {
			if n := which(); n > 0 {
				list = append(list, what, byte(min(n, 255)))
			}
		}
	}
	ask(f.Reset, doReset)
	ask(f.Stall, doStall)
	all := []byte{b}
	if f.To != nil {
		all = f.To(b)
	}
	for _, b := range all {
		what := byte(doByte)
		if f.Torn != nil && f.Torn() {
			what = doTorn
		}
		list = append(list, what, b)
	}
	return list
}

// What the harness does, see harness/serial.cc.
const (
	doByte = iota
	doTorn
	doReset
	doStall
)
