// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"regexp"
	"strings"

	"lathe/internal/diag"
	"lathe/ir"
)

// Match selects nodes: every field that is not empty must match.
type Match struct {
	Op, Name, Regex string
	// From is the place of the rule in the plan, with its first matching key.
	From string

	glob, regex *regexp.Regexp
}

// Covers says that the rule's keys all match node n.
func (m *Match) Covers(n *ir.Node) bool {
	return (m.Op == "" || m.Op == n.Op.Name) && (m.glob == nil || m.glob.MatchString(n.Name)) &&
		(m.regex == nil || m.regex.MatchString(n.Name))
}

// Unmatched says that a rule matches no node, and which name in g is nearest to the one it asks for.
func (m *Match) Unmatched(g *ir.Graph) string {
	near := ""
	if m.Name != "" {
		var names []string
		for _, n := range g.Nodes {
			if !n.IsConst() {
				names = append(names, n.Name)
			}
		}
		if name := diag.Nearest(m.Name, names); name != "" {
			near = fmt.Sprintf("; did you mean %q?", name)
		}
	}
	return fmt.Sprintf("%s matches no node%s", m.From, near)
}

// one matches the node of that name and no other.
func one(node, from string) Match {
	m := Match{Name: node, From: from, glob: glob(node)}
	if strings.ContainsAny(node, "*?") {
		m = Match{Regex: "^" + regexp.QuoteMeta(node) + "$", From: from}
		m.regex = regexp.MustCompile(m.Regex)
	}
	return m
}

// glob compiles a pattern in which * is any text and ? any character, dots included.
func glob(pattern string) *regexp.Regexp {
	text := regexp.QuoteMeta(pattern)
	text = strings.ReplaceAll(strings.ReplaceAll(text, `\*`, `.*`), `\?`, `.`)
	return regexp.MustCompile(`^(?s:` + text + `)$`)
}

// Glob says that a name fits a pattern of a plan: * stands for any text, ? for one sign.
func Glob(pattern, name string) bool { return glob(pattern).MatchString(name) }
