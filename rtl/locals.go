// SPDX-License-Identifier: Apache-2.0

package rtl

// Locals returns the values of a module's parameters, completed by the declared defaults, and of the constants that its
// body derives from them (localparam integer), as far as they are integers. Errors as Lookup and Values.
func Locals(module string, set []Param) (map[string]int, error) {
	h, err := Lookup(module)
	if err != nil {
		return nil, err
	}
	values, err := h.Values(set)
	if err != nil {
		return nil, err
	}
	for _, l := range h.costs.locals {
		if v, ok := integer(l.Default, values); ok {
			values[l.Name] = v
		}
	}
	return values, nil
}
