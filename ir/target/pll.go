// SPDX-License-Identifier: Apache-2.0

package target

import (
	"fmt"
	"math"
)

// PLL is a phase-locked loop of a family: an oscillator divided by one number is held to the loop's own clock divided
// by another. All clocks are in MHz. Sources: Lattice TN1263 (ECP5) and TN1251 (iCE40).
type PLL struct {
	// Cell is the module, In and Out its clocks, Lock what says that it runs. Feedback takes the output again; "" where
	// the cell does that itself. Low and High are inputs that stay.
	Cell, In, Out, Lock, Feedback string
	Low, High                     []string
	// Compare are the clocks at which both are compared, Loop those of the loop, Made those that come out.
	Compare, Loop, Made [2]float64
	// Ref, Back and Post are the numbers by which the oscillator, what comes back and the loop may be divided.
	Ref, Back, Post []int
	// Behind says that what comes back is the output, behind Post; else it is the loop.
	Behind bool
	// Best is the clock of the loop to come near to.
	Best float64
	// Params are the parameters of the cell under a setting, by name and value, in turn.
	Params func(s Setting) [][2]string
	// Attributes stand before the cell, for the tools.
	Attributes func(s Setting) string
}

// Setting is what a PLL is made to do: the divisors, and the clocks that come of them.
type Setting struct {
	Ref, Back, Post int
	In, Loop, MHz   float64
}

// Nearest is the setting for an oscillator that comes nearest to a wish, in MHz; false where there is none at all.
func (p *PLL) Nearest(oscillator, wish float64) (best Setting, ok bool) {
	far := func(s Setting) float64 { return math.Abs(s.MHz - wish) }
	for _, ref := range p.Ref {
		compared := oscillator / float64(ref)
		if compared < p.Compare[0] || compared > p.Compare[1] {
			continue
		}
		for _, back := range p.Back {
			for _, post := range p.Post {
				s := Setting{Ref: ref, Back: back, Post: post, In: oscillator, Loop: compared * float64(back)}
				if p.Behind {
					s.Loop *= float64(post)
				}
				s.MHz = s.Loop / float64(post)
				if s.Loop < p.Loop[0] || s.Loop > p.Loop[1] || s.MHz < p.Made[0] || s.MHz > p.Made[1] {
					continue
				}
				closer := far(s) < far(best)-1e-9
				calmer := far(s) < far(best)+1e-9 && math.Abs(s.Loop-p.Best) < math.Abs(best.Loop-p.Best)
				if !ok || closer || calmer {
					best, ok = s, true
				}
			}
		}
	}
	return best, ok
}

// upTo lists the numbers from one to another.
func upTo(first, last int) (list []int) {
	for i := first; i <= last; i++ {
		list = append(list, i)
	}
	return list
}

var ecp5PLL = &PLL{Cell: "EHXPLLL", In: "CLKI", Out: "CLKOP", Lock: "LOCK", Feedback: "CLKFB",
	Low: []string{"RST", "STDBY", "PHASESEL0", "PHASESEL1", "PHASEDIR", "PHASESTEP", "PHASELOADREG", "PLLWAKESYNC",
		"ENCLKOP"},
	Compare: [2]float64{3.125, 400}, Loop: [2]float64{400, 800}, Made: [2]float64{3.125, 400}, Best: 600, Behind: true,
	Ref: upTo(1, 128), Back: upTo(1, 80), Post: upTo(1, 128),
	Params: func(s Setting) [][2]string {
		n := func(name string, value int) [2]string { return [2]string{name, fmt.Sprint(value)} }
		q := func(name, value string) [2]string { return [2]string{name, `"` + value + `"`} }
		return [][2]string{q("PLLRST_ENA", "DISABLED"), q("INTFB_WAKE", "DISABLED"), q("STDBY_ENABLE", "DISABLED"),
			q("DPHASE_SOURCE", "DISABLED"), q("OUTDIVIDER_MUXA", "DIVA"), q("CLKOP_ENABLE", "ENABLED"),
			n("CLKI_DIV", s.Ref), n("CLKFB_DIV", s.Back), n("CLKOP_DIV", s.Post), n("CLKOP_CPHASE", (s.Post-1)/2),
			n("CLKOP_FPHASE", 0), q("FEEDBK_PATH", "CLKOP")}
	},
	Attributes: func(s Setting) string {
		return fmt.Sprintf(`FREQUENCY_PIN_CLKI = "%g", FREQUENCY_PIN_CLKOP = "%g", ICP_CURRENT = "12", `+
			`LPF_RESISTOR = "8", MFG_ENABLE_FILTEROPAMP = "1", MFG_GMCREF_SEL = "2"`, s.In, s.MHz)
	},
}

var ice40PLL = &PLL{Cell: "SB_PLL40_PAD", In: "PACKAGEPIN", Out: "PLLOUTGLOBAL", Lock: "LOCK", Low: []string{"BYPASS"},
	High: []string{"RESETB"}, Compare: [2]float64{10, 133}, Loop: [2]float64{533, 1066}, Made: [2]float64{16, 275},
	Best: 800,
	Ref:  upTo(1, 16), Back: upTo(1, 128), Post: []int{2, 4, 8, 16, 32, 64},
	Params: func(s Setting) [][2]string {
		bits := func(name string, width, value int) [2]string {
			return [2]string{name, fmt.Sprintf("%d'd%d", width, value)}
		}
		return [][2]string{{"FEEDBACK_PATH", `"SIMPLE"`}, bits("DIVR", 4, s.Ref-1), bits("DIVF", 7, s.Back-1),
			bits("DIVQ", 3, int(math.Log2(float64(s.Post)))), bits("FILTER_RANGE", 3, ice40Filter(s.In/float64(s.Ref)))}
	},
}

// ice40Filter is the range of the loop's filter for the clock at which it compares.
func ice40Filter(mhz float64) int {
	for i, limit := range []float64{17, 26, 44, 66, 101} {
		if mhz < limit {
			return i + 1
		}
	}
	return 6
}
