// SPDX-License-Identifier: Apache-2.0

package rtl

import (
	"lathe/ir/target"
	"lathe/rtl/netlist"
)

// A Body is a module that is printed for one unit, since it is made of the unit's constants.
type Body struct {
	// Module has the ports clk, rst, and data, valid and ready of the streams "in" and "out". It has no name yet: that
	// follows from the place of the unit in the design.
	Module *netlist.Module
	// Window is a library module inside, through which the stream goes first; nil: there is none. Behind it, beats pass
	// Latency cycles of registers that move together, the last of them a skid; or, where End is not nil, a pipeline that
	// this module controls, with its latency and flow. Cost has that of End.
	Window, End *Unit
	Latency     int
	// Steps is, where it is not 0, the cycles of a beat behind Window: it is held while it goes through the registers
	// digit by digit; the last of them is a skid. Vectors are then the beats of a frame behind Window.
	Steps, Vectors int
	// Beats are those of a frame, each of which takes a cycle; 0: one, or what Window says.
	Beats int
	Cost  Cost  // without Window
	Sums  *Sums // nil: there are none
}

// Sums are facts about the sums with constants that a Body consists of.
type Sums struct {
	Products  int     `json:"products"`         // by constants that are not zero
	Chains    int     `json:"adders"`           // chains of carry cells
	Shared    int     `json:"shared"`           // sums that several sums have in common
	Cells     int     `json:"cells"`            // of chains
	LUTs      int     `json:"luts"`             // of chains and casts, predicted
	Levels    float64 `json:"depth"`            // levels of logic of the longest path, a LUT or some forty carries each
	Stage     float64 `json:"stage"`            // levels of the longest path between registers, casts included
	Rows      int     `json:"rows"`             // of registers, and the memory or skid at the output
	Registers int     `json:"registers"`        // flip-flops in all rows but the last
	Digits    int     `json:"digits,omitempty"` // bits of the digits in which vectors come, one a cycle; 0: whole
	Free      bool    `json:"free,omitempty"`   // rows move in every cycle: stream_credit is at the output
	// Live are the bits on their way: those of a vector that comes in, then those in each row of registers.
	Live []int `json:"live"`
}

// facts are those of all that is inside.
func (b *Body) facts(on *target.Family) (f Facts, err error) {
	f = Facts{Latency: b.Latency, II: max(b.Beats, 1) * max(b.Steps, 1), Cost: b.Cost, Costed: true}
	if b.End != nil {
		end, err := b.End.Facts(on)
		if err != nil {
			return f, err
		}
		f.Latency = end.Latency
	}
	if b.Window == nil {
		return f, nil
	}
	window, err := b.Window.Facts(on)
	return Facts{Latency: f.Latency + window.Latency, II: max(window.II, 1, b.Vectors*b.Steps),
		Cost: f.Cost.Add(window.Cost), Costed: window.Costed}, err
}

// flow is that of the modules inside, or registers.
func (b *Body) flow() (f Flow, err error) {
	own := pipeline(1, b.Latency)
	if b.Steps > 0 {
		last := b.Steps - 1
		own = Flow{{Kind: StageNarrow, N: b.Steps}, {Kind: StageSteps, Period: b.Steps, Regs: b.Latency - b.Steps - 1,
			Step: func(s int) Step { return Step{Take: 1, Give: s == last} }}, {Kind: StageSkid}}
	}
	if b.End != nil {
		if own, err = b.End.Flow(); err != nil {
			return nil, err
		}
	}
	if b.Window == nil {
		return own, nil
	}
	window, err := b.Window.Flow()
	return append(window[:len(window):len(window)], own...), err
}

// Signature is the ports of a library module under parameters; it is what netlists are checked with. Errors as Lookup,
// Values and Eval.
func Signature(module string, params []Param) ([]netlist.Port, error) {
	h, err := Lookup(module)
	if err != nil {
		return nil, err
	}
	return h.signature(params)
}

func (h *Header) signature(params []Param) ([]netlist.Port, error) {
	values, err := h.Values(params)
	if err != nil {
		return nil, err
	}
	ports := make([]netlist.Port, len(h.Ports))
	for i, p := range h.Ports {
		width := 0
		if p.Msb != "" {
			if width, err = h.Width(p.Name, values); err != nil {
				return nil, err
			}
		}
		ports[i] = netlist.Port{Name: p.Name, Output: p.Output, Width: width}
	}
	return ports, nil
}
