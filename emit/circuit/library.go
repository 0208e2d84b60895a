// SPDX-License-Identifier: Apache-2.0

package circuit

import (
	"slices"

	"lathe/rtl"
)

// Library is the modules of the library, or some with all that they instantiate, by name.
type Library map[string]Module

// Module is what a module of the library is, without comments.
type Module struct {
	Tokens string   // the digest of its text
	Deps   []string // the modules that it instantiates, sorted
}

// Edge says that a module with all that it instantiates has been proven to be what another text of it was.
type Edge struct {
	Module string `json:"module"`
	// Old and New are hashes as Library.Hashes gives them, under the edges before this one.
	Old string `json:"old"`
	New string `json:"new"`
	// Proof is the command that proves it.
	Proof string `json:"proof"`
}

// All is the whole library.
func All() (Library, error) {
	modules := map[string]bool{}
	for _, name := range rtl.Modules() {
		modules[name] = true
	}
	files, err := rtl.Files(rtl.Modules()...)
	if err != nil {
		return nil, err
	}
	all := Library{}
	for _, f := range files {
		all.add(f.Name[:len(f.Name)-len(".sv")], lex(string(f.Bytes())), modules)
	}
	return all, nil
}

// add takes a module, of which modules are those that it may instantiate.
func (l Library) add(name string, tokens []string, modules map[string]bool) {
	m := Module{Tokens: digest(tokens)}
	for _, t := range tokens {
		if t != name && modules[t] {
			m.Deps = append(m.Deps, t)
		}
	}
	slices.Sort(m.Deps)
	m.Deps = slices.Compact(m.Deps)
	l[name] = m
}

// Hashes stand for modules with all that they instantiate. A hash that an edge names as new is that of the text that it
// was proven equal to.
func (l Library) Hashes(proven []Edge) map[string]string {
	hashes := map[string]string{}
	var visit func(name string) string
	visit = func(name string) string {
		if h := hashes[name]; h != "" {
			return h
		}
		m := l[name]
		text := []string{name, m.Tokens}
		for _, dep := range m.Deps {
			text = append(text, dep, visit(dep))
		}
		h := digest(text)
		for _, e := range slices.Backward(proven) { // later ones lead to earlier ones
			if e.Module == name && e.New == h {
				h = e.Old
			}
		}
		hashes[name] = h
		return h
	}
	for name := range l {
		visit(name)
	}
	return hashes
}

// Holds says that a module is another, or instantiates it, directly or not.
func (l Library) Holds(module, other string) bool {
	return module == other || slices.ContainsFunc(l[module].Deps, func(dep string) bool { return l.Holds(dep, other) })
}
