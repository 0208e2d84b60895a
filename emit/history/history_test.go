// SPDX-License-Identifier: Apache-2.0

package history

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"lathe/ir"
	"lathe/ir/text"
)

// graphs are one graph after three passes: the second one changes nothing, the third takes a node away, adds one in
// front of the last and decides hardware.
var graphs = []string{`lathe 1
graph %m float(%x) {
  %x = input : 1x4 fp32
  %a = relu(%x) : 1x4 fp32
  %b = relu(%a) : 1x4 fp32
  return y = %b
}
`, "", `lathe 1
graph %m float(%x) {
  %x = input : 1x4 fp32
  %c = relu(%x) : 1x4 fp32
  %b = relu(%c) : 1x4 fp32 hw {in_lanes = 2, out_lanes = 2, ii = 9, latency = 3}
  return y = %b
}
`}

// recorded is the history of one graph that takes the forms of texts; "" leaves it as it is.
func recorded(t *testing.T, texts []string) (*History, *ir.Graph) {
	t.Helper()
	h, g := &History{Title: "m.onnx", Version: "0"}, &ir.Graph{}
	for i, s := range texts {
		if s != "" {
			parsed, err := text.Parse("m.lathe", s, nil)
			if err != nil {
				t.Fatal(err)
			}
			*g = *parsed
		}
		name := string(rune('p' + i))
		h.Record(Pass{Pipeline: "float", Name: name, Doc: "does <" + name + ">", Effect: "exact"}, g)
	}
	return h, g
}

func html(t *testing.T, h *History, graphs ...*ir.Graph) string {
	t.Helper()
	b, err := h.HTML(graphs...)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// cells are the cells of the page: the name of the row, kind, first and last column, and the text.
func cells(t *testing.T, page string) map[string]string {
	t.Helper()
	names, out := map[string]string{}, map[string]string{}
	head := regexp.MustCompile(`<div class="name[^"]*" data-r="(\d+)"[^>]*>([^<]*)<`)
	for _, m := range head.FindAllStringSubmatch(page, -1) {
		names[m[1]] = m[2]
	}
	tags := regexp.MustCompile(`<[^>]*>`)
	cell := regexp.MustCompile(`<div class="cell ([a-z]*)[^"]*" data-r="(\d+)" ` +
		`style="grid-area: \d+ / (\d+) / auto / (\d+)"><div>(.*)</div></div>`)
	for _, m := range cell.FindAllStringSubmatch(page, -1) {
		words := strings.Fields(tags.ReplaceAllString(strings.ReplaceAll(m[5], "<span", " <span"), ""))
		out[names[m[2]]+" "+m[3]+"-"+m[4]] = strings.TrimSpace(m[1] + " " + strings.Join(words, " "))
	}
	return out
}

// TestHTML finds each node once for as long as nothing changes, and what each pass did to it.
func TestHTML(t *testing.T) {
	h, g := recorded(t, graphs)
	page := html(t, h, g)
	want := map[string]string{
		"x 2-5": "input 1x4 fp32",
		"a 2-4": "relu x 1x4 fp32", "a 4-5": "gone gone",
		"c 4-5": "new relu x 1x4 fp32",
		"b 2-4": "relu a 1x4 fp32",
		"b 4-5": "changed relu c 1x4 fp32 lanes 2 to 2, II 9, latency 3 in_lanes = 2, out_lanes = 2, ii = 9, latency = 3",

		"return y 2-5": "return b 1x4 fp32",
	}
	have := cells(t, page)
	for cell, text := range want {
		if have[cell] != text {
			t.Errorf("%s: %q, not %q", cell, have[cell], text)
		}
	}
	if len(have) != len(want) {
		t.Errorf("%d cells, not %d: %v", len(have), len(want), have)
	}
	for _, part := range []string{
		`<div class="head closed" data-c="3"`, // q changed nothing
		`>1 new, 1 changed, 1 gone</span><small>does &lt;r&gt;</small>`,
		`<span class="args d"><i>c</i></span>`, `<span class="lanes d">`, `grid-template-columns: 190px 250px 26px 250px`,
	} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %s", part)
		}
	}
	if outside := regexp.MustCompile(`(src|href)=|https?:|url\(`).FindString(page); outside != "" {
		t.Errorf("the page asks for something outside: %s", outside)
	}
}

// TestRows puts a node behind the one that it follows, whatever went before.
func TestRows(t *testing.T) {
	h, g := recorded(t, graphs)
	want := []string{"x", "c", "a", "b", "return y"}
	if have := rows(h.runs[g]); !slices.Equal(have, want) {
		t.Errorf("rows %v, not %v", have, want)
	}
}

// TestOtherGraphs leaves out what became of graphs that were tried and left aside.
func TestOtherGraphs(t *testing.T) {
	h, g := recorded(t, graphs)
	tried := g.Clone()
	h.Record(Pass{Pipeline: "schedule", Name: "tried"}, tried)
	if page := html(t, h, g); strings.Contains(page, "tried") {
		t.Error("the page shows a pass over another graph")
	}
	page := html(t, h, g, tried)
	for _, part := range []string{">tried</b>", "<span>schedule</span>"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page of both graphs lacks %s", part)
		}
	}
	if !h.Has(tried) || h.Has(&ir.Graph{}) {
		t.Error("Has does not say which graphs were recorded")
	}
}

// TestHostile prints names of a model as text, whatever they are.
func TestHostile(t *testing.T) {
	h, g := recorded(t, graphs)
	g.Nodes[1].Name = `</script><script>alert(1)</script>`
	h.Title = `<b onclick="x">`
	h.Record(Pass{Name: "last"}, g)
	page := html(t, h, g)
	if strings.Contains(page, "<script>alert") || strings.Contains(page, "<b onclick") {
		t.Error("a name is part of the page's code")
	}
}
