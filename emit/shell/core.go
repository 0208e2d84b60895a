// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"lathe/emit"
	"lathe/emit/circuit"
	"lathe/internal/diag"
	"lathe/rtl"
	"lathe/rtl/netlist"
)

// Core is an emitted design as a shell sees it.
type Core struct {
	// Name is that of the model, Top the module, Version the compiler's.
	Name, Top, Version string
	Streams            []Stream
	// Files are sources in the order of compilation, then memory images.
	Files []rtl.File
	// ID is a digest of the circuit and of what its streams mean.
	ID uint64
	// Timeout is the cycles within which a sample has certainly come through.
	Timeout int

	ports []netlist.Port // of Top
	json  map[string]json.RawMessage
	// frames is the flag of emit-verilog by which frames change in length, "" where they do not; memory says that the
	// design has a port to a memory outside.
	frames string
	memory bool
}

// Stream is one of the design. Its frame is Beats beats of Bytes bytes, and begins at Offset of the frames of all
// inputs, or of all outputs, one behind the other.
type Stream struct {
	Prefix               string
	Input                bool
	Bytes, Beats, Offset int
}

// Size is the bytes of a frame.
func (s Stream) Size() int { return s.Bytes * s.Beats }

// Bytes are those of the frames of all inputs, or of all outputs.
func (c *Core) Bytes(input bool) (sum int) {
	for _, s := range c.Streams {
		if s.Input == input {
			sum += s.Size()
		}
	}
	return sum
}

// Digest is the ID in hexadecimal digits.
func (c *Core) Digest() string { return fmt.Sprintf("%016x", c.ID) }

// Describe is design.json of the design in a shell: another top, and the sources of the shell behind those of the core.
func (c *Core) Describe(top string, files []rtl.File) ([]byte, error) {
	all := maps.Clone(c.json)
	var names []string
	for _, f := range slices.Concat(c.Files, files) {
		if filepath.Ext(f.Name) != ".mem" {
			names = append(names, f.Name)
		}
	}
	var err error
	if all["sources"], err = json.Marshal(names); err != nil {
		return nil, err
	}
	if all["top"], err = json.Marshal(top); err != nil {
		return nil, err
	}
	return json.Marshal(all)
}

// described is what design.json says, as far as a shell asks.
type described struct {
	Name    string          `json:"name"`
	Version string          `json:"lathe"`
	Top     string          `json:"top"`
	Core    string          `json:"core"`
	Sources []string        `json:"sources"`
	Files   []string        `json:"files"`
	Units   []emit.Unit     `json:"units"`
	Tokens  int             `json:"tokens"`
	Group   int             `json:"samples_of_a_group"`
	Lengths int             `json:"lengths"`
	Memory  json.RawMessage `json:"memory"`
	Streams []struct {
		Direction string `json:"direction"`
		Stream    string `json:"stream"`
		Beats     int    `json:"beats"`
		TData     int    `json:"tdata_width"`
	} `json:"ports"`
}

// Of is the core of a design in memory. Errors as Read.
func Of(d *emit.Design) (*Core, error) {
	files := map[string]rtl.File{}
	for _, f := range d.All() {
		files[f.Name] = f
	}
	return read(d.Name, func(name string) (rtl.File, error) {
		f, ok := files[name]
		if !ok {
			return f, fmt.Errorf("no file %s", name)
		}
		return f, nil
	})
}

// Read reads the folder of an emitted design. Error L0776 where it is none.
func Read(dir string) (*Core, error) {
	return read(dir, func(name string) (rtl.File, error) {
		data, err := os.ReadFile(filepath.Join(dir, name))
		return rtl.File{Name: name, Data: data}, err
	})
}

func read(dir string, open func(name string) (rtl.File, error)) (*Core, error) {
	no := func(cause any) error {
		return diag.New(diag.RouteFolder, dir, "no folder of an emitted design: %v", cause).
			WithHint("emit one first: lathe emit-verilog MODEL -o %s", dir)
	}
	text, err := open("design.json")
	if err != nil {
		return nil, no("design.json is missing")
	}
	var d described
	c := &Core{}
	if err := json.Unmarshal(text.Data, &d); err != nil || d.Top == "" || d.Core == "" {
		return nil, no("design.json is broken")
	}
	if err := json.Unmarshal(text.Data, &c.json); err != nil {
		return nil, no("design.json is broken")
	}
	for _, name := range d.Files {
		if filepath.Ext(name) == ".mem" && filepath.Base(name) == name {
			d.Sources = append(d.Sources, name)
		}
	}
	for _, name := range d.Sources {
		f, err := open(name)
		if err != nil {
			return nil, no(err)
		}
		c.Files = append(c.Files, f)
	}
	c.Name, c.Top, c.Version, c.Timeout = d.Name, d.Top, d.Version, d.timeout()
	c.frames, c.memory = "", len(d.Memory) > 0
	switch {
	case d.Tokens > 0:
		c.frames = "--decode"
	case d.Lengths > 0:
		c.frames = "--lengths"
	}
	var at [2]int
	for _, s := range d.Streams {
		input := s.Direction == "in"
		side := &at[map[bool]int{true: 1}[input]]
		c.Streams = append(c.Streams, Stream{s.Stream, input, s.TData / 8, s.Beats, *side})
		*side += s.TData / 8 * s.Beats
	}
	if c.ports = portsOf(c.Files, c.Top); c.ports == nil {
		return nil, no("the ports of " + c.Top + " cannot be read")
	}
	return c, c.identify()
}

// maxFrame is the most bytes of a frame.
const maxFrame = 1 << 20

// servedOutside is error L1203 where frames change in length.
func (c *Core) servedOutside() error {
	if c.frames == "" {
		return nil
	}
	return diag.New(diag.BoardCore, c.Name, "shells have whole samples come and go, and the frames of this design "+
		"change in length").WithHint("emit it without %s", c.frames)
}

// OnBoard is error L1203 where frames change in length, are too large, or the design needs a memory outside.
func (c *Core) OnBoard() error {
	if err := c.servedOutside(); err != nil {
		return err
	}
	if c.memory {
		return diag.New(diag.BoardCore, c.Name, "this design reads a memory outside, which the boards have not").
			WithHint("emit it with its weights inside: leave out weights of [memory] and of rules in the plan")
	}
	if most := max(c.Bytes(true), c.Bytes(false)); most > maxFrame {
		return diag.New(diag.BoardCore, c.Name, "a sample has %d bytes, and the buffers of a board hold %d", most,
			maxFrame).WithHint("end the model earlier, or begin it later: --outputs")
	}
	return nil
}

// timeout is many times what the units take one after the other, and what they read after a reset.
func (d *described) timeout() int {
	sum := 0
	for _, u := range d.Units {
		sum += u.Cycles + u.Latency
		for _, i := range u.Images {
			sum += i.Words
		}
	}
	for _, s := range d.Streams {
		sum += 4 * s.Beats * (s.TData + 8) / 8
	}
	return min(1<<30, 1<<16+16*max(1, d.Group)*sum)
}

// identify computes the ID.
func (c *Core) identify() error {
	found, err := circuit.Of(&emit.Design{Top: c.Top, Files: c.Files})
	if err != nil {
		return diag.New(diag.RouteFolder, c.Name, "no folder of an emitted design: %v", err)
	}
	var ports bytes.Buffer
	if err := json.Compact(&ports, c.json["ports"]); err != nil {
		return diag.New(diag.RouteFolder, c.Name, "no folder of an emitted design: %v", err)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n", found.Digest(nil), &ports)
	c.ID = binary.BigEndian.Uint64(h.Sum(nil))
	return nil
}

// portsOf are the ports of a generated module among files.
func portsOf(files []rtl.File, top string) []netlist.Port {
	at := slices.IndexFunc(files, func(f rtl.File) bool { return f.Name == top+".v" })
	if at < 0 {
		return nil
	}
	return netlist.PortsOf(files[at].Bytes(), top)
}
