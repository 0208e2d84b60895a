// SPDX-License-Identifier: Apache-2.0

// Package cuda makes CUDA kernels of a graph, one or a few a node: their source text, the constants that they read, and
// the launches in order. It needs no toolchain and no GPU.
package cuda

import (
	"lathe/cuda"
	"lathe/emit/cuda/kernel"
	"lathe/ir"
)

// Design is a graph as kernels. Nothing in it depends on time, machine or map order.
type Design struct {
	// Name is that of the graph, Version that of the compiler.
	Name, Version string
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
	// Traced are the values of the nodes in graph order, if they were asked for.
	Traced []Port
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
	Store, ScaleStore kernel.Type
	// Perm restores the caller's layout of an output, as in ir.Output.
	Perm []int
}

// Unit is one kernel and its launch.
type Unit struct {
	Kernel string `json:"kernel"`
	Node   string `json:"node"`
	Op     string `json:"op"`
	Source string `json:"source,omitempty"`
	Format string `json:"format"`
	Shape  []int  `json:"shape"`
	// Blocks is the grid along x of one sample, which counts along y; Threads is the size of a block.
	Blocks  int64 `json:"blocks"`
	Threads int   `json:"threads"`
	// Args are the buffers that it takes.
	Args []Arg `json:"args"`
	// Bytes and Flops of one sample: what it must at least move, each byte of a buffer once, and compute.
	Bytes int64 `json:"bytes"`
	Flops int64 `json:"flops"`
	// Notes say why a value got a kernel of its own, and what was not fused.
	Notes []string `json:"notes,omitempty"`
}

// Arg is a buffer, or a part of the tables that begins Offset bytes in.
type Arg struct {
	Buffer int   `json:"buffer"`
	Offset int64 `json:"offset,omitempty"`
}

// maxSamples is the most samples of one launch: what every GPU has along y of a grid.
const maxSamples = 65535

// Launches are the calls that compute samples, all of which lie in the buffers: sample after sample.
func (d *Design) Launches(samples int) []cuda.Launch {
	var out []cuda.Launch
	for _, u := range d.Units {
		for from := 0; from < samples; from += maxSamples {
			n := min(samples-from, maxSamples)
			l := cuda.Launch{Kernel: u.Kernel, Grid: [3]uint32{uint32(u.Blocks), uint32(n), 1},
				Block: [3]uint32{uint32(u.Threads), 1, 1}}
			for _, a := range u.Args {
				offset := a.Offset
				if a.Buffer != 0 {
					offset = int64(from) * d.Buffers[a.Buffer].Bytes
				}
				l.Args = append(l.Args, cuda.BufferAt(a.Buffer, offset))
			}
			out = append(out, l)
		}
	}
	return out
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
func storeOf(t ir.Type) kernel.Type {
	if t.IsFloat() {
		return kernel.F32
	}
	return word(t.Format.Width(), signed(t))
}

// word is the smallest integer type of at least the given bits. Codes of 64 bits are raw bits in a signed type.
func word(bits int, signed bool) kernel.Type {
	switch {
	case bits > 32:
		return kernel.I64
	case bits > 16 && signed:
		return kernel.I32
	case bits > 16:
		return kernel.U32
	case bits > 8 && signed:
		return kernel.I16
	case bits > 8:
		return kernel.U16
	case signed:
		return kernel.I8
	}
	return kernel.U8
}
