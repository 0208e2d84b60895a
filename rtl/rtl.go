// SPDX-License-Identifier: Apache-2.0

// Package rtl reads from the text of the hand-written SystemVerilog library what Go must know of it: signature,
// latency, initiation interval and dependencies of each module. Nothing about a module is listed twice.
package rtl

import (
	"embed"
	"io/fs"
	"path"
	"sort"
	"sync"

	"lathe/internal/diag"
	"lathe/rtl/axi"
	"lathe/rtl/board"
	"lathe/rtl/mem"
	"lathe/rtl/mx"
	"lathe/rtl/netlist"
	"lathe/rtl/num"
	"lathe/rtl/op"
	"lathe/rtl/stream"
)

// folders are the folders of modules by name. Each is a package of its own that holds nothing else: package rtl is
// compiled the same whatever is in them, so that a change of a module compiles no more than its folder again.
var folders = map[string]*embed.FS{
	"axi": &axi.Files, "board": &board.Files,
	"mem": &mem.Files, "mx": &mx.Files, "num": &num.Files, "op": &op.Files, "stream": &stream.Files,
}

// Param is one parameter override of an instance.
type Param = netlist.Param

// entry is one module file of the library; its header is read when first asked for.
type entry struct {
	family string // folder: stream, num, mem, op
	text   []byte
	once   sync.Once
	header *Header
	err    error
}

func (e *entry) read(name string) (*Header, error) {
	e.once.Do(func() { e.header, e.err = parse(name, e.family, string(e.text)) })
	return e.header, e.err
}

// entries maps a module's name, which is its file's stem, to its text.
var entries = sync.OnceValue(func() map[string]*entry {
	index := map[string]*entry{}
	for family, files := range folders {
		names, _ := fs.Glob(files, "*.sv") // the pattern is sound
		for _, name := range names {
			if text, err := fs.ReadFile(files, name); err == nil {
				index[stem(name)] = &entry{family: family, text: text}
			}
		}
	}
	return index
})

func stem(file string) string { return file[:len(file)-len(path.Ext(file))] }

// Modules returns the names of all library modules, sorted.
func Modules() []string {
	var names []string
	for name := range entries() {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// Lookup returns what the text of a library module says about it. Errors: L0601 for an unknown name, L0602 for a
// header that cannot be read.
func Lookup(module string) (*Header, error) {
	found, ok := entries()[module]
	if !ok {
		e := diag.New(diag.UnknownModule, "", "no library module %q", module)
		if near := diag.Nearest(module, Modules()); near != "" {
			e.Hint = "did you mean " + near + "?"
		}
		return nil, e
	}
	return found.read(module)
}

// Files returns the sources of the named modules and of all that they instantiate, each once, a module after those
// that it needs. The order depends only on the set of names. Errors as Lookup.
func Files(modules ...string) ([]File, error) {
	var files []File
	seen := map[string]bool{}
	var visit func(string) error
	visit = func(name string) error {
		if seen[name] {
			return nil
		}
		seen[name] = true
		h, err := Lookup(name)
		if err != nil {
			return err
		}
		for _, dep := range h.Deps {
			if err := visit(dep); err != nil {
				return err
			}
		}
		files = append(files, File{Name: name + ".sv", Data: entries()[name].text})
		return nil
	}
	sorted := append([]string(nil), modules...)
	sort.Strings(sorted)
	for _, name := range sorted {
		if err := visit(name); err != nil {
			return nil, err
		}
	}
	return files, nil
}
