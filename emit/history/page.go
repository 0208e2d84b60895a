// SPDX-License-Identifier: Apache-2.0

package history

import (
	"bytes"
	_ "embed" // page, style and script
	"fmt"
	"html/template"

	"lathe/ir"
)

//go:embed page.html.tmpl
var pageText string

//go:embed page.css
var style string

//go:embed page.js
var script string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"css": func() template.CSS { return template.CSS(style) },
	"js":  func() template.JS { return template.JS(script) },
}).Parse(pageText))

// The view of a history: a grid in which a row is a node and a column a pass. Lines of the grid count from 1; the first
// two rows are heads, the first column has the names.
type view struct {
	Title, Version string
	Groups         []group
	Heads          []head
	Names          []name
	Cells          []cell
}

// group is the columns of one pipeline.
type group struct {
	Name     string
	From, To int
}

// head is the head of a column. A pass that changed nothing is closed.
type head struct {
	Pass
	Col               int
	Added, Gone, Kept int // nodes
	Changed           int // nodes, of those kept
	Closed            bool
}

// name is the head of a row.
type name struct {
	Row       int
	Text, Pos string
	Fixed     bool
}

// cell is a node in a row of passes that left it as it is; the first of them made it so, or is the first of all.
type cell struct {
	Row, From, To int
	Kind          string // "new", "changed", "gone" or "", as the graph was when recording began
	Fixed         bool
	Parts         []part
	Args          []string
}

// part is one field of a node; Fresh says that it differs from what it was.
type part struct {
	Class, Text string
	Fresh       bool
}

var classes = [fieldCount]string{"op", "args", "type", "lanes", "attrs", "hw", "stats"}

// headRows and headCols are the heads of the grid.
const headRows, headCols = 2, 1

// HTML prints the page of the passes that ran over the graphs, in the order of these: one file that needs nothing else,
// the same bytes for the same history. Its size grows with what passes change: a node that they leave alone is printed
// once.
func (h *History) HTML(graphs ...*ir.Graph) ([]byte, error) {
	v := view{Title: h.Title, Version: h.Version}
	var columns []column
	for _, g := range graphs {
		columns = append(columns, h.runs[g]...)
	}
	for i, c := range columns {
		col := headCols + 1 + i
		if n := len(v.Groups); n == 0 || v.Groups[n-1].Name != c.Pipeline {
			v.Groups = append(v.Groups, group{Name: c.Pipeline, From: col})
		}
		v.Groups[len(v.Groups)-1].To = col + 1
		v.Heads = append(v.Heads, head{Pass: c.Pass, Col: col})
	}
	byColumn := make([]map[string]*state, len(columns))
	for i, c := range columns {
		byColumn[i] = map[string]*state{}
		for k := range c.states {
			byColumn[i][c.states[k].name] = &c.states[k]
		}
	}
	for i, text := range rows(columns) {
		v.row(headRows+1+i, text, byColumn)
	}
	for i := range v.Heads {
		d := &v.Heads[i]
		d.Closed = i > 0 && d.Added+d.Gone+d.Changed == 0
	}
	var b bytes.Buffer
	err := page.Execute(&b, v)
	return b.Bytes(), err
}

// row adds the cells of a node, and counts it in the heads.
func (v *view) row(row int, text string, columns []map[string]*state) {
	n := name{Row: row, Text: text}
	var before *state
	var open *cell
	for i, c := range columns {
		d, now := &v.Heads[i], c[text]
		if now != nil {
			n.Pos, n.Fixed = now.pos, now.fixed
		}
		if before != nil && now != nil {
			d.Kept++
			if now.same(before) {
				open.To++
				continue
			}
		}
		kind := kindOf(before, now, i)
		switch kind {
		case "new":
			d.Added++
		case "changed":
			d.Changed++
		case "gone":
			d.Gone++
		}
		if now != nil || before != nil {
			v.Cells = append(v.Cells, cell{Row: row, From: d.Col, To: d.Col + 1, Kind: kind, Fixed: n.Fixed})
			open = &v.Cells[len(v.Cells)-1]
			open.fill(now, before)
		}
		before = now
	}
	v.Names = append(v.Names, n)
}

// kindOf says what pass number i did to a node.
func kindOf(before, now *state, i int) string {
	switch {
	case i == 0:
		return ""
	case before == nil && now != nil:
		return "new"
	case before != nil && now == nil:
		return "gone"
	case before != nil:
		return "changed"
	}
	return ""
}

// fill writes what the cell shows of a node.
func (c *cell) fill(now, before *state) {
	if now == nil {
		return
	}
	c.Args = now.args
	for i, text := range now.fields {
		if text == "" && (before == nil || before.fields[i] == "") {
			continue
		}
		fresh := before != nil && before.fields[i] != text
		if i == fieldHW && fresh && before.fields[fieldLanes] != now.fields[fieldLanes] {
			fresh = false // the lanes stand above
		}
		if text == "" {
			text = "no " + classes[i]
		}
		c.Parts = append(c.Parts, part{classes[i], text, fresh})
	}
}

// Width is how wide the column is: Closed ones show their name only.
func (d head) Width() string {
	if d.Closed {
		return "26px"
	}
	return "250px"
}

// Summary counts what the pass did to nodes.
func (d head) Summary() string {
	if d.Col == headCols+1 {
		return ""
	}
	if d.Closed {
		return "nothing changed"
	}
	s := ""
	for _, c := range []struct {
		n    int
		word string
	}{{d.Added, "new"}, {d.Changed, "changed"}, {d.Gone, "gone"}} {
		if c.n > 0 {
			s += fmt.Sprintf(", %d %s", c.n, c.word)
		}
	}
	return s[2:]
}

// lanes says how a unit takes and gives elements, and how long it takes, as far as that is decided.
func lanes(n *ir.Node) string {
	s := ""
	if n.HW.InLanes > 0 {
		s = fmt.Sprintf("lanes %d to %d", n.HW.InLanes, n.HW.OutLanes)
	}
	if n.HW.II > 0 {
		s += fmt.Sprintf(", II %d, latency %d", n.HW.II, n.HW.Latency)
	}
	return s
}
