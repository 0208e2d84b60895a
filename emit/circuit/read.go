// SPDX-License-Identifier: Apache-2.0

package circuit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"lathe/rtl"
	"lathe/rtl/netlist"
)

var keywords = func() map[string]bool {
	set := map[string]bool{}
	for _, word := range netlist.Keywords {
		set[word] = true
	}
	return set
}()

// reader writes the generated modules of a design down without the names in them.
type reader struct {
	sources map[string][]string // tokens, by module
	library map[string]bool     // the modules that the library has
	images  map[string]string   // digests of memory images, by file
	names   map[string]string   // what stands for a name
	found   []string            // generated modules in the order in which they are instantiated
	used    []string            // images in that order
	text    []string
	units   []Unit
}

// module writes one generated module.
func (r *reader) module(module string) {
	tokens := r.sources[module]
	attribute := false
	within, foreign := module, false // an instance of which module; that is one of the library
	for i, t := range tokens {
		behind := func(what string) bool { return i > 0 && tokens[i-1] == what }
		switch {
		case t == "(*" || t == "*)":
			attribute = t == "(*"
		case t[0] == '"':
			t = r.image(t)
		case attribute || !letter(t[0]) && t[0] != '\\' || keywords[t] || i > 0 && tokens[i-1][0] == '`':
		case r.library[t]:
			within, foreign = t, true
			r.units = append(r.units, r.unit(t, tokens[i+1:]))
		case behind(".") && foreign:
		case behind("."):
			t = r.name(within, t)
		case r.sources[t] != nil:
			if within, foreign = t, false; t != module && !slices.Contains(r.found, t) {
				r.found = append(r.found, t)
			}
			t = r.name("", t)
		default:
			t = r.name(module, t)
		}
		r.text = append(r.text, t)
	}
}

// name is the number that stands for a name of a module, or for that of a module.
func (r *reader) name(module, t string) string {
	key := module + " " + t
	if r.names[key] == "" {
		r.names[key] = fmt.Sprintf("%%%d", len(r.names))
	}
	return r.names[key]
}

// image is a string, or what stands for the file that it names.
func (r *reader) image(t string) string {
	file := strings.Trim(t, `"`)
	sum, ok := r.images[file]
	if !ok {
		return t
	}
	if !slices.Contains(r.used, file) {
		r.used = append(r.used, file)
	}
	return "%image " + sum
}

// rest writes what no module names: files of memories outside.
func (r *reader) rest() {
	var sums []string
	for _, file := range slices.Sorted(maps.Keys(r.images)) {
		if !slices.Contains(r.used, file) {
			sums = append(sums, r.images[file])
		}
	}
	slices.Sort(sums)
	r.text = append(r.text, sums...)
}

// unit reads the parameters behind the name of a module: #(.NAME(value), ...).
func (r *reader) unit(module string, tokens []string) Unit {
	u := Unit{Module: module}
	if len(tokens) < 2 || tokens[0] != "#" {
		return u
	}
	depth, value := 0, []string(nil)
	for i, t := range tokens[1:] {
		switch t {
		case "(":
			depth++
			if depth == 2 {
				u.Params, value = append(u.Params, rtl.Param{Name: tokens[i]}), nil
				continue
			}
		case ")":
			depth--
			if depth == 0 {
				return u
			}
			if depth == 1 {
				u.Params[len(u.Params)-1].Value = strings.Join(value, " ")
			}
		}
		if t[0] == '"' {
			t = r.image(t)
		}
		value = append(value, t)
	}
	return u
}
