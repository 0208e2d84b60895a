// SPDX-License-Identifier: Apache-2.0

// Package record writes down what a device is asked for, with its answers, into a folder that another machine replays:
// compiled programs, contents of buffers, launches, and what was read back. The machine that replays needs neither
// compiler nor model.
package record

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"lathe/cuda/ptx/tensor"
	"lathe/internal/diag"
	"lathe/sim/gpu"
)

// Schema is the version of the manifest. A folder of another version is refused.
const Schema = 1

// manifestName is the file that describes a recording; dataDir holds contents by their hash.
const (
	manifestName = "manifest.json"
	dataDir      = "data"
)

// Manifest is manifest.json.
type Manifest struct {
	Schema int `json:"schema"`
	// Device and Arch are those of the device that gave the answers.
	Device   string    `json:"device"`
	Arch     string    `json:"arch"`
	Programs []Program `json:"programs"`
	// Buffers are the sizes in bytes of what was allocated, in order.
	Buffers []int64 `json:"buffers"`
	Steps   []Step  `json:"steps"`
}

// Program is a compiled translation unit.
type Program struct {
	Name   string  `json:"name"`
	PTX    File    `json:"ptx"`
	Cubins []Cubin `json:"cubins,omitempty"`
}

// Cubin is machine code.
type Cubin struct {
	Arch string `json:"arch"`
	File
}

// File is a content: in data/, under its hash.
type File struct {
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// Step is one thing that the device was asked for. Do says which, and which other fields matter: alloc, free (Buffer);
// write, read (Buffer, Offset, Data); fill (Buffer, Offset, Bytes, Value); load, unload (Program); launch (Program,
// Launches).
type Step struct {
	Do        string     `json:"do"`
	Buffer    int        `json:"buffer,omitempty"`
	Offset    int64      `json:"offset,omitempty"`
	Bytes     int64      `json:"bytes,omitempty"`
	Value     byte       `json:"value,omitempty"`
	Data      *File      `json:"data,omitempty"`
	Tolerance *Tolerance `json:"tolerance,omitempty"`
	Program   int        `json:"program,omitempty"`
	Launches  []Launch   `json:"launches,omitempty"`
}

// Launch is a cuda.Launch whose buffers are those of the manifest.
type Launch struct {
	Kernel string    `json:"kernel"`
	Grid   [3]uint32 `json:"grid"`
	Block  [3]uint32 `json:"block"`
	Shared uint32    `json:"shared,omitempty"`
	Args   []Arg     `json:"args"`
}

// Arg is an address inside a buffer, or else Size bytes of Bits.
type Arg struct {
	Buffer *int   `json:"buffer,omitempty"`
	Offset int64  `json:"offset,omitempty"`
	Size   int    `json:"size,omitempty"`
	Bits   uint64 `json:"bits,omitempty,string"`
	// Map describes the tensor at the buffer; the argument is no address then.
	Map *tensor.Map `json:"map,omitempty"`
}

// Tolerance says how a read may differ from the recorded one: elements of Type ("bf16", "f16", "f32") by Abs, by Rel
// times the recorded magnitude, or by OfMax times the largest recorded magnitude of the read, whichever is largest.
// Without one, all bits must be equal.
type Tolerance struct {
	Type  string  `json:"type"`
	Abs   float64 `json:"abs"`
	Rel   float64 `json:"rel"`
	OfMax float64 `json:"of_max"`
}

func hash(data []byte) File {
	sum := sha256.Sum256(data)
	return File{SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(data))}
}

func (f File) path(dir string) string { return filepath.Join(dir, dataDir, f.SHA256) }

// content reads a file of the recording and compares its hash.
func (f File) content(dir string) ([]byte, error) {
	if raw, err := hex.DecodeString(f.SHA256); err != nil || len(raw) != sha256.Size {
		return nil, broken(dir, "%q is not a sha256", f.SHA256)
	}
	info, err := os.Stat(f.path(dir))
	if err == nil && info.Size() != f.Bytes {
		return nil, broken(dir, "data/%s has %d bytes, not %d", f.SHA256, info.Size(), f.Bytes)
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(f.path(dir))
	}
	if err != nil {
		return nil, broken(dir, "%v", err)
	}
	if have := hash(data); have != f {
		return nil, broken(dir, "data/%s has another content than its name says", f.SHA256)
	}
	return data, nil
}

func broken(dir, format string, args ...any) error {
	return diag.New(diag.RecordingBroken, dir, "the recording cannot be replayed: %s", fmt.Sprintf(format, args...)).
		WithHint("lathe run --engine cuda --record DIR makes a recording")
}

// Open reads the manifest of a recording and checks that its steps fit together. Error L0986.
func Open(dir string) (*Manifest, error) {
	text, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		return nil, broken(dir, "%v", err)
	}
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, broken(dir, "%s: %v", manifestName, err)
	}
	if m.Schema != Schema {
		return nil, broken(dir, "it has schema %d, this version reads %d", m.Schema, Schema)
	}
	return &m, m.check(dir)
}

// check finds steps that no device can be asked for.
func (m *Manifest) check(dir string) error {
	for _, n := range m.Buffers {
		if n < 0 {
			return broken(dir, "a buffer of %d bytes", n)
		}
	}
	alive, loaded := make([]bool, len(m.Buffers)), make([]bool, len(m.Programs))
	for i := range m.Steps {
		if why := m.wrong(&m.Steps[i], alive, loaded); why != "" {
			return broken(dir, "step %d (%s): %s", i, m.Steps[i].Do, why)
		}
	}
	if !m.has(func(s *Step) bool { return len(s.Launches) > 0 }) {
		return broken(dir, "it launches nothing")
	}
	if !m.has(func(s *Step) bool { return s.Do == "read" && s.Data.Bytes > 0 }) {
		return broken(dir, "it reads no result")
	}
	return nil
}

// has says whether there is such a step.
func (m *Manifest) has(is func(s *Step) bool) bool {
	for i := range m.Steps {
		if is(&m.Steps[i]) {
			return true
		}
	}
	return false
}

// wrong says what is wrong with a step, given what is allocated and loaded before it, and brings these up to date.
func (m *Manifest) wrong(s *Step, alive, loaded []bool) string {
	switch s.Do {
	case "alloc", "free", "write", "read", "fill":
		if s.Buffer < 0 || s.Buffer >= len(alive) || alive[s.Buffer] == (s.Do == "alloc") {
			return fmt.Sprintf("buffer %d", s.Buffer)
		}
		n := s.Bytes
		if s.Do == "write" || s.Do == "read" {
			if s.Data == nil {
				return "no data"
			}
			n = s.Data.Bytes
		}
		if s.Offset < 0 || n < 0 || s.Offset > m.Buffers[s.Buffer] || n > m.Buffers[s.Buffer]-s.Offset {
			return "leaves its buffer"
		}
		if t := s.Tolerance; t != nil && width(t.Type) == 0 {
			return fmt.Sprintf("values of type %q", t.Type)
		}
		alive[s.Buffer] = s.Do != "free"
	case "load", "unload", "launch":
		if s.Program < 0 || s.Program >= len(loaded) || loaded[s.Program] == (s.Do == "load") {
			return fmt.Sprintf("program %d", s.Program)
		}
		for _, l := range s.Launches {
			for _, a := range l.Args {
				if a.Buffer == nil && a.Size != 4 && a.Size != 8 {
					return fmt.Sprintf("kernel %s: an argument of %d bytes", l.Kernel, a.Size)
				}
				if a.Buffer != nil && (*a.Buffer < 0 || *a.Buffer >= len(alive) || !alive[*a.Buffer]) {
					return fmt.Sprintf("kernel %s: buffer %d", l.Kernel, *a.Buffer)
				}
			}
		}
		loaded[s.Program] = s.Do != "unload"
	default:
		return "is not a step"
	}
	return ""
}

// Open reads the images of a program from a folder. Error L0986.
func (p *Program) Open(dir string) (*gpu.Program, error) {
	text, err := p.PTX.content(dir)
	if err != nil {
		return nil, err
	}
	out := &gpu.Program{Name: p.Name, PTX: text}
	for _, c := range p.Cubins {
		data, err := c.content(dir)
		if err != nil {
			return nil, err
		}
		out.Cubins = append(out.Cubins, gpu.Cubin{Arch: c.Arch, Data: data})
	}
	return out, nil
}
