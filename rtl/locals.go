// SPDX-License-Identifier: Apache-2.0

package rtl

import (
	"regexp"
	"strings"
)

var localRE = regexp.MustCompile(`(?s)\blocalparam\s+integer\s+(\w+)\s*=\s*([^;]*);`)

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
	for _, m := range localRE.FindAllStringSubmatch(commentRE.ReplaceAllString(string(entries()[module].text), " "), -1) {
		text := strings.Join(strings.Fields(m[2]), " ")
		if v, ok := integer(text, values); ok {
			values[m[1]] = v
		}
	}
	return values, nil
}
