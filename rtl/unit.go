// SPDX-License-Identifier: Apache-2.0

package rtl

import "lathe/internal/diag"

// Unit is what an op returns as its hardware: an instance of a library module.
type Unit struct {
	// Module is empty where the node is only a wire.
	Module string
	// In are the prefixes of the input streams, in the order of the node's arguments that are no constants; nil is "in".
	In     []string
	Params []Param
	Images []Image
}

// Facts are what a unit takes: cycles from the first beat in to the first beat out, cycles a sample as far as its
// modules know of samples, and cells. Cost holds where Costed says so: not all modules state theirs.
type Facts struct {
	Latency, II int
	Cost        Cost
	Costed      bool
}

// Facts evaluates what the headers of the unit's modules say; a wire takes nothing. Errors as Lookup, Values and Eval.
func (u *Unit) Facts() (f Facts, err error) {
	if u.Module == "" {
		return f, nil
	}
	header, err := Lookup(u.Module)
	if err != nil {
		return f, err
	}
	values, err := header.Values(u.Params)
	if err != nil {
		return f, err
	}
	if f.Latency, err = header.Latency.Eval(values); err != nil {
		return f, err
	}
	if f.II, err = header.II.Eval(values); err != nil {
		return f, err
	}
	if !header.Costed() {
		return f, nil
	}
	f.Cost, err = header.Cost(u.Params)
	if diag.CodeOf(err) == "L0655" { // something inside states none
		return f, nil
	}
	f.Costed = err == nil
	return f, err
}
