// SPDX-License-Identifier: Apache-2.0

package rtl

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"lathe/internal/diag"
	"lathe/ir/target"
	"lathe/rtl/netlist"
)

// Unit is what an op returns as its hardware: a library module, or a module of its own; a node without either is only a
// wire.
type Unit struct {
	Module string
	// Own is the module where a user wrote it; nil: it is of the library.
	Own *Own
	// Body is the unit's own module. Params and Images are for library modules only.
	Body *Body
	// In are the prefixes of the input streams, in the order of the node's arguments that are no constants; nil is "in".
	In []string
	// Ends names the stream whose beats have one more bit above, 1 on the last one of a frame, where frames change in
	// length and the unit keeps a state over tokens; empty: none.
	Ends   string
	Params []Param
	Images []Image
	// Weights lie in a memory outside of the design; nil: they are an image like others, or there are none.
	Weights *Outside
	// Cache are keys or values in a memory outside of the design; nil: there are none.
	Cache *Cache
	// Frames is how many frames, as the module's header understands them, are in a sample: its ii is the cycles of one. 0
	// is 1. Within is how many turns of a sample each of them has, where layers share the unit; 0 is 1.
	Frames, Within int
}

// Facts are what a unit takes: cycles from the first beat in to the first beat out, cycles a sample as far as its
// modules know of samples, and cells. Cost holds where Costed says so: not all modules state theirs.
type Facts struct {
	Latency, II int
	Cost        Cost
	Costed      bool
}

// Wire says that the node has no hardware of its own.
func (u *Unit) Wire() bool { return u.Module == "" && u.Body == nil }

// Kind is the module, or what is printed for the unit alone: "sums" or "table"; empty for a wire.
func (u *Unit) Kind() string {
	switch {
	case u.Body == nil:
		return u.Module
	case u.Body.Sums != nil:
		return "sums"
	}
	return "table"
}

// Facts evaluates what the headers of the unit's modules say, of cells for a family, nil for UltraScale+; a wire takes
// nothing. Errors as Lookup, Values and Eval.
func (u *Unit) Facts(on *target.Family) (f Facts, err error) {
	switch {
	case u.Body != nil:
		return u.Body.facts(on)
	case u.Module == "":
		return f, nil
	}
	f, err = u.moduleFacts(on)
	if err == nil && u.Weights != nil && f.Costed {
		var cost Cost
		cost, err = u.Weights.cost(on)
		f.Cost = f.Cost.Add(cost)
	}
	if err == nil && u.Cache != nil && f.Costed {
		var cost Cost
		cost, err = u.Cache.cost(on)
		f.Cost = f.Cost.Add(cost)
	}
	return f, err
}

// moduleFacts are those of the unit's module.
func (u *Unit) moduleFacts(on *target.Family) (f Facts, err error) {
	header, err := u.read()
	if err != nil {
		return f, err
	}
	if _, err := header.Values(u.Params); err != nil { // a parameter that it does not have
		return f, err
	}
	if f.Latency, f.II, err = header.Timing(u.Params); err != nil {
		return f, err
	}
	if !header.Costed() {
		return f, nil
	}
	f.Cost, err = header.Cost(u.Params, on)
	if diag.CodeOf(err) == diag.ModuleCost { // something inside states none
		return f, nil
	}
	f.Costed = err == nil
	return f, err
}

// NewUnit makes a unit of a library module. pairs are the names and values of parameters: integers, and texts, which
// get quotation marks.
func NewUnit(module string, pairs ...any) *Unit { return (&Unit{Module: module}).With(pairs...) }

// With adds parameters.
func (u *Unit) With(pairs ...any) *Unit {
	for i := 0; i+1 < len(pairs); i += 2 {
		value := fmt.Sprint(pairs[i+1])
		if s, ok := pairs[i+1].(string); ok {
			value = `"` + s + `"`
		}
		u.Params = append(u.Params, Param{Name: pairs[i].(string), Value: value})
	}
	return u
}

// Flag is b as a parameter.
func Flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Own is a module that a user wrote, in the style of the library: one module, whose comment states purpose and timing.
type Own struct {
	Header *Header
	Text   string
}

var firstModule = regexp.MustCompile(`\bmodule\s+(\w+)`)

// ReadOwn reads the text of a user's module. Errors: L0602 for what cannot be read, and for a name of the library.
func ReadOwn(text string) (*Own, error) {
	m := firstModule.FindStringSubmatch(commentRE.ReplaceAllString(text, " "))
	if m == nil {
		return nil, diag.New(diag.ModuleHeader, "", "the text holds no module")
	}
	if _, taken := entries()[m[1]]; taken {
		return nil, diag.New(diag.ModuleHeader, m[1]+".sv", "a module of the library has that name").
			WithHint("call it my_%s", m[1])
	}
	h, err := parse(m[1], "", text)
	if err != nil {
		return nil, diag.At(err, diag.ModuleHeader, m[1]+".sv")
	}
	return &Own{Header: h, Text: text}, nil
}

// Streams are the prefixes of the input streams in the order of the ports, whether the result is a stream "out", and
// what stands in the way.
func (o *Own) Streams() (in []string, cause string) {
	ports := map[string]PortDecl{}
	for _, p := range o.Header.Ports {
		ports[p.Name] = p
	}
	has := func(name string, output bool) bool {
		p, ok := ports[name]
		delete(ports, name)
		return ok && p.Output == output
	}
	if !has("clk", false) || !has("rst", false) {
		return nil, "inputs clk and rst are missing"
	}
	for _, p := range o.Header.Ports {
		if prefix, data := strings.CutSuffix(p.Name, "_data"); data && !p.Output {
			in = append(in, prefix)
		}
	}
	for _, prefix := range append(slices.Clone(in), "out") {
		result := prefix == "out"
		if !has(prefix+"_data", result) || !has(prefix+"_valid", result) || !has(prefix+"_ready", !result) {
			return nil, "stream " + prefix + " lacks a port: _data, _valid, _ready"
		}
	}
	for name := range ports {
		return nil, "port " + name + " belongs to no stream"
	}
	return in, ""
}

// Signature is the ports under parameters. Errors as those of Signature.
func (o *Own) Signature(params []Param) ([]netlist.Port, error) { return o.Header.signature(params) }

// File is the source of the module.
func (o *Own) File() File { return File{Name: o.Header.Name + ".sv", Data: []byte(o.Text)} }

// read is what the text of the unit's module says. Errors as Lookup.
func (u *Unit) read() (*Header, error) {
	if u.Own != nil {
		return u.Own.Header, nil
	}
	return Lookup(u.Module)
}
