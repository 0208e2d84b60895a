// SPDX-License-Identifier: Apache-2.0

package proof

import (
	"slices"
	"strings"

	"lathe/rtl"
)

// Cover chooses designs that show changes of library modules: each changed module in each class of parameters in which
// designs use it, at most so many designs (0: as many as it takes), those first that show most classes and then those
// that take the fewest cycles. classes is how many there are, shown how many of them the chosen designs show.
func Cover(all []*Design, changed []string, most int) (chosen []*Design, shown, classes int) {
	of, missing := map[*Design][]string{}, map[string]bool{}
	for _, d := range all {
		of[d] = d.classes(changed)
		for _, c := range of[d] {
			missing[c] = true
		}
	}
	classes = len(missing)
	for len(missing) > 0 && (most == 0 || len(chosen) < most) {
		var best *Design
		gain := 0
		for _, d := range all {
			n := 0
			for _, c := range of[d] {
				n += rtl.Flag(missing[c])
			}
			if n > gain || n == gain && best != nil && d.II < best.II {
				best, gain = d, n
			}
		}
		for _, c := range of[best] {
			delete(missing, c)
		}
		chosen = append(chosen, best)
	}
	return chosen, classes - len(missing), classes
}

// classes are those of the design's units that hold a changed module: the module, the unit's module, and one of its
// parameters with a class of its values.
func (d *Design) classes(changed []string) []string {
	if d.Circuit == nil {
		return nil
	}
	found := map[string]bool{}
	var list []string
	for _, u := range d.Circuit.Units {
		for _, m := range changed {
			if !d.Circuit.Library.Holds(u.Module, m) {
				continue
			}
			for _, p := range append([]rtl.Param{{}}, u.Params...) {
				if c := strings.Join([]string{m, u.Module, p.Name, classOf(p.Value)}, " "); !found[c] {
					found[c] = true
					list = append(list, c)
				}
			}
		}
	}
	slices.Sort(list)
	return list
}

// classOf is the class of a parameter's value: 0 and 1, which are often flags, and texts are classes of their own, all
// other numbers are one, all memory images another.
func classOf(value string) string {
	switch {
	case value == "0" || value == "1" || strings.HasPrefix(value, `"`):
		return value
	case strings.HasPrefix(value, "%image"):
		return "image"
	}
	return "number"
}
