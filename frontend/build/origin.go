// SPDX-License-Identifier: Apache-2.0

package build

import "lathe/ir"

// Origin is the record that the graph will carry, for importers to fill in: Format, Producer, Dropouts, Shadowed and
// Notes. The builder itself finds what dangles and what was renamed.
func (b *Builder) Origin() *ir.Origin { return b.g.Origin }

// Module records a module of the source model and its class; the first class of a path stays.
func (b *Builder) Module(path, class string) {
	if b.modules[path] {
		return
	}
	b.modules[path] = true
	b.g.Origin.Modules = append(b.g.Origin.Modules, ir.Module{Path: path, Class: class})
}

// renamed records a name that was made unique by a number: one with its operation behind it tells enough.
func (b *Builder) renamed(at Place, name string) {
	if at.Name != "" && name != at.Name && name != at.Name+"."+at.Alt {
		b.g.Origin.Renamed = append(b.g.Origin.Renamed, ir.Renamed{From: at.Name, To: name})
	}
}

// dangling records the nodes that nothing reads.
func (b *Builder) dangling() {
	readers := b.g.Readers()
	for _, n := range b.g.Nodes {
		if readers[n] == 0 && !n.Op.Traits.Source {
			b.g.Origin.Dangling = append(b.g.Origin.Dangling, n.Name)
		}
	}
}
