// SPDX-License-Identifier: Apache-2.0

// Package cuda makes CUDA kernels of a graph, one or a few a group of nodes: their source text, the constants that they
// read, and the launches in order. It needs no toolchain and no GPU.
package cuda

import (
	"fmt"
	"slices"

	"lathe/cuda"
	"lathe/cuda/ptx/tensor"
	"lathe/cuda/word"
	"lathe/ir"
	"lathe/ir/format"
)

// Design is a graph as kernels. Nothing in it depends on time, machine or map order.
type Design struct {
	// Name is that of the graph, Version that of the compiler.
	Name, Version string
	// Stage is that of the graph: codes of a quantized one are those of a plan, integers of a float one its own.
	Stage ir.Stage
	// GPU is the one for which times are predicted, Samples are how many it computes in them.
	GPU     string
	Samples int
	// Only is the architecture on which the kernels run; "" for any.
	Only string
	// Source is the translation unit with all kernels.
	Source string
	// Tables holds all constants; buffer 0 of every run has these bytes.
	Tables []byte
	// Buffers are what a run allocates, Tables first.
	Buffers []Buffer
	// Inputs and Outputs are in the order of the graph.
	Inputs, Outputs []Port
	// Units are the launches in order.
	Units []Unit
	// Traced are the outputs of all groups in graph order, if they were asked for.
	Traced []Port
	// Step is the design of one more token on the same caches, nil where there is none.
	Step *Design
}

// All are the units of d and of its step.
func (d *Design) All() []Unit {
	if d.Step == nil {
		return d.Units
	}
	return slices.Concat(d.Units, d.Step.Units)
}

// Buffer is a piece of device memory.
type Buffer struct {
	// Name says what it holds.
	Name string `json:"name"`
	// Bytes is its size for each sample, or as a whole for the tables.
	Bytes int64 `json:"bytes"`
}

// Port is a value that a caller gives or takes.
type Port struct {
	// Name is that of the graph's input or output; of a traced value, that of the node.
	Name string
	Node *ir.Node
	// Codes is the buffer with the elements, of type Store; Scales that of the scales of blocks, or -1.
	Codes, Scales     int
	Store, ScaleStore word.Type
	// Cache says that it is an input that kernels write where it lies, or the output that is the same memory; Position
	// that it is where they do so. Only EmitSteps sets them.
	Cache, Position bool
	// Perm restores the caller's layout of an output, as in ir.Output.
	Perm []int
}

// Unit is one kernel of a group and its launch.
type Unit struct {
	Kernel string `json:"kernel"`
	Node   string `json:"node"`
	Op     string `json:"op"`
	Source string `json:"source,omitempty"`
	Format string `json:"format"`
	Shape  []int  `json:"shape"`
	// Members are the nodes of the group where it has several: Node is its anchor, Format and Shape are those of its last
	// output.
	Members []string `json:"members,omitempty"`
	// Template is the kernel of the library with its parameters; empty where the kernel was made for this group.
	Template string `json:"template,omitempty"`
	// Blocks is the grid along x of one sample, which counts along y; where Tile is not 0, it is that of Tile of the
	// Rows that each sample has, and the grid is Blocks*ceil(Rows*samples/Tile) by 1.
	Blocks int64 `json:"blocks"`
	Rows   int64 `json:"rows,omitempty"`
	Tile   int64 `json:"tile,omitempty"`
	// Threads is the size of a block, Shared its dynamic shared memory in bytes.
	Threads int `json:"threads"`
	Shared  int `json:"shared,omitempty"`
	// MaxSamples is the most samples of one launch; further ones take another, on their part of the buffers.
	MaxSamples int `json:"max_samples"`
	// Args are those of the kernel, in its order.
	Args []Arg `json:"args"`
	// Bytes and Flops of one sample: what it must at least move, each byte of a buffer once, and, at the first kernel
	// of a group, the arithmetic operations of its nodes in floats, as generic.Program.Flops counts them.
	Bytes int64 `json:"bytes"`
	Flops int64 `json:"flops"`
	// Floor and Predicted are seconds on the GPU that Design.GPU names, for Design.Samples samples: what bytes and flops
	// take at its rates, those of the instruction Ceiling; and what the model of cuda/predictor says. Neither is measured.
	Floor     float64 `json:"floor_s"`
	Predicted float64 `json:"predicted_s"`
	Ceiling   string  `json:"ceiling"`
	// Notes say why no kernel of the library runs, and why a value got a kernel of its own.
	Notes []string `json:"notes,omitempty"`
}

// scalar is the Buffer of an argument that is a number.
const scalar = -1

// Arg is a buffer from Offset bytes of the first sample on, samples Each bytes apart; or, where Buffer is -1, a number
// of Size bytes: Value + PerSample*samples, rounded up to a multiple of Multiple unless that is 0. An address of 0 is a
// number too.
type Arg struct {
	Buffer    int    `json:"buffer"`
	Offset    int64  `json:"offset,omitempty"`
	Each      int64  `json:"each,omitempty"`
	Size      int    `json:"size,omitempty"`
	Value     uint64 `json:"value,omitempty"`
	PerSample int64  `json:"per_sample,omitempty"`
	Multiple  int64  `json:"multiple,omitempty"`
	// Tensor, if there is one, makes the argument a map of the tensor at that address. Its outermost dimension has
	// PerSample*samples elements, unless that is 0.
	Tensor *tensor.Map `json:"tensor,omitempty"`
}

// Grid is that of a launch on so many samples, at most MaxSamples.
func (u *Unit) Grid(samples int) [3]uint32 {
	if u.Tile == 0 {
		return [3]uint32{uint32(u.Blocks), uint32(samples), 1}
	}
	return [3]uint32{uint32(u.Blocks * ((u.Rows*int64(samples) + u.Tile - 1) / u.Tile)), 1, 1}
}

// Launches are the calls that compute samples, all of which lie in the buffers: sample after sample.
func (d *Design) Launches(samples int) []cuda.Launch {
	var out []cuda.Launch
	for _, u := range d.Units {
		for from := 0; from < samples; from += u.MaxSamples {
			n := min(samples-from, u.MaxSamples)
			out = append(out, d.launch(u, from, n))
		}
	}
	return out
}

// launch is the call of a unit on n samples from the given one on.
func (d *Design) launch(u Unit, from, n int) cuda.Launch {
	l := cuda.Launch{Kernel: u.Kernel, Grid: u.Grid(n), Block: [3]uint32{uint32(u.Threads), 1, 1},
		Shared: uint32(u.Shared)}
	for _, a := range u.Args {
		l.Args = append(l.Args, d.arg(a, from, n))
	}
	return l
}

// arg is an argument of a launch of n samples from the given one on.
func (d *Design) arg(a Arg, from, n int) cuda.Arg {
	if a.Tensor != nil {
		at := a
		at.Tensor = nil
		return cuda.Tensor(d.arg(at, from, n), *a.Tensor, a.PerSample).At(n)
	}
	switch a.Buffer {
	case scalar:
		s := cuda.Arg{Buffer: scalar, Size: a.Size, Bits: a.Value, PerSample: a.PerSample, Multiple: a.Multiple}
		return s.At(n)
	case 0:
		return cuda.BufferAt(0, a.Offset)
	}
	return cuda.BufferAt(a.Buffer, int64(from)*a.Each+a.Offset)
}

// Needed says which GPUs and drivers run the kernels: "8.0 or later", a compute capability, and "470".
func (d *Design) Needed() (capability, driver string) {
	if a, err := cuda.FindArch(d.Only); err == nil {
		return fmt.Sprintf("%d.%d", a.Capability/10, a.Capability%10), "525"
	}
	return "8.0 or later", "470"
}

// Size is the bytes of buffer i for a number of samples.
func (d *Design) Size(i, samples int) int64 {
	if i == 0 {
		return d.Buffers[0].Bytes
	}
	return d.Buffers[i].Bytes * int64(samples)
}

// Total is the device memory that a number of samples needs.
func (d *Design) Total(samples int) int64 {
	sum := int64(0)
	for i := range d.Buffers {
		sum += d.Size(i, samples)
	}
	return sum
}

// storeOf is the smallest type that holds every code of t.
func storeOf(t ir.Type) word.Type {
	switch {
	case t.Format == format.BF16:
		return word.BF16
	case t.Format == format.F16:
		return word.F16
	case t.IsFloat():
		return word.F32
	}
	return word.For(t.Format.Width(), format.SignedCodes(t.Format))
}
