// SPDX-License-Identifier: Apache-2.0

package text

import (
	"encoding/base64"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"lathe/ir"
)

const (
	maxListed  = 16       // elements of a constant that stand in its node
	maxPrinted = 64 << 10 // bytes of a constant whose data stand in the text
	lineBytes  = 72       // bytes of data in a line of base64
)

// Print is the canonical text of g. It does not end in an error: what has no text form, which no graph that passes
// Check contains, is printed with a question mark and does not parse.
func Print(g *ir.Graph) string {
	return render(g, nil)
}

// render is Print for graphs that lack the data of some constants.
func render(g *ir.Graph, absent map[*ir.Blob]string) string {
	p := printer{seen: map[string]bool{}, absent: absent}
	p.graph(g)
	for _, b := range p.blobs {
		if len(b.Bytes) <= maxPrinted {
			p.data(b)
		}
	}
	return p.String()
}

// printer collects the text and the constants that it names, in order.
type printer struct {
	strings.Builder
	blobs []*ir.Blob
	seen  map[string]bool
	// absent holds the digests of constants whose data are not at hand; nil if all are.
	absent map[*ir.Blob]string
}

func (p *printer) graph(g *ir.Graph) {
	p.WriteString(version)
	ins := make([]string, len(g.In))
	for i, n := range g.In {
		ins[i] = ref(n)
	}
	fmt.Fprintf(p, "graph %s %s(%s) {\n", quoted(g.Name, "%"), g.Stage, strings.Join(ins, ", "))
	for _, n := range g.Nodes {
		p.node(n)
	}
	for i, o := range g.Out {
		p.WriteString([...]string{"  return ", ",\n    "}[min(i, 1)] + quoted(o.Name, "") + " = " + ref(o.Node))
		if o.Perm != nil {
			p.WriteString(" perm " + value(reflect.ValueOf(o.Perm)))
		}
	}
	if len(g.Out) > 0 {
		p.WriteByte('\n')
	}
	p.WriteString("}\n")
}

func (p *printer) node(n *ir.Node) {
	l := p.line(n)
	p.WriteString("  " + ref(n) + " = " + l.Op)
	for i, a := range l.Args {
		p.WriteString([...]string{"(", ", "}[min(i, 1)] + a)
	}
	if len(l.Args) > 0 {
		p.WriteByte(')')
	}
	if l.Attrs != "" {
		p.WriteString(" " + l.Attrs)
	}
	p.WriteString(" : " + l.Type)
	if l.HW != "" {
		p.WriteString(" hw " + l.HW)
	}
	if l.Stats != "" {
		p.WriteString(" stats " + l.Stats)
	}
	if n.Pos != "" {
		p.WriteString(" @ " + strconv.Quote(n.Pos))
	}
	p.WriteByte('\n')
}

// Line is what Print writes of a node, in parts; those that the node lacks are empty.
type Line struct {
	Op               string
	Args             []string // "%conv1"
	Attrs, HW, Stats string   // "{kernel = [3, 3]}"; constants of few elements list them, others have a digest
	Type             string   // "1x8x8x8 ufixed(8,6)"
}

// LineOf is the line of n.
func LineOf(n *ir.Node) Line {
	return (&printer{seen: map[string]bool{}}).line(n)
}

func (p *printer) line(n *ir.Node) Line {
	l := Line{Op: opName(n.Op), Attrs: p.attrs(n), Type: n.Type.String(), HW: braces(reflect.ValueOf(n.HW)),
		Stats: braces(reflect.ValueOf(n.Stats))}
	for _, a := range n.Args {
		l.Args = append(l.Args, ref(a))
	}
	return l
}

func opName(o *ir.Op) string {
	if o == nil {
		return "?"
	}
	return o.Name
}

// ref is how a node is named.
func ref(n *ir.Node) string {
	if n == nil {
		return "?"
	}
	return quoted(n.Name, "%")
}

// quoted prints a name, in quotes where it needs them.
func quoted(name, prefix string) string {
	if bare(name) {
		return prefix + name
	}
	return prefix + strconv.Quote(name)
}

// attrs prints the attributes; those of a constant are its elements or their digest.
func (p *printer) attrs(n *ir.Node) string {
	if c, ok := n.Attrs.(*ir.Const); ok {
		own := ""
		if c.Own.Format != nil {
			own = ", own : " + c.Own.WithShape(n.Type.Shape).String() + " "
		}
		return "{data = " + p.blob(c.Data) + own + "}"
	}
	if n.Attrs == nil {
		return ""
	}
	return braces(reflect.ValueOf(n.Attrs).Elem())
}

func (p *printer) blob(b *ir.Blob) string {
	if b == nil {
		return "?"
	}
	if d, ok := p.absent[b]; ok {
		return string(b.DType) + " " + d
	}
	if list, ok := listed(b); ok {
		return string(b.DType) + " " + list
	}
	d := b.Digest()
	if !p.seen[d] {
		p.seen[d] = true
		p.blobs = append(p.blobs, b)
	}
	return string(b.DType) + " " + d
}

// listed prints a constant of few elements. NaNs, whose bits a number does not tell, and types that are rare in so
// few elements go by digest.
func listed(b *ir.Blob) (string, bool) {
	if b.DType.Size() == 0 || len(b.Bytes)%b.DType.Size() != 0 || b.Len() > maxListed ||
		b.DType == ir.B1 || b.DType == ir.U64 {
		return "", false
	}
	parts := make([]string, b.Len())
	if ints, err := b.Ints(); err == nil {
		for i, v := range ints {
			parts[i] = strconv.FormatInt(v, 10)
		}
	} else if b.DType == ir.F32 {
		for i, v := range b.Floats() {
			if math.IsNaN(float64(v)) {
				return "", false
			}
			parts[i] = float(float64(v), 32)
		}
	} else {
		return "", false
	}
	return "[" + strings.Join(parts, ", ") + "]", true
}

// data prints the bytes of a constant.
func (p *printer) data(b *ir.Blob) {
	fmt.Fprintf(p, "data %s %s {\n", b.DType, b.Digest())
	for at := 0; at < len(b.Bytes); at += lineBytes {
		line := b.Bytes[at:min(at+lineBytes, len(b.Bytes))]
		p.WriteString("  " + strconv.Quote(base64.StdEncoding.EncodeToString(line)) + "\n")
	}
	p.WriteString("}\n")
}
