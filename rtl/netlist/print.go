// SPDX-License-Identifier: Apache-2.0

package netlist

import (
	"bytes"
	"fmt"
)

type printer struct{ bytes.Buffer }

// Print is the text of m.
func (m *Module) Print() []byte {
	p := &printer{}
	p.WriteString("// SPDX-License-Identifier: Apache-2.0\n")
	for _, line := range m.Comment {
		fmt.Fprintf(p, "// %s\n", line)
	}
	fmt.Fprintf(p, "`default_nettype none\nmodule %s (\n", m.Name)
	for i, port := range m.Ports {
		if i > 0 {
			p.WriteString(",\n")
		}
		for _, a := range port.Attributes {
			fmt.Fprintf(p, "    (* %s *)\n", a)
		}
		direction := "input"
		if port.Output {
			direction = "output"
		}
		fmt.Fprintf(p, "    %s wire %s%s", direction, span(port.Width), port.Name)
	}
	p.WriteString("\n);\n")
	for _, item := range m.Items {
		item.print(p)
	}
	p.WriteString("endmodule\n`default_nettype wire\n")
	return p.Bytes()
}

// span is the range of a declaration.
func span(width int) string {
	if width == 0 {
		return ""
	}
	return fmt.Sprintf("[%d:0] ", width-1)
}

func (Blank) print(p *printer) { p.WriteByte('\n') }

func (c Comment) print(p *printer) { fmt.Fprintf(p, "  // %s\n", string(c)) }

func (t Text) print(p *printer) { p.WriteString(t.Lines) }

func (w Wire) print(p *printer) {
	fmt.Fprintf(p, "  wire %s%s", span(w.Width), w.Name)
	if w.Value != nil {
		p.WriteString(" = ")
		w.Value.print(p)
	}
	p.WriteString(";\n")
}

func (a Assign) print(p *printer) {
	p.WriteString("  assign ")
	a.To.print(p)
	p.WriteString(" = ")
	a.From.print(p)
	p.WriteString(";\n")
}

func (in *Instance) print(p *printer) {
	p.WriteString("  " + in.Module)
	if len(in.Params) > 0 {
		p.WriteString(" #(\n")
		for i, param := range in.Params {
			fmt.Fprintf(p, "      .%s(%s)%s\n", param.Name, param.Value, comma(i, len(in.Params)))
		}
		p.WriteString("  )")
	}
	fmt.Fprintf(p, " %s (\n", in.Name)
	for i, c := range in.Ports {
		fmt.Fprintf(p, "      .%s(", c.Port)
		c.To.print(p)
		fmt.Fprintf(p, ")%s\n", comma(i, len(in.Ports)))
	}
	p.WriteString("  );\n")
}

func comma(i, n int) string {
	if i == n-1 {
		return ""
	}
	return ","
}

func (r Ref) print(p *printer) { p.WriteString(string(r)) }

func (b Bit) print(p *printer) { fmt.Fprintf(p, "%s[%d]", b.Of, b.At) }

func (s Slice) print(p *printer) { fmt.Fprintf(p, "%s[%d:%d]", s.Of, s.High, s.Low) }

func (c Const) print(p *printer) {
	base := "d"
	if c.Width == 1 {
		base = "b"
	}
	fmt.Fprintf(p, "%d'%s%d", c.Width, base, c.Value)
}

func (z Zeros) print(p *printer) { fmt.Fprintf(p, "%d'd0", int(z)) }

func (c Concat) print(p *printer) {
	p.WriteByte('{')
	for i, x := range c {
		if i > 0 {
			p.WriteString(", ")
		}
		x.print(p)
	}
	p.WriteByte('}')
}

func (n Not) print(p *printer) {
	p.WriteByte('!')
	n.X.print(p)
}

func (a All) print(p *printer) {
	p.WriteByte('&')
	a.X.print(p)
}
