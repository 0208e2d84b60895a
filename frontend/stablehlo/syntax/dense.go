// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"lathe/internal/diag"
	"lathe/ir"
)

// maxSplat bounds the elements that a constant of one written value may be spread to here.
const maxSplat = 1 << 20

// Literal is the elements of a constant.
type Literal struct {
	Blob *ir.Blob
	// Splat says that Blob holds one element, which all are.
	Splat bool
}

// Storage is the storage type of elements of a type, "" for one that is not supported. Integers of fewer than 8 bits
// take a byte.
func Storage(elem string) ir.DType {
	switch elem {
	case "f32":
		return ir.F32
	case "f64":
		return ir.F64
	case "f16":
		return ir.F16
	case "bf16":
		return ir.BF
	case "i1":
		return ir.B1
	case "i2", "i4", "i8", "si8":
		return ir.I8
	case "ui2", "ui4", "ui8":
		return ir.U8
	case "i16", "si16":
		return ir.I16
	case "ui16":
		return ir.U16
	case "i32", "si32":
		return ir.I32
	case "ui32":
		return ir.U32
	case "i64", "si64", "index":
		return ir.I64
	case "ui64":
		return ir.U64
	}
	return ""
}

// Constant decodes dense<...> or dense_resource<...> of a static type.
func (f *File) Constant(n *Node, t Type) (Literal, error) {
	d := Storage(t.Elem)
	if d == "" {
		return Literal{}, f.errorAt(diag.BadElementType, n.At, "constants of type %s are not supported", t)
	}
	count, ok := t.Elems()
	if !ok || !t.Static() || !t.Tensor {
		return Literal{}, f.errorAt(diag.BadDimension, n.At, "a constant of type %s", t)
	}
	body := f.src[n.At:n.End]
	kind, body, _ := bytes.Cut(body[:len(body)-1], []byte("<"))
	body = bytes.TrimSpace(body)
	lit := reader{f: f, at: n.At, elem: t.Elem, dtype: d, size: d.Size(), dims: t.Dims, count: count}
	switch {
	case string(kind) == "dense_resource":
		return lit.resource(unquote(string(body)))
	case string(kind) == "array":
		_, body, _ = bytes.Cut(body, []byte(":"))
		return lit.list(slices.Concat([]byte("["), body, []byte("]")))
	case string(kind) != "dense":
		return Literal{}, f.errorAt(diag.UnsupportedForm, n.At, "constants as %s<...> are not supported", kind)
	case bytes.HasPrefix(body, []byte(`"0x`)) && bytes.HasSuffix(body, []byte(`"`)):
		return lit.hex(body[3 : len(body)-1])
	}
	return lit.list(body)
}

// intData reads dense<...> or array<...> of integers as numbers.
func (f *File) intData(n *Node, t Type) ([]int64, bool) {
	if bytes.HasPrefix(f.src[n.At:], []byte("array<")) {
		t = Type{Tensor: true, Elem: "i64", Dims: []int{bytes.Count(f.src[n.At:n.End], []byte(",")) + 1}}
		if !bytes.Contains(f.src[n.At:n.End], []byte(":")) {
			return nil, true
		}
		if bytes.HasPrefix(f.src[n.At:], []byte("array<i1")) {
			t.Elem = "i1"
		}
	}
	count, ok := t.Elems()
	if !ok || count > maxSplat || t.Elem[0] == 'f' || t.Elem[0] == 'b' {
		return nil, false
	}
	lit, err := f.Constant(n, t)
	if err != nil {
		return nil, false
	}
	list, err := lit.Blob.Ints()
	if err == nil && lit.Splat {
		list = slices.Repeat(list, count)
	}
	return list, err == nil
}

// reader decodes one constant.
type reader struct {
	f           *File
	at          int // of the constant
	elem        string
	dtype       ir.DType
	size, count int
	dims        []int
	out         []byte
}

func (r *reader) fail(msg string, args ...any) error {
	return r.f.errorAt(diag.ConstantElements, r.at, msg, args...)
}

func (r *reader) typ() string { return Type{Tensor: true, Dims: r.dims, Elem: r.elem}.String() }

// hex decodes the bytes of all elements, or of one that all are.
func (r *reader) hex(digits []byte) (Literal, error) {
	if n := len(digits); n != 2*r.size*r.count && n != 2*r.size {
		return Literal{}, r.fail("%d hexadecimal digits for %s, which takes %d", n, r.typ(), 2*r.size*r.count)
	}
	data := make([]byte, len(digits)/2)
	if _, err := hex.Decode(data, digits); err != nil {
		return Literal{}, r.fail("%v", err)
	}
	return r.raw(data)
}

// raw checks bytes that were stored as they are.
func (r *reader) raw(data []byte) (Literal, error) {
	switch r.elem {
	case "i1":
		for i := range data {
			if data[i] != 0 {
				data[i] = 1
			}
		}
	case "i2", "i4":
		bits := 8 - int(r.elem[1]-'0')
		for i := range data {
			data[i] = byte(int8(data[i]<<bits) >> bits)
		}
	case "ui2", "ui4":
		for i := range data {
			data[i] &= 1<<(r.elem[2]-'0') - 1
		}
	}
	return Literal{&ir.Blob{DType: r.dtype, Bytes: data}, len(data) == r.size && r.count != 1}, nil
}

// resource finds the bytes in the block of resources: four of alignment, then the elements.
func (r *reader) resource(name string) (Literal, error) {
	if name == "__elided__" {
		return Literal{}, r.f.errorAt(diag.ElidedConstant, r.at,
			"the elements of a constant were left out when the text was printed").
			WithHint("print it with all elements: as_text() of jax does, and MLIR without --mlir-elide-elementsattrs-if-larger")
	}
	span, ok := r.f.resources[name]
	if !ok {
		return Literal{}, r.f.errorAt(diag.UndefinedValue, r.at, "the resource %q is not in the file", name)
	}
	digits := bytes.TrimPrefix(r.f.src[span.at:span.end], []byte("0x"))
	if len(digits) != 8+2*r.size*r.count {
		return Literal{}, r.fail("%d hexadecimal digits of resource %q for %s, which takes %d", len(digits), name, r.typ(),
			8+2*r.size*r.count)
	}
	data := make([]byte, len(digits)/2)
	if _, err := hex.Decode(data, digits); err != nil {
		return Literal{}, r.fail("resource %q: %v", name, err)
	}
	return r.raw(data[4:])
}

// list reads nested lists of numbers, or one number.
func (r *reader) list(body []byte) (Literal, error) {
	if len(body) == 0 {
		if r.count != 0 {
			return Literal{}, r.fail("no elements for %s", r.typ())
		}
		return Literal{&ir.Blob{DType: r.dtype}, false}, nil
	}
	if body[0] != '[' {
		if err := r.element(string(body)); err != nil {
			return Literal{}, err
		}
		return Literal{&ir.Blob{DType: r.dtype, Bytes: r.out}, r.count != 1}, nil
	}
	if r.count > len(body) {
		return Literal{}, r.fail("the list of elements is too short for %s", r.typ())
	}
	r.out = make([]byte, 0, r.size*r.count)
	rest, err := r.nested(body, 0)
	if err == nil && len(bytes.TrimSpace(rest)) > 0 {
		err = r.fail("unexpected %q after the elements", shortened(string(rest)))
	}
	return Literal{&ir.Blob{DType: r.dtype, Bytes: r.out}, false}, err
}

// nested reads the list of one axis.
func (r *reader) nested(s []byte, axis int) (rest []byte, err error) {
	if axis >= len(r.dims) {
		return nil, r.fail("lists are nested deeper than %s", r.typ())
	}
	s = bytes.TrimLeft(s[1:], " \t\r\n")
	n := 0
	for len(s) > 0 && s[0] != ']' {
		if n > 0 {
			if s[0] != ',' {
				return nil, r.fail("unexpected %q between elements", s[0])
			}
			s = bytes.TrimLeft(s[1:], " \t\r\n")
		}
		if n++; n > r.dims[axis] {
			break
		}
		if len(s) > 0 && s[0] == '[' {
			s, err = r.nested(s, axis+1)
		} else if axis != len(r.dims)-1 {
			err = r.fail("a number where %s has a list", r.typ())
		} else {
			end := bytes.IndexAny(s, ",] \t\r\n")
			if end < 0 {
				end = len(s)
			}
			err = r.element(string(s[:end]))
			s = s[end:]
		}
		if err != nil {
			return nil, err
		}
		s = bytes.TrimLeft(s, " \t\r\n")
	}
	if n != r.dims[axis] || len(s) == 0 {
		return nil, r.fail("a list of axis %d of %s does not hold %d elements", axis, r.typ(), r.dims[axis])
	}
	return s[1:], nil
}

// element appends one number.
func (r *reader) element(s string) error {
	bits, ok := uint64(0), false
	switch r.dtype {
	case ir.F32, ir.F64, ir.F16, ir.BF:
		bits, ok = r.float(s)
	default:
		bits, ok = r.whole(s)
	}
	if !ok {
		return r.fail("%q is not a value of type %s", shortened(s), r.elem)
	}
	for range r.size {
		r.out = append(r.out, byte(bits))
		bits >>= 8
	}
	return nil
}

// whole reads an integer that the element type holds, or a truth value.
func (r *reader) whole(s string) (uint64, bool) {
	if r.elem == "i1" && (s == "true" || s == "false") {
		return map[bool]uint64{true: 1}[s == "true"], true
	}
	width, unsigned := 64, strings.HasPrefix(r.elem, "ui")
	if digits := strings.TrimLeft(r.elem, "sui"); digits != "" {
		if w, err := strconv.Atoi(digits); err == nil {
			width = w
		}
	}
	if v, err := strconv.ParseInt(s, 0, width); err == nil && !(unsigned && v < 0) && r.elem != "i1" {
		return uint64(v), true
	}
	v, err := strconv.ParseUint(s, 0, width) // of signless types too, as bits
	if err != nil {
		return 0, false
	}
	return uint64(int64(v<<(64-width)) >> (64 - width) & mask(unsigned || r.elem == "i1", width)), true
}

// mask keeps the low bits of unsigned values, and all of others.
func mask(unsigned bool, width int) int64 {
	if unsigned && width < 64 {
		return 1<<width - 1
	}
	return -1
}
