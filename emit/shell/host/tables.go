// SPDX-License-Identifier: Apache-2.0

package host

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"lathe/emit"
	"lathe/emit/meaning"
	"lathe/rtl"
)

// tables are the ports as C.
func tables(d *emit.Design, ports []port) []byte {
	var b bytes.Buffer
	head(&b, d, d.Top+"_ports.c", "the ports of "+d.Top+" and what their codes mean")
	fmt.Fprintf(&b, "#include \"%s_driver.h\"\n\n#include <math.h>\n", d.Top)
	for _, direction := range []string{"in", "out"} {
		var rows []string
		for _, p := range ports {
			if p.Direction == direction {
				rows = append(rows, p.row(&b, d.Top, fmt.Sprintf("%s_%d", direction, len(rows))))
			}
		}
		fmt.Fprintf(&b, "\nconst %s_port %[1]s_%sputs[] = {\n    {%s},\n};\n", d.Top, direction,
			strings.Join(rows, "},\n    {"))
	}
	return b.Bytes()
}

// table is a port as C: its arrays stand in front of what initializes it.
type table struct {
	arrays *bytes.Buffer
	suffix string
	fields []string
}

func (t *table) field(name string, value any) {
	t.fields = append(t.fields, fmt.Sprintf(".%s = %v", name, value))
}

// array prints an array and makes a field of it; nothing where it is empty.
func (t *table) array(name, typ string, values []string) {
	if len(values) == 0 {
		return
	}
	fmt.Fprintf(t.arrays, "\nstatic const %s %s_%s[] = {", typ, name, t.suffix)
	for i, text := range values {
		if i%8 == 0 {
			t.arrays.WriteString("\n ")
		}
		t.arrays.WriteString(" " + text + ",")
	}
	t.arrays.WriteString("\n};\n")
	t.field(name, name+"_"+t.suffix)
}

// row prints the arrays of a port, and returns what initializes it.
func (p port) row(b *bytes.Buffer, top, suffix string) string {
	t := &table{arrays: b, suffix: suffix}
	t.field("name", emit.CString(p.Name))
	t.field("format", emit.CString(p.Format))
	t.field("beats", p.Beats)
	t.field("lanes", p.Lanes)
	t.field("beat_bytes", p.BeatBytes)
	t.field("elements", p.elements)
	t.field("frame_bytes", p.FrameBytes)
	t.field("is_signed", rtl.Flag(p.Signed))
	if p.stride != nil {
		t.field("rank", len(p.Shape))
		t.array("shape", "uint32_t", whole(p.Shape))
		t.array("stride", "uint32_t", whole(p.stride))
	}
	t.field("channels", len(p.Exponents))
	t.array("exponents", "int16_t", whole(p.Exponents))
	if rank := len(p.Shape); rank > 0 {
		t.field("row", p.Shape[rank-1])
	}
	t.codes(p.Values, strings.ToUpper(top))
	return strings.Join(t.fields, ", ")
}

// codes are the fields about what codes mean.
func (t *table) codes(v meaning.Values, upper string) {
	t.field("bits", v.Bits)
	t.field("kind", upper+"_"+strings.ToUpper(v.Kind))
	t.field("scale", double(v.Scale))
	t.field("zero", v.Zero)
	t.field("min", long(v.Min))
	t.field("max", long(v.Max))
	t.field("round", emit.CString(v.Round))
	t.field("wrap", rtl.Flag(v.Wrap))
	t.field("divide", rtl.Flag(v.Divide != ""))
	t.field("block", v.Block)
	t.field("scale_bits", v.ScaleBits)
	t.field("scale_bias", v.ScaleBias)
	t.field("scale_min", v.ScaleMin)
	t.field("scale_max", v.ScaleMax)
	t.field("codes", len(v.Table))
	t.field("steps", len(v.From))
	var values, from []string
	for _, x := range v.Table {
		text := "NAN"
		if x != nil {
			text = double(*x)
		}
		values = append(values, text)
	}
	for _, x := range v.From {
		from = append(from, double(float64(x))+"f")
	}
	t.array("table", "double", values)
	t.array("from", "float", from)
	t.array("to", "uint16_t", whole(v.Codes))
	t.field("minus_zero", v.MinusZero)
}

func whole[T int | int64](values []T) (list []string) {
	for _, v := range values {
		list = append(list, fmt.Sprint(v))
	}
	return list
}

// double is a float64 in C, exactly.
func double(x float64) string { return strconv.FormatFloat(x, 'x', -1, 64) }

// long is an int64 in C; the least one has no literal.
func long(v int64) string {
	if v == math.MinInt64 {
		return "INT64_MIN"
	}
	return fmt.Sprintf("INT64_C(%d)", v)
}

// floats are values as the example reads them.
func floats(samples [][]float32) []byte {
	var b []byte
	for _, s := range samples {
		for _, x := range s {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
	}
	return b
}
