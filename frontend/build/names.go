// SPDX-License-Identifier: Apache-2.0

package build

import (
	"slices"
	"strconv"
	"strings"

	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
)

// namer hands out names once; it holds the last number that was appended to each.
type namer map[string]int

// take returns the first free one of base, base.alt, base_2, base_3, ...
func (t namer) take(base, alt string) string {
	if base == "" {
		base = alt
	}
	name := base
	if t[name] > 0 && alt != "" {
		name = base + "." + alt
	}
	for t[name] > 0 {
		t[base]++
		name = base + "_" + strconv.Itoa(t[base])
	}
	t[name] = 1
	return name
}

// Ends finds the operations of a model that may compute the values called names, where the user ends it: labels are
// what the names of each operation's nodes begin with. The lost names begin with none of them: if a node has such a
// name, then it is found only when all operations are converted.
func Ends(names, labels []string) (ends []int, lost []string) {
	for _, name := range names {
		found := false
		for i, label := range labels {
			rest, begins := strings.CutPrefix(name, label)
			if begins && label != "" && (rest == "" || rest[0] == '.' || rest[0] == '_') {
				ends, found = append(ends, i), true
			}
		}
		if !found {
			lost = append(lost, name)
		}
	}
	return ends, lost
}

// Live marks the operations of a model that those of roots need: made is the one that computes each value, and reads
// are the values that one reads.
func Live(count int, roots []int, made map[string]int, reads func(i int) []string) []bool {
	live, stack := make([]bool, count), slices.Clone(roots)
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		if stack = stack[:len(stack)-1]; live[at] {
			continue
		}
		live[at] = true
		for _, name := range reads(at) {
			if from, ok := made[name]; ok {
				stack = append(stack, from)
			}
		}
	}
	return live
}

// EndAt makes the values called names the outputs of the graph. output makes an output of a value that the source calls
// so, and is false where there is none: then it is the name of a node. known are the names of the source's values.
// Error L0215.
func (b *Builder) EndAt(names, known []string, output func(name string) (bool, error)) error {
	return endAt(b.g, b.File, names, known, output)
}

func endAt(g *ir.Graph, file string, names, known []string, output func(name string) (bool, error)) error {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return diag.New(diag.BadBinding, file, "output %s is named twice", source.Quote(name))
		}
		if done, err := output(name); done || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		n := g.Find(name)
		if n == nil || n.IsConst() {
			return noValue(file, name, g, known)
		}
		g.Out = append(g.Out, ir.Output{Name: name, Node: n})
	}
	dropUnread(g)
	return nil
}

// dropUnread drops what the outputs do not need, inputs too.
func dropUnread(g *ir.Graph) {
	g.DropDead()
	readers := g.Readers()
	unread := func(n *ir.Node) bool { return n.IsInput() && readers[n] == 0 }
	g.In, g.Nodes = slices.DeleteFunc(g.In, unread), slices.DeleteFunc(g.Nodes, unread)
}

// NoValue is the error for the name of an output that is neither in known nor that of a node.
func (b *Builder) NoValue(name string, known []string) error {
	return noValue(b.File, name, b.g, known)
}

func noValue(file, name string, g *ir.Graph, known []string) error {
	for _, n := range g.Nodes {
		if !n.IsConst() {
			known = append(known, n.Name)
		}
	}
	e := diag.New(diag.BadBinding, file, "the model has no value called %s to end at", source.Quote(name))
	if near := source.Near(name, known); near != "" {
		return e.WithHint("did you mean --outputs %s?", near)
	}
	return e.WithHint("lathe inspect lists the names, without --outputs")
}

// EndGraph makes the values called names the outputs of a finished graph: nodes, or outputs that it has. What only
// other outputs need goes. Error L0215.
func EndGraph(g *ir.Graph, names []string, file string) error {
	if len(names) == 0 {
		return nil
	}
	if g.Stage == ir.StageScheduled {
		return diag.New(diag.BadBinding, file, "the graph is %s: it keeps the outputs that it has", g.Stage).
			WithHint("give --outputs with the model, to lathe quantize")
	}
	var known []string
	had := g.Out
	for _, o := range had {
		known = append(known, o.Name)
	}
	g.Out = nil
	return endAt(g, file, names, known, func(name string) (bool, error) {
		at := slices.Index(known, name)
		if at >= 0 {
			g.Out = append(g.Out, had[at])
		}
		return at >= 0, nil
	})
}
