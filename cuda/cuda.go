// SPDX-License-Identifier: Apache-2.0

// Package cuda reads the kernel library: header-free CUDA C++, one function template a file. It takes from the text
// what Go must know of it: parameters, arguments, threads, shared memory, register budget and the instructions that
// must come out. Nothing about a kernel is listed twice. It prints translation units and starts nothing.
package cuda

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"lathe/cuda/kernels"
	"lathe/internal/diag"
)

// library is the text of the kernels. It is a pointer into a package of its own, so that this one is compiled the same
// whatever the text is: a change of a kernel compiles no more than these two again.
var library = &kernels.Files

// intrinsics is the file whose text stands before every other.
const intrinsics = "intrinsics.cuh"

// Template is one kernel file of the library.
type Template struct {
	// Name is that of the file and of the function template in it.
	Name string
	// Family is the folder: num, map, reduce, gemm, attn.
	Family string
	// Purpose is the first paragraph of the header comment, without the name.
	Purpose string
	// Params are the template parameters, Args the arguments of the function, in order.
	Params []Param
	Args   []ArgDecl
	// Uses are files of the library whose text must stand before, in order.
	Uses []string
	// Archs are the architectures for which the kernel exists: names of Archs().
	Archs []string

	threads, shared, blocks, regs, sectors Expr
	sass                                   []wanted
	loops                                  []budget
	text                                   string
}

// Param is a template parameter: an integer, or a type where Type is true.
type Param struct {
	Name string
	Type bool
}

// ArgDecl is an argument of a kernel: Type as written, which may name template parameters.
type ArgDecl struct {
	Name, Type string
	Pointer    bool
}

// Map says that the argument describes a tensor for bulk copies.
func (a ArgDecl) Map() bool { return a.Type == "const tensor_map&" }

// Header returns the expressions of the header as they are written, and the items of the line sass.
func (t *Template) Header() (threads, shared, regs string, sass []string) {
	for _, w := range t.sass {
		text := strings.Join(w.any, " | ")
		if len(w.when.tokens) > 0 {
			text = w.when.String() + ": " + text
		}
		sass = append(sass, text)
	}
	return t.threads.String(), t.shared.String(), t.regs.String(), sass
}

// wanted is one item of the header line sass: any of the mnemonics must be there where the condition holds.
type wanted struct {
	when Expr // zero value: always
	any  []string
}

type entry struct {
	path string
	once sync.Once
	t    *Template
	err  error
}

func (e *entry) read() (*Template, error) {
	e.once.Do(func() {
		var text []byte
		if text, e.err = fs.ReadFile(library, e.path); e.err == nil {
			e.t, e.err = ReadTemplate(e.path, string(text))
		}
	})
	return e.t, e.err
}

// entries are the kernel files by name.
var entries = sync.OnceValue(func() map[string]*entry {
	index := map[string]*entry{}
	paths, _ := fs.Glob(library, "*/*.cu") // the pattern is sound
	for _, p := range paths {
		index[strings.TrimSuffix(path.Base(p), ".cu")] = &entry{path: p}
	}
	return index
})

// Names returns the names of all kernel templates, sorted.
func Names() []string {
	var names []string
	for name := range entries() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Find returns the template of that name. Errors: L0930 for an unknown name, L0931 for a file that cannot be read.
func Find(name string) (*Template, error) {
	e, ok := entries()[name]
	if !ok {
		err := diag.New(diag.UnknownKernel, "", "no kernel %q", name).WithHint("lathe list cuda lists them")
		if near := diag.Nearest(name, Names()); near != "" {
			err = err.WithHint("did you mean %s?", near)
		}
		return nil, err
	}
	return e.read()
}

// Templates returns all templates in order of their names. Error L0931 for a file that cannot be read.
func Templates() ([]*Template, error) {
	var all []*Template
	for _, name := range Names() {
		t, err := Find(name)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// Text returns the text of a file of the library, such as "num/mxint8.cuh". Error L0931 if there is none.
func Text(file string) (string, error) {
	text, err := fs.ReadFile(library, file)
	if err != nil {
		return "", diag.New(diag.KernelHeader, file, "no such file in the kernel library").
			WithHint("the header line `uses` names files below cuda/kernels/")
	}
	return string(text), nil
}
