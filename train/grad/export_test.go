// SPDX-License-Identifier: Apache-2.0

package grad

import "lathe/ir/hlo"

// Kinds are those that have a rule, and whether it is more than 0.
func Kinds() map[hlo.Kind]bool {
	out := map[hlo.Kind]bool{}
	for k, r := range rules {
		out[k] = r != nil
	}
	return out
}

// Plant has the rule of a kind scale what it gives operand i, until undo.
func Plant(k hlo.Kind, i int, factor float64) (undo func()) {
	sound := rules[k]
	rules[k] = func(s *sweep, o *step) []hlo.Value {
		out := sound(s, o)
		if i < len(out) && out[i].Number() >= 0 {
			out[i] = s.Mul(out[i], s.num(out[i], factor))
		}
		return out
	}
	return func() { rules[k] = sound }
}
