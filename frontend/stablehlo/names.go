// SPDX-License-Identifier: Apache-2.0

package stablehlo

import "strings"

// place is the name of the operation's nodes: the path of the call that it is part of, and that of its location;
// without a location, alt behind the path.
func (c *call) place(alt string) string {
	name := locPath(c.in.Loc)
	if name == "" {
		name = alt
	}
	if c.sc.path == "" || name == "" {
		return c.sc.path + name
	}
	return c.sc.path + "." + name
}

// locPath makes a module path of a location: jit(f)/Net/Conv_0/add is Net.Conv_0.add. What transformations wrap around
// names is taken off, and the outermost function is no module.
func locPath(loc string) string {
	var parts []string
	for i, part := range strings.Split(loc, "/") {
		inner := part
		for strings.HasSuffix(inner, ")") && strings.Contains(inner, "(") {
			inner = inner[strings.IndexByte(inner, '(')+1 : len(inner)-1]
		}
		if i == 0 && inner != part || inner == "" || strings.HasPrefix(inner, "<") {
			continue
		}
		parts = append(parts, cleaned(inner))
	}
	return strings.Join(parts, ".")
}

// cleaned keeps what names may hold.
func cleaned(s string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-', r == '.':
			return r
		}
		return '_'
	}, s), "_.")
}

// argName makes a name of the location of an argument, v['params']['Conv_0']['kernel'] or x; def where it has none.
func argName(loc, def string) string {
	if loc == "" || strings.Contains(loc, "/") {
		return def
	}
	s := strings.NewReplacer("']['", ".", "['", ".", "']", "", "][", ".", "[", ".", "]", "").Replace(loc)
	if s = cleaned(s); s == "" {
		return def
	}
	return s
}
