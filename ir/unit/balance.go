// SPDX-License-Identifier: Apache-2.0

package unit

import "lathe/rtl"

// What the balance mode does with the weights or the line buffer of a layer that would be beyond the bounds where
// synthesis puts them: stores are the memories that it moves them to. UltraRAM has no initial contents, so weights in
// it are loaded; a line buffer is written before it is read.
const (
	StoreBlock = "block"
	StoreLUT   = "distributed"
	StoreUltra = "ultra"
)

// Balance is what the balance mode aimed at and reached.
type Balance struct {
	// Part and ClockMHz are the plan's target, FPS the rate that it asks for, 0 for none.
	Part     string  `json:"part"`
	ClockMHz float64 `json:"clock_mhz"`
	FPS      float64 `json:"fps,omitempty"`
	// Cycles is how many a sample takes, Reached the rate at the clock.
	Cycles  float64 `json:"cycles"`
	Reached float64 `json:"reached_fps"`
	// Bottleneck is the node that sets the pace.
	Bottleneck string `json:"bottleneck"`
	// Cost is what the whole design is predicted to take; Budget bounds it.
	Cost   rtl.Cost `json:"cost"`
	Budget Budget   `json:"budget"`
	// Stores are the weights that lie elsewhere than synthesis would put them.
	Stores []Store `json:"stores,omitempty"`
	// Proof says why it is no faster, or no smaller.
	Proof string `json:"proof"`
}

// Budget is what a design may take, in the units of rtl.Cost but BRAM, which counts blocks of 36 Kbit; 0: not bounded.
type Budget struct {
	LUT  int `json:"lut,omitempty"`
	FF   int `json:"ff,omitempty"`
	DSP  int `json:"dsp,omitempty"`
	BRAM int `json:"bram,omitempty"`
	URAM int `json:"uram,omitempty"`
}

// Store is where the balance mode puts the weights of a node, or its line buffer.
type Store struct {
	Node string `json:"node"`
	// Lines says that it is the line buffer: the memory of rows of a window.
	Lines bool `json:"lines,omitempty"`
	// Memory is block, distributed or ultra, as of keys of the plan; weights in ultra are loaded after reset.
	Memory string `json:"memory"`
	// Why is what it takes there and what it took elsewhere.
	Why string `json:"why"`
}

// Holds says what the store holds, in words.
func (s Store) Holds() string {
	if s.Lines {
		return "line buffer"
	}
	return "weights"
}

// Place says where that lies, in words.
func (s Store) Place() string {
	switch {
	case s.Memory == StoreLUT:
		return "in LUTs"
	case s.Memory == StoreBlock:
		return "in block RAM"
	case s.Lines:
		return "in UltraRAM"
	}
	return "in UltraRAM, loaded after reset"
}
