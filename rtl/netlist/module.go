// SPDX-License-Identifier: Apache-2.0

// Package netlist is generated Verilog as data: modules of wires, assignments and instances, their checks and their one
// printer. The top of a design, its AXI4-Stream wrapper and the bodies of units are such modules. Whoever makes one
// chooses all names, and the order of items is that of the text.
package netlist

// Module is one module in a file of its own.
type Module struct {
	Name string
	// Comment are the lines above the module, without slashes, behind that of the licence.
	Comment []string
	Ports   []Port
	Items   []Item
}

// Port is a port of a module. Width 0 is a single bit without a range, as for Wire.
type Port struct {
	Name   string
	Output bool
	Width  int
	// Attributes stand in (* *) before the port.
	Attributes []string
}

// Item is a Blank, Comment, Text, Wire, Assign or *Instance.
type Item interface{ print(p *printer) }

// Blank is an empty line.
type Blank struct{}

// Comment is a line of comment.
type Comment string

// Text is lines that no other item can say. Check takes them at their word that they drive Drives, and nothing else.
type Text struct {
	Lines  string
	Drives []string
}

// Wire declares a wire; Value, if not nil, drives it.
type Wire struct {
	Name  string
	Width int
	Value Expr
}

// Assign drives To, which is a Ref, Bit or Slice.
type Assign struct{ To, From Expr }

// Instance is an instance of another module, with a connection for each of its ports.
type Instance struct {
	Module, Name string
	Params       []Param
	Ports        []Connection
}

// Param sets a parameter of an instance. Value is printed verbatim: 8, -3, 16'h00ff, or "w.mem" with quotes.
type Param struct {
	Name  string
	Value string
}

// Connection binds a port of an instance.
type Connection struct {
	Port string
	To   Expr
}

// Expr is a Ref, Bit, Slice, Const, Zeros, Concat, Not or All.
type Expr interface{ print(p *printer) }

// Ref is a whole wire or port.
type Ref string

// Bit is one bit of a wire.
type Bit struct {
	Of string
	At int
}

// Slice is bits High to Low of a wire, both included.
type Slice struct {
	Of        string
	High, Low int
}

// Const is a number of Width bits.
type Const struct {
	Width int
	Value uint64
}

// Zeros are so many bits 0.
type Zeros int

// Concat has its first part in the high bits.
type Concat []Expr

// Not is the complement of a single bit.
type Not struct{ X Expr }

// All is one bit: whether all bits of X are set.
type All struct{ X Expr }

// Stream are the connections of the three ports of a stream with the given prefix.
func Stream(prefix string, data, valid, ready Expr) []Connection {
	return []Connection{{prefix + "_data", data}, {prefix + "_valid", valid}, {prefix + "_ready", ready}}
}

// Clocked are the connections of clock and reset.
func Clocked(clk, rst string) []Connection { return []Connection{{"clk", Ref(clk)}, {"rst", Ref(rst)}} }

// Instances lists the instances of m, in order.
func (m *Module) Instances() (list []*Instance) {
	for _, item := range m.Items {
		if in, ok := item.(*Instance); ok {
			list = append(list, in)
		}
	}
	return list
}
