// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"bytes"
	"encoding/json"
	"slices"

	"lathe/emit/meaning"
	"lathe/ir"
	"lathe/rtl"
)

// Binary is what a compiler made of the source for one architecture.
type Binary struct {
	// Arch is "sm_90"; "compute_80" for the PTX that every GPU from there on takes, PTXOnly and an architecture for one
	// that runs nowhere else.
	Arch string `json:"arch"`
	File string `json:"file"`
	// Kernels is what the assembler reports; none for PTX.
	Kernels []Usage `json:"kernels,omitempty"`
	Data    []byte  `json:"-"`
}

// Usage is what a kernel takes of a multiprocessor: registers of a thread, and bytes that a thread spills or keeps on a
// stack.
type Usage struct {
	Kernel    string `json:"kernel"`
	Registers int    `json:"registers"`
	Spill     int    `json:"spill_bytes"`
	Stack     int    `json:"stack_bytes"`
}

// PTXOnly stands before the architecture of a Binary that is PTX for it alone.
const PTXOnly = "PTX "

// Names of the files of an emitted folder.
const (
	SourceFile = "kernels.cu"
	PTXFile    = "kernels.ptx"
	tablesFile = "tables.bin"
	reportFile = "report.json"
)

// report is the text of report.json.
type report struct {
	Name     string   `json:"name"`
	Version  string   `json:"version"`
	Files    []string `json:"files"`
	Built    []string `json:"built,omitempty"`
	Source   string   `json:"source"`
	Tables   string   `json:"tables"`
	Binaries []Binary `json:"binaries"`
	Missing  string   `json:"missing,omitempty"`
	GPU      string   `json:"gpu"`
	program
	Step *program `json:"step,omitempty"`
}

// program is what a design computes.
type program struct {
	Inputs  []port   `json:"inputs"`
	Outputs []port   `json:"outputs"`
	Buffers []Buffer `json:"buffers"`
	Kernels []Unit   `json:"kernels"`
	Bytes   int64    `json:"bytes"`
	Flops   int64    `json:"flops"`
}

// port is an input or output in the report: Shape is that of the value in the buffer, Array that of the caller's array
// where it has other axes.
type port struct {
	Name   string `json:"name"`
	Shape  []int  `json:"shape"`
	Format string `json:"format"`
	Store  string `json:"store"`
	Codes  int    `json:"buffer"`
	Scales *int   `json:"scales_buffer,omitempty"`
	Perm   []int  `json:"perm,omitempty"`
	Array  []int  `json:"array_shape,omitempty"`
	// Exponents are those of ir.Input.
	Exponents []int `json:"exponents,omitempty"`
	// Cache and Position are as in Port.
	Cache    bool           `json:"cache,omitempty"`
	Position bool           `json:"position,omitempty"`
	Values   meaning.Values `json:"values"`
}

// Host is what runs the kernels of a folder: files that are made of its Design.
type Host struct {
	// Files have What of them stands in the page of the folder.
	Files []HostFile
	// Built names what their Makefile makes.
	Built []string
	// Page is the section on how to run them.
	Page string
}

// HostFile is a file with a line on its content.
type HostFile struct {
	rtl.File
	What string
}

// Files are those of the emitted folder: the source, the constants, what compilers made, the programs of h, and
// report.json. missing says why a binary is not there; empty if all are.
func (d *Design) Files(binaries []Binary, missing string, h Host) ([]rtl.File, error) {
	files := []rtl.File{{Name: SourceFile, Data: []byte(d.Source)}, {Name: tablesFile, Data: d.Tables}}
	for _, b := range binaries {
		files = append(files, rtl.File{Name: b.File, Data: b.Data})
	}
	for _, f := range h.Files {
		files = append(files, f.File)
	}
	page, err := d.readme(binaries, missing, h)
	if err != nil {
		return nil, err
	}
	files = append(files, page)
	r := report{Name: d.Name, Version: d.Version, Source: SourceFile, Tables: tablesFile, Binaries: binaries,
		Missing: missing, GPU: d.GPU, program: d.program(), Built: h.Built}
	if d.Step != nil {
		step := d.Step.program()
		r.Step = &step
	}
	if r.Binaries == nil {
		r.Binaries = []Binary{}
	}
	for _, f := range files {
		r.Files = append(r.Files, f.Name)
	}
	r.Files = append(r.Files, reportFile)
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return nil, err
	}
	return append(files, rtl.File{Name: reportFile, Data: text.Bytes()}), nil
}

// program is d in the report.
func (d *Design) program() program {
	r := program{Buffers: d.Buffers, Kernels: d.Units}
	for _, p := range d.Inputs {
		q := d.describe(p)
		q.Perm, q.Exponents = p.Node.Attrs.(*ir.Input).Perm, p.Node.Attrs.(*ir.Input).Exponents
		if q.Perm != nil { // axis i of the value is axis Perm[i] of the array
			q.Array = make([]int, len(q.Shape))
			for i, axis := range q.Perm {
				q.Array[axis] = q.Shape[i]
			}
		}
		r.Inputs = append(r.Inputs, q)
	}
	for _, p := range d.Outputs {
		q := d.describe(p)
		q.Perm = p.Perm
		for _, axis := range q.Perm { // axis i of the array is axis Perm[i] of the value
			q.Array = append(q.Array, q.Shape[axis])
		}
		r.Outputs = append(r.Outputs, q)
	}
	for _, u := range d.Units {
		r.Bytes, r.Flops = r.Bytes+u.Bytes, r.Flops+u.Flops
	}
	return r
}

func (d *Design) describe(p Port) port {
	t := p.Node.Type
	q := port{Name: p.Name, Shape: t.Shape, Format: t.Format.String(), Store: string(p.Store), Codes: p.Codes,
		Values: meaning.Of(p.Node.Type, d.Stage), Cache: p.Cache, Position: p.Position}
	if q.Shape == nil {
		q.Shape = []int{}
	}
	if p.Scales >= 0 {
		q.Scales = &p.Scales
	}
	return q
}

// Listed names the files of an emitted folder and what is built in it, given its report.json; none if that is not what
// Files makes.
func Listed(text []byte) []string {
	var r report
	if err := json.Unmarshal(text, &r); err != nil || r.Source != SourceFile || !slices.Contains(r.Files, reportFile) {
		return nil
	}
	return append(r.Files, r.Built...)
}
