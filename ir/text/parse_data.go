// SPDX-License-Identifier: Apache-2.0

package text

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
)

// constant reads {data = dtype [elements]} or {data = dtype digest}.
func (p *parser) constant(n *ir.Node, c *ir.Const) error {
	for _, s := range [...]string{"{", "data", "="} {
		if _, err := p.lex.want(s); err != nil {
			return err
		}
	}
	if t := p.lex.peek(); t.kind == tokWord && ir.DType(t.text).Size() > 0 {
		p.lex.step()
		if p.lex.peek().text == "[" {
			b, err := p.elements(ir.DType(t.text))
			if c.Data = b; err != nil {
				return err
			}
			return p.own(c)
		}
		digest, err := p.digest()
		if err != nil {
			return err
		}
		p.pending = append(p.pending, pending{n, digest, ir.DType(t.text)})
		return p.own(c)
	}
	return p.lex.unexpected(p.lex.peek(), "an element type such as f32 or i8")
}

// own reads the format that the source model gives to a constant, if it gives one, and the closing brace.
func (p *parser) own(c *ir.Const) error {
	if p.lex.take(",") {
		if _, err := p.lex.want("own"); err != nil {
			return err
		}
		var n ir.Node
		if err := p.typ(&n); err != nil {
			return err
		}
		c.Own = n.Type.WithShape(nil)
	}
	_, err := p.lex.want("}")
	return err
}

// typ reads ": shape format{scales}".
func (p *parser) typ(n *ir.Node) error {
	if _, err := p.lex.want(":"); err != nil {
		return err
	}
	t, err := p.lex.expect(tokWord, "a shape")
	if err != nil {
		return err
	}
	if n.Type.Shape, err = shapeOf(t.text); err != nil {
		return p.lex.fail(t, diag.GraphShape, "%s is not a shape: it looks like 1x8x8, or scalar", shown(t.text))
	}
	if err := ir.CheckShape(n.Type.Shape); err != nil {
		return p.lex.fail(t, diag.GraphShape, "%v", err)
	}
	f := p.lex.rest(" \t\r\n")
	name, scales, found := strings.Cut(f.text, "{")
	if name != "?" {
		if n.Type.Format, err = format.Parse(name); err != nil {
			return diag.At(err, diag.GraphShape, p.lex.place(f.pos))
		}
	}
	if !found {
		return nil
	}
	scales, ok := strings.CutSuffix(scales, "}")
	n.Type.Scales = []float32{}
	for _, s := range strings.Split(scales, ",") {
		v, err := strconv.ParseFloat(s, 32)
		if (err != nil || !ok || math.IsNaN(v)) && scales != "" {
			return p.lex.fail(f, diag.GraphShape, "%s is not a list of scales", shown(scales))
		}
		if scales != "" {
			n.Type.Scales = append(n.Type.Scales, float32(v))
		}
	}
	return nil
}

// shapeOf is the inverse of ir.ShapeString.
func shapeOf(text string) ([]int, error) {
	if text == "scalar" {
		return nil, nil
	}
	parts := strings.Split(text, "x")
	shape := make([]int, len(parts))
	for i, s := range parts {
		d, err := strconv.Atoi(s)
		if err != nil || d < 0 {
			return nil, strconv.ErrSyntax
		}
		shape[i] = d
	}
	return shape, nil
}

// dtypeAndDigest reads both.
func (p *parser) dtypeAndDigest() (ir.DType, token, error) {
	t, err := p.lex.expect(tokWord, "an element type")
	if err != nil {
		return "", t, err
	}
	if ir.DType(t.text).Size() == 0 {
		return "", t, p.lex.fail(t, diag.GraphValue, "%s is not an element type such as f32 or i8", shown(t.text))
	}
	digest, err := p.digest()
	return ir.DType(t.text), digest, err
}

// digest reads sha256: and 64 hexadecimal digits.
func (p *parser) digest() (token, error) {
	t := p.lex.peek()
	for _, s := range [...]string{"sha256", ":"} {
		if _, err := p.lex.want(s); err != nil {
			return t, err
		}
	}
	hex, err := p.lex.expect(tokWord, "a digest")
	if err != nil {
		return t, err
	}
	if len(hex.text) != 64 || strings.Trim(hex.text, "0123456789abcdef") != "" {
		return t, p.lex.fail(hex, diag.GraphValue, "%s is not a digest of 64 hexadecimal digits", shown(hex.text))
	}
	return token{tokWord, "sha256:" + hex.text, t.pos}, nil
}

// elements reads [a, b, ...] as data of a type.
func (p *parser) elements(d ir.DType) (*ir.Blob, error) {
	if _, err := p.lex.want("["); err != nil {
		return nil, err
	}
	b := &ir.Blob{DType: d}
	for !p.lex.take("]") {
		if len(b.Bytes) > 0 {
			if _, err := p.lex.want(","); err != nil {
				return nil, err
			}
		}
		t, err := p.lex.expect(tokWord, "a number or ]")
		if err != nil {
			return nil, err
		}
		bits, ok := element(d, t.text)
		if !ok {
			return nil, p.lex.fail(t, diag.GraphValue, "%s is not an element of type %s", shown(t.text), d)
		}
		b.Bytes = append(b.Bytes, binary.LittleEndian.AppendUint64(nil, bits)[:d.Size()]...)
	}
	return b, nil
}

// element reads one number of type d as its bits. The 16-bit floats and bool have no text form.
func element(d ir.DType, text string) (bits uint64, ok bool) {
	size := 8 * d.Size()
	switch d {
	case ir.F32:
		v, err := strconv.ParseFloat(text, 32)
		return uint64(math.Float32bits(float32(v))), err == nil && !math.IsNaN(v)
	case ir.F64:
		v, err := strconv.ParseFloat(text, 64)
		return math.Float64bits(v), err == nil && !math.IsNaN(v)
	case ir.I8, ir.I16, ir.I32, ir.I64:
		v, err := strconv.ParseInt(text, 10, size)
		return uint64(v), err == nil
	case ir.U8, ir.U16, ir.U32, ir.U64:
		v, err := strconv.ParseUint(text, 10, size)
		return v, err == nil
	}
	return 0, false
}

// resolve gives constants their data and inputs their nodes.
func (p *parser) resolve() error {
	for _, c := range p.pending {
		b := p.blobs[c.digest.text]
		if b == nil {
			b, _ = p.data(c.digest.text)
		}
		if b == nil && p.absent != nil {
			b = &ir.Blob{DType: c.dtype}
			p.absent[b] = c.digest.text
		}
		if b == nil {
			return p.lex.fail(c.digest, diag.GraphData, "the data of constant %s are not in the text", shown(c.n.Name)).
				WithHint("large constants stand only in .lathe files")
		}
		if b.DType != c.dtype {
			return p.lex.fail(c.digest, diag.GraphData, "the data of constant %s are %s, not %s", shown(c.n.Name), b.DType,
				c.dtype)
		}
		c.n.Attrs.(*ir.Const).Data = b
	}
	for _, n := range p.g.In {
		if n.Op == nil {
			return p.lex.fail(token{}, diag.GraphUndefined, "input %s has no node", shown(n.Name))
		}
	}
	return nil
}
