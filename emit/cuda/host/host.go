// SPDX-License-Identifier: Apache-2.0

// Package host makes the programs of an emitted folder that run its kernels: a C library over the CUDA driver with code
// and launches inside, a program that tries it, a Python module, and what builds them. Texts that are the same for all
// models lie in folder/, with NAME and UPPER where the name of the model will stand, and words such as @INPUTS@ for
// numbers.
package host

import (
	"bytes"
	"embed"
	"encoding/binary"
	"fmt"
	"path"
	"slices"
	"strings"

	kernels "lathe/cuda"
	"lathe/emit/cuda"
	"lathe/rtl"
)

//go:embed folder
var folder embed.FS

//go:embed run.md
var page string

//go:embed step.md
var stepPage string

// Bounds of what a run takes. align is that of the widest access of a kernel.
const (
	maxBatch = 1 << 20
	maxBytes = 1 << 46
	align    = 16
)

// what is said of the files in the page of the folder, by their names in folder/.
var what = map[string]string{
	"CMakeLists.txt": "the library and the demo for projects built by CMake",
	"Makefile":       "builds the library and the demo",
	"NAME.c":         "the library, which launches the kernels through the CUDA driver",
	"NAME.h":         "the functions of the library",
	"NAME_kernels.h": "what the library knows of the model",
	"demo.c":         "runs samples.bin and compares",
	"model.py":       "the library for Python: NumPy arrays, and arrays on the GPU",
}

// Files are the programs for a design with these binaries; none where there is no code to run.
func Files(d *cuda.Design, binaries []cuda.Binary, s Samples) (h cuda.Host, err error) {
	if len(binaries) == 0 {
		return h, nil
	}
	p, err := newPlan(d, binaries)
	if err != nil {
		return h, err
	}
	entries, err := folder.ReadDir("folder")
	if err != nil {
		return h, err
	}
	fill := strings.NewReplacer(p.words()...)
	add := func(name, what string, data []byte) {
		h.Files = append(h.Files, cuda.HostFile{File: rtl.File{Name: name, Data: data}, What: what})
	}
	for _, e := range entries {
		text, err := folder.ReadFile(path.Join("folder", e.Name()))
		if err != nil {
			return h, err
		}
		add(fill.Replace(e.Name()), what[e.Name()], []byte(fill.Replace(string(text))))
	}
	add(p.name+"_kernels.c", "machine code, PTX and launches as C arrays", p.kernels())
	add(samplesFile, "samples with the outputs of the reference", s.encode(d))
	h.Page = fill.Replace(page)
	if d.Step != nil {
		h.Page += fill.Replace(stepPage)
	}
	h.Built = []string{"demo", "lib" + p.name + ".so"}
	return h, nil
}

// Name is the name in C of a design that is called so: letters, digits and underscores, and no name of another file of
// the folder.
func Name(design string) string {
	name := strings.Trim(cuda.Identifier(design), "_")
	if name == "" || name[0] >= '0' && name[0] <= '9' || slices.Contains([]string{"demo", "kernels"}, name) {
		name = strings.TrimSuffix("model_"+name, "_")
	}
	return name
}

// array is an input or output of the library: the codes of a port, or the scales of its blocks.
type array struct {
	name   string
	typ    string
	shape  []int
	bytes  int64
	buffer int
}

// arrays are those of ports in order.
func arrays(ports []cuda.Port) []array {
	var out []array
	for _, p := range ports {
		t := p.Node.Type
		out = append(out, array{p.Name, string(p.Store), t.Shape, int64(t.Elems() * p.Store.Bytes()), p.Codes})
		if p.Scales >= 0 {
			out = append(out, array{p.Name + "_scale", string(p.ScaleStore), t.ScaleShape(),
				int64(t.Blocks() * p.ScaleStore.Bytes()), p.Scales})
		}
	}
	return out
}

// place is where a buffer lies: in the weights, the workspace, or an input or output of that index.
type place struct {
	where string
	index int
}

// images are binaries as a GPU tries them: code for one architecture only before code that later ones run too, newer
// before older, PTX last.
type image struct {
	cuda.Binary
	name       string
	capability int
	exact, ptx bool
}

// plan is a design as the library holds it, with that of its step.
type plan struct {
	d           *cuda.Design
	name        string
	programs    []program
	caches      []array
	kernelNames []string
	shared      []int // dynamic shared memory that launches of each kernel take at most
	images      []image
}

// program is a design: where its buffers lie, and which of them its outputs are copies of. position is the buffer of
// positions, or -1.
type program struct {
	d               *cuda.Design
	inputs, outputs []array
	places          []place
	copies          [][2]int
	position        int
}

func newPlan(d *cuda.Design, binaries []cuda.Binary) (*plan, error) {
	p := &plan{d: d, name: Name(d.Name), programs: []program{newProgram(d)}}
	if d.Step != nil {
		p.caches = cachesOf(d)
		p.programs = append(p.programs, newProgram(d.Step))
	}
	for _, u := range d.All() {
		at := slices.Index(p.kernelNames, u.Kernel)
		if at < 0 {
			at = len(p.kernelNames)
			p.kernelNames, p.shared = append(p.kernelNames, u.Kernel), append(p.shared, 0)
		}
		p.shared[at] = max(p.shared[at], u.Shared)
	}
	return p, p.order(binaries)
}

// choose are the ports that f tells.
func choose(ports []cuda.Port, f func(cuda.Port) bool) []cuda.Port {
	return slices.DeleteFunc(slices.Clone(ports), func(p cuda.Port) bool { return !f(p) })
}

// cachesOf are the caches of a design: scales of blocks behind their codes.
func cachesOf(d *cuda.Design) []array {
	return arrays(choose(d.Inputs, func(q cuda.Port) bool { return q.Cache }))
}

func newProgram(d *cuda.Design) program {
	given := func(q cuda.Port) bool { return !q.Cache && !q.Position }
	p := program{d: d, inputs: arrays(choose(d.Inputs, given)), outputs: arrays(choose(d.Outputs, given)),
		places: make([]place, len(d.Buffers)), position: -1}
	for i := range p.places {
		p.places[i].where = "IN_WORKSPACE"
	}
	p.places[0].where = "IN_WEIGHTS"
	for i, a := range p.inputs {
		p.places[a.buffer] = place{"IN_INPUT", i}
	}
	for i, a := range cachesOf(d) {
		p.places[a.buffer] = place{"IN_CACHE", i}
	}
	for _, q := range d.Inputs {
		if q.Position {
			p.position = q.Codes
		}
	}
	for i, a := range p.outputs {
		if p.places[a.buffer].where == "IN_WORKSPACE" {
			p.places[a.buffer] = place{"IN_OUTPUT", i}
			continue
		}
		p.copies = append(p.copies, [2]int{i, a.buffer})
	}
	return p
}

// order fills images.
func (p *plan) order(binaries []cuda.Binary) error {
	for _, b := range binaries {
		if b.Arch == kernels.PortablePTX {
			p.images = append(p.images, image{Binary: b, name: "PTX sm_80", capability: 80, ptx: true})
			continue
		}
		name, ptx := strings.CutPrefix(b.Arch, cuda.PTXOnly)
		a, err := kernels.FindArch(name)
		if err != nil {
			return err
		}
		kind := "cubin "
		if ptx {
			kind = "PTX "
		}
		p.images = append(p.images, image{Binary: b, name: kind + name, capability: a.Capability, exact: a.Exact, ptx: ptx})
	}
	slices.SortStableFunc(p.images, func(a, b image) int {
		rank := func(i image) int {
			switch {
			case i.ptx: // nothing else suits what it suits
				return 0
			case i.exact:
				return 2*i.capability + 1
			}
			return 2 * i.capability
		}
		return rank(b) - rank(a)
	})
	return nil
}

// batch is the most samples of a run.
func (p *plan) batch() int64 {
	most := int64(maxBatch)
	for _, q := range p.programs {
		for _, b := range q.d.Buffers[1:] {
			if b.Bytes > 0 {
				most = min(most, maxBytes/b.Bytes)
			}
		}
	}
	return max(most, 1)
}

// words are what stands for the words of the texts.
func (p *plan) words() []string {
	arguments, tensors, buffers, room := 0, 0, 0, 0
	for _, u := range p.d.All() {
		arguments = max(arguments, len(u.Args))
		maps := 0
		for _, a := range u.Args {
			if a.Tensor != nil {
				maps++
			}
		}
		tensors = max(tensors, maps)
	}
	for _, q := range p.programs {
		buffers = max(buffers, len(q.places))
	}
	for _, a := range p.caches {
		room = a.shape[2] // [batch][heads][tokens][size]
	}
	needed, oldest := p.d.Needed()
	cache := ""
	if len(p.caches) > 0 {
		cache = ", cache=model.new_cache()"
	}
	words := []string{"NAME", p.name, "UPPER", strings.ToUpper(p.name)}
	for _, w := range []struct {
		word  string
		value any
	}{
		{"INPUTS", len(p.programs[0].inputs)}, {"OUTPUTS", len(p.programs[0].outputs)}, {"MAXBATCH", p.batch()},
		{"ALIGN", align}, {"CACHES", len(p.caches)}, {"MAXSEQ", room}, {"KERNELS", len(p.kernelNames)},
		{"PROGRAMS", len(p.programs)}, {"MAXBUFFERS", buffers}, {"IMAGES", len(p.images)}, {"MAXARGS", arguments},
		{"MAXTENSORS", tensors}, {"WEIGHTS", len(p.d.Tables)}, {"CHECK", fmt.Sprintf("%#x", check(p.d.Tables))},
		{"NEEDED", needed}, {"DRIVER", oldest}, {"CUDA", versions[oldest]}, {"NEWCACHE", cache},
	} {
		words = append(words, "@"+w.word+"@", fmt.Sprint(w.value))
	}
	return words
}

// versions of CUDA that drivers came with.
var versions = map[string]string{"470": "11.4", "525": "12.0"}

// check is the sum of the file of weights, as NAME.c computes it.
func check(data []byte) uint64 {
	const prime = 0x100000001b3
	lanes, sum := [4]uint64{1, 2, 3, 4}, uint64(len(data))
	padded := append(bytes.Clone(data[len(data)/8*8:]), make([]byte, 8)...)
	for i := range (len(data) + 7) / 8 {
		word := padded
		if 8*i+8 <= len(data) {
			word = data[8*i:]
		}
		lanes[i%4] = (lanes[i%4] ^ binary.LittleEndian.Uint64(word)) * prime
	}
	for _, lane := range lanes {
		sum = (sum ^ lane) * prime
	}
	return sum
}
