// SPDX-License-Identifier: Apache-2.0

// Package circuit says what a design is as hardware: which modules it consists of under which parameters, how they are
// connected, what its memories hold. Comments, white space, names that the compiler chooses, testbenches and documents
// are no part of it, so designs that differ in these only have one digest.
package circuit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"lathe/emit"
	"lathe/rtl"
)

// digits are what a digest shows of a SHA-256.
const digits = 16

// Circuit is a design as hardware.
type Circuit struct {
	// Structure is the digest of the generated modules with their memory images: names but those of library modules,
	// their parameters and ports are numbered in the order in which they occur.
	Structure string
	// Units are the instances of library modules in the generated ones, in the order of the text.
	Units []Unit
	// Library is what the design takes from the library, by name.
	Library Library
}

// Unit is an instance of a library module.
type Unit struct {
	Module string
	// Params are its parameters as the text has them, in that order; names of memory images are the digests of these.
	Params []rtl.Param
}

// Of finds the circuit of a design. An error names a generated module that is instantiated and has no file.
func Of(d *emit.Design) (*Circuit, error) {
	r := reader{sources: map[string][]string{}, images: map[string]string{}, names: map[string]string{},
		library: map[string]bool{}}
	var modules []string
	for _, f := range d.Files {
		name := strings.TrimSuffix(f.Name, path.Ext(f.Name))
		if !slices.Contains(d.Sources(), f.Name) {
			h := sha256.New()
			if err := f.Write(h); err != nil {
				return nil, err
			}
			r.images[f.Name] = hex.EncodeToString(h.Sum(nil))
			continue
		}
		r.sources[name] = lex(string(f.Bytes()))
		if _, err := rtl.Lookup(name); err == nil {
			r.library[name] = true
			modules = append(modules, name)
		}
	}
	if r.sources[d.Top] == nil {
		return nil, fmt.Errorf("no file of the top module %s", d.Top)
	}
	r.module(d.Top)
	for i := 1; i <= len(r.found); i++ { // which grows
		r.module(r.found[i-1])
	}
	r.rest()
	c := &Circuit{Structure: digest(r.text), Units: r.units, Library: Library{}}
	for _, name := range modules {
		c.Library.add(name, r.sources[name], r.library)
	}
	return c, nil
}

// Digest stands for the circuit, library modules included; of modules whose equivalence is proven it makes no
// difference. nil: all do.
func (c *Circuit) Digest(proven []Edge) string {
	hashes := c.Library.Hashes(proven)
	text := []string{c.Structure}
	seen := map[string]bool{}
	for _, u := range c.Units {
		if !seen[u.Module] {
			seen[u.Module] = true
			text = append(text, u.Module, hashes[u.Module])
		}
	}
	return digest(text)
}

// digest is that of a list of texts.
func digest(list []string) string {
	h := sha256.New()
	for _, s := range list {
		fmt.Fprintf(h, "%d %s\n", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil))[:digits]
}
