// SPDX-License-Identifier: Apache-2.0

package ir

import "slices"

// Origin is what an importer saw in a model file beside its values: facts for people and for training, of which no pass
// makes use.
type Origin struct {
	// Format is the model format ("ONNX"), Producer the program that wrote the file, "" where the file does not say.
	Format, Producer string
	// Modules are the modules of the source model and their classes, each path once, outer before inner where the file
	// lists them so. The model itself has the path "".
	Modules []Module
	// Dropouts counts the dropout operations that the importer left out.
	Dropouts int
	// Drops are those whose place in the graph is known, for training.
	Drops []Drop
	// Dangling names the operations whose values nobody reads. They are no part of the graph.
	Dangling []string
	// Shadowed names the inputs that the file also gives a value (an initializer of the same name): they are constants.
	Shadowed []string
	// Renamed lists the names of operations that stand for several, and were made unique.
	Renamed []Renamed
	// Unsigned names the outputs that are unsigned integers of 64 bits in the file. Graphs compute them modulo 2^64, as
	// Int64.
	Unsigned []string
	// Notes are other things worth a line each.
	Notes []string
	// Warnings are what a user should know before trusting the results.
	Warnings []string
	// Instead is the hint for those who want hardware of a file that no hardware computes; "" for other files.
	Instead string
}

// Module is a module of the source model: its path ("encoder.layer.0.attention") and the class of its code.
type Module struct {
	Path, Class string
}

// Renamed is a name of the source model and the one that a node got because the first was taken.
type Renamed struct {
	From, To string
}

// Drop is a dropout of the source model: of the result of a node, in training a share becomes 0.
type Drop struct {
	Behind string // the node, as imported
	Rate   float64
}

// Clone copies the record; that of nil is nil.
func (o *Origin) Clone() *Origin {
	if o == nil {
		return nil
	}
	c := *o
	c.Modules, c.Renamed = slices.Clone(o.Modules), slices.Clone(o.Renamed)
	c.Dangling, c.Shadowed = slices.Clone(o.Dangling), slices.Clone(o.Shadowed)
	c.Unsigned, c.Drops = slices.Clone(o.Unsigned), slices.Clone(o.Drops)
	c.Notes, c.Warnings = slices.Clone(o.Notes), slices.Clone(o.Warnings)
	return &c
}

// Class is the class of the module at path, "" if the record has none.
func (o *Origin) Class(path string) string {
	if o == nil {
		return ""
	}
	for _, m := range o.Modules {
		if m.Path == path {
			return m.Class
		}
	}
	return ""
}
