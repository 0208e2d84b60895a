// SPDX-License-Identifier: Apache-2.0

package pruner

import "lathe/search"

// kinds are the pruners that studies name, the usual one first.
var kinds = []struct {
	name string
	make func() search.Pruner
}{
	{"median", func() search.Pruner { return NewMedian() }},
	{"percentile", func() search.Pruner { return NewPercentile(25) }},
	{"halving", func() search.Pruner { return NewHalving() }},
	{"hyperband", func() search.Pruner { return NewHyperband() }},
	{"none", func() search.Pruner { return nil }},
}

// Names are those that New takes, the usual one first.
func Names() []string {
	out := make([]string, len(kinds))
	for i, k := range kinds {
		out[i] = k.name
	}
	return out
}

// New is the pruner of a name, with its usual options; nil for "none", and for a name that is not in Names.
func New(name string) search.Pruner {
	for _, k := range kinds {
		if k.name == name {
			return k.make()
		}
	}
	return nil
}
