// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"lathe/internal/diag"
)

// Model is a compiled design, ready to run any number of times, also at once.
type Model struct {
	spec    Spec
	dir     string
	program string // may hold other designs too
	number  int    // of the design in it
}

// Dir is the cache folder of the model: sources and memory images.
func (m *Model) Dir() string { return m.dir }

// Build compiles the design, or finds it in the cache, whose key is everything that bears on the result: sources,
// images, parameters, tool versions and flags. Errors: L0701 a tool is missing, L0702 Verilator refuses the design,
// L0703 the C++ compiler fails, L0708 the Spec is not usable.
func Build(ctx context.Context, spec Spec) (*Model, error) {
	models, err := BuildAll(ctx, []Spec{spec})
	if err != nil {
		return nil, err
	}
	return models[0], nil
}

// BuildAll compiles several designs into one program, which takes less time than a program for each: the compiler reads
// its headers and links once. All have the same CacheDir and Trace. Errors as those of Build, of the first design that
// has one.
func BuildAll(ctx context.Context, specs []Spec) ([]*Model, error) {
	if len(specs) == 0 {
		return nil, nil
	}
	first := &specs[0]
	for i := range specs {
		if err := specs[i].check(); err != nil {
			return nil, err
		}
		if specs[i].CacheDir != first.CacheDir || specs[i].Trace != first.Trace {
			return nil, diag.New(diag.SimulationRequest, specs[i].Top,
				"the designs of one program have one cache and one way to trace")
		}
	}
	tools, err := findToolchain()
	if err != nil {
		return nil, err
	}
	runtimeDir, err := tools.runtime(ctx, first.CacheDir, first.Trace)
	if err != nil {
		return nil, err
	}
	parts := []string{filepath.Base(runtimeDir), glueAll(specs)}
	for i := range specs {
		parts = append(parts, specs[i].wrapper(), strings.Join(specs[i].verilatorArgs(i), " "))
		for _, f := range specs[i].all() {
			parts = append(parts, f.Name, string(f.Bytes()))
		}
	}
	dir, err := cached(ctx, first.CacheDir, first.Top+"-"+digest(parts...), func(dir string) error {
		return buildProgram(ctx, tools, runtimeDir, dir, specs)
	})
	if err != nil {
		return nil, err
	}
	models := make([]*Model, len(specs))
	for i := range specs {
		models[i] = &Model{spec: specs[i], dir: filepath.Join(dir, folder(specs, i)),
			program: filepath.Join(dir, programName), number: i}
	}
	return models, nil
}

// programName is the file of a compiled program in its folder of the cache.
const programName = "model"

// folder is where the files of design i of a program lie: in the program's own folder if it is the only one.
func folder(specs []Spec, i int) string {
	if len(specs) == 1 {
		return "."
	}
	return strconv.Itoa(i)
}

// check refuses what would only fail inside a tool, with a worse message.
func (s *Spec) check() error {
	bad := func(msg string, args ...any) error { return diag.New(diag.SimulationRequest, s.Top, msg, args...) }
	if s.Top == "" || len(s.Out) == 0 {
		return bad("a design needs a top module and an output")
	}
	if s.Handshake == ByWrapper && (len(s.In) == 0 || len(s.Out) != 1) {
		return bad("a wrapped pipeline has inputs and exactly one output, not %d and %d", len(s.In), len(s.Out))
	}
	if s.Handshake == ByWrapper && s.Pipe > 0 && s.Enable == "" {
		return bad("a wrapped pipeline of %d registers needs an enable", s.Pipe)
	}
	for _, w := range s.wires() {
		if w.port.Width < 1 {
			return bad("port %s has width %d", w.port.Name, w.port.Width)
		}
	}
	seen := map[string]bool{}
	for _, f := range s.all() {
		if f.Name != filepath.Base(f.Name) || seen[f.Name] {
			return bad("file %q: names are bare and occur once", f.Name)
		}
		seen[f.Name] = true
	}
	return nil
}

// sources returns the names of the files that are given to the tools, the wrapper last.
func (s *Spec) sources() []string { return append(sources(s.all()), wrapperName+".sv") }

// all are the files of the design and of the memory beside it.
func (s *Spec) all() []File {
	if s.Memory == nil {
		return s.Files
	}
	return slices.Concat(s.Files, s.Memory.Files)
}

func sources(files []File) []string {
	var names []string
	for _, f := range files {
		if ext := filepath.Ext(f.Name); ext == ".sv" || ext == ".v" {
			names = append(names, f.Name)
		}
	}
	return names
}

// write puts all files and the wrapper into dir.
func (s *Spec) write(dir string) error {
	files := append(slices.Clone(s.all()), File{Name: wrapperName + ".sv", Data: []byte(s.wrapper())})
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Bytes(), 0o644); err != nil {
			return unwritable(err)
		}
	}
	return nil
}

// verilatorArgs starts every register that has no initial value at random (by the run's seed), so that a design which
// leans on zeros after power-up is found out.
func (s *Spec) verilatorArgs(i int) []string {
	args := []string{"--cc", "--top-module", wrapperName, "--prefix", prefix(i), "-Mdir", "obj", "-O3",
		"--x-assign", "unique", "--x-initial", "unique", "--output-split", "20000", "--output-split-cfuncs", "5000",
		"-fno-const-bit-op-tree"} // 5.006 rewrites some trees of gates into ones that compute something else
	if s.Warnings {
		args = append(args, "-Wall")
	} else {
		args = append(args, "-Wno-lint", "-Wno-style")
	}
	if s.Trace {
		args = append(args, "--trace-fst", "--trace-structs")
	}
	return append(args, s.sources()...)
}
