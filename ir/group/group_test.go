// SPDX-License-Identifier: Apache-2.0

package group_test

import (
	"fmt"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/group"
	"lathe/ir/op/leaf"
	"lathe/ir/op/pointwise"
)

// diamond is a = relu(x), b = relu(a), c = a + w, d = b + c, of which c and d are results; e reads a for nobody.
func diamond() (g *ir.Graph, at map[string]*ir.Node) {
	at = map[string]*ir.Node{}
	g = &ir.Graph{Name: "diamond"}
	add := func(name string, o *ir.Op, attrs any, args ...string) {
		n := &ir.Node{Name: name, Op: o, Attrs: attrs, Type: ir.Float(3)}
		for _, a := range args {
			n.Args = append(n.Args, at[a])
		}
		at[name] = n
		g.Nodes = append(g.Nodes, n)
	}
	add("x", leaf.Input, &ir.Input{})
	add("w", leaf.Const, &ir.Const{Data: ir.FloatBlob([]float32{1, 2, 3})})
	add("a", pointwise.Relu, nil, "x")
	add("b", pointwise.Relu, nil, "a")
	add("c", pointwise.Add, nil, "a", "w")
	add("d", pointwise.Add, nil, "b", "c")
	add("e", pointwise.Relu, nil, "a")
	g.In = g.Nodes[:1]
	g.Out = []ir.Output{{Name: "d", Node: at["d"]}, {Name: "c", Node: at["c"]}}
	return g, at
}

func TestGroups(t *testing.T) {
	for _, c := range []struct {
		groups string // name:anchor
		want   string // anchor(inputs)members>outputs
	}{
		{"", "a(x)a>a b(a)b>b c(a)c>c d(b,c)d>d"},
		{"b:a d:a c:a", "a(x)a,b,c,d>c,d"},
		{"a:d b:d c:d", "d(x)a,b,c,d>c,d"},
		{"b:a", "a(x)a,b>a,b c(a)c>c d(b,c)d>d"},
		{"b:d", "a(x)a>a c(a)c>c d(a,c)b,d>d"},
		{"a:c", "c(x)a,c>a,c b(a)b>b d(b,c)d>d"},
		{"e:a", "a(x)a>a b(a)b>b c(a)c>c d(b,c)d>d"},
		{"d:a c:a", "a reads what is computed of its own results"},
		{"b:a d:c", "a(x)a,b>a,b c(a,b)c,d>c,d"},
		{"x:a", "inputs and constants belong to no group"},
		{"c:w", "inputs and constants belong to no group"},
		{"b:a a:c", "which anchors none"},
		{"b:e", "which anchors none"},
		{"b:elsewhere", "which anchors none"},
	} {
		g, at := diamond()
		at["elsewhere"] = &ir.Node{Name: "elsewhere", Op: pointwise.Relu}
		anchors := map[*ir.Node]*ir.Node{}
		for _, pair := range strings.Fields(c.groups) {
			n, anchor, _ := strings.Cut(pair, ":")
			anchors[at[n]] = at[anchor]
		}
		groups, err := group.New(g, anchors)
		if err != nil {
			if !strings.Contains(err.Error(), c.want) || diag.CodeOf(err) != "L0947" {
				t.Errorf("%s: %v, want %s", c.groups, err, c.want)
			}
			continue
		}
		var have []string
		for _, one := range groups {
			have = append(have, fmt.Sprintf("%s(%s)%s>%s", one.Anchor.Name, namesOf(one.Inputs), namesOf(one.Members),
				namesOf(one.Outputs)))
		}
		if got := strings.Join(have, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.groups, got, c.want)
		}
	}
}

func namesOf(nodes []*ir.Node) string {
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = n.Name
	}
	return strings.Join(names, ",")
}

// TestGroupOf: a node alone is as NewGroups has it, and arguments that are equal are one input.
func TestGroupOf(t *testing.T) {
	_, at := diamond()
	at["d"].Args = []*ir.Node{at["b"], at["b"]}
	if g := ir.GroupOf(at["d"]); g.Anchor != at["d"] || namesOf(g.Inputs) != "b" || namesOf(g.Outputs) != "d" {
		t.Errorf("%+v", g)
	}
	if g := ir.GroupOf(at["c"]); namesOf(g.Inputs) != "a" {
		t.Errorf("inputs %s", namesOf(g.Inputs))
	}
}
