// SPDX-License-Identifier: Apache-2.0

// Package safetensors reads the tensor files of Hugging Face: eight bytes that hold the length of a header, the header
// in JSON, and the data. Tensors are views of the mapped file; their data are not touched.
package safetensors

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"

	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
)

// maxHeader is the longest header that the reference reader takes.
const maxHeader = 100_000_000

// File is one file of tensors.
type File struct {
	// Base is the name of the file, for messages.
	Base string
	// Tensors are in the order of the header.
	Tensors []Tensor
	// Metadata are the texts under __metadata__, in the order of the header.
	Metadata []Text
}

// Text is a named text.
type Text struct{ Name, Value string }

// Tensor is a named array of one file, row-major and little-endian.
type Tensor struct {
	Name string
	// DType is the name of the element type in the format: "F32", "BF16".
	DType string
	Shape []int
	Data  []byte
	// File is the name of the file that holds it.
	File string

	begin, end uint64 // in the data, behind the header
}

// dtype is an element type: its size in bits, and how graphs store it, "" if they do not.
type dtype struct {
	name   string
	bits   uint64
	stored ir.DType
}

var dtypes = [...]dtype{
	{"BOOL", 8, ir.B1}, {"U8", 8, ir.U8}, {"I8", 8, ir.I8}, {"I16", 16, ir.I16}, {"U16", 16, ir.U16},
	{"F16", 16, ir.F16}, {"BF16", 16, ir.BF}, {"I32", 32, ir.I32}, {"U32", 32, ir.U32}, {"F32", 32, ir.F32},
	{"I64", 64, ir.I64}, {"U64", 64, ir.U64}, {"F64", 64, ir.F64},
	{"F8_E5M2", 8, ""}, {"F8_E4M3", 8, ""}, {"F8_E8M0", 8, ""}, {"F8_E4M3FNUZ", 8, ""}, {"F8_E5M2FNUZ", 8, ""},
	{"C64", 64, ""}, {"F4", 4, ""}, {"F6_E2M3", 6, ""}, {"F6_E3M2", 6, ""},
}

// find returns the row of an element type; ok is false for an unknown one.
func find(name string) (d dtype, ok bool) {
	i := slices.IndexFunc(dtypes[:], func(d dtype) bool { return d.name == name })
	if i < 0 {
		return d, false
	}
	return dtypes[i], true
}

// Open maps a file and reads its header.
func Open(path string) (*File, error) {
	f, err := source.Open(path)
	if err != nil {
		return nil, err
	}
	return Parse(f.Base, f.Data)
}

// Parse reads the header of a file of the given name. Tensors are views of data. What it demands is what the reference
// reader demands, and that no name occurs twice: the header fits, the ranges of the tensors tile the data without a
// hole, an overlap or a byte left over, and each is as long as shape and element type say.
func Parse(base string, data []byte) (*File, error) {
	if what, hint := source.LooksLike(data); what != "" {
		return nil, diag.New(diag.ModelBroken, base, "is not a safetensors file but %s", what).WithHint("%s", hint)
	}
	if len(data) < 8 {
		return nil, diag.New(diag.ModelBroken, base, "ends after %d bytes, within the length of its header", len(data))
	}
	n := binary.LittleEndian.Uint64(data)
	rest := data[8:]
	switch {
	case n > maxHeader:
		return nil, diag.New(diag.ModelLimit, base, "claims a header of %d bytes, at most %d are read", n, maxHeader)
	case n > uint64(len(rest)):
		return nil, diag.New(diag.ModelBroken, base, "has a header of %d bytes and ends after %d of them", n, len(rest))
	}
	header, err := source.ParseJSON(base, rest[:n])
	if err != nil {
		return nil, err
	}
	f := &File{Base: base}
	if err := f.decode(header); err != nil {
		return nil, err
	}
	return f, f.place(rest[n:])
}

// decode reads the entries of the header.
func (f *File) decode(header *source.JSON) error {
	entries, err := header.Object()
	if err != nil {
		return err
	}
	f.Tensors = make([]Tensor, 0, len(entries))
	for i := range entries {
		e := &entries[i]
		if e.Key == "__metadata__" {
			if err := f.metadata(e); err != nil {
				return err
			}
			continue
		}
		t, err := tensor(e)
		if err != nil {
			return err
		}
		t.File = f.Base
		f.Tensors = append(f.Tensors, t)
	}
	return nil
}

func (f *File) metadata(v *source.JSON) error {
	if v.IsNull() {
		return nil
	}
	texts, err := v.Object()
	if err != nil {
		return err
	}
	for i := range texts {
		s, err := texts[i].Str()
		if err != nil {
			return err
		}
		f.Metadata = append(f.Metadata, Text{texts[i].Key, s})
	}
	return nil
}

// tensor reads one entry: element type, shape and offsets, which must agree.
func tensor(e *source.JSON) (t Tensor, err error) {
	t.Name = e.Key
	v, err := e.Need("dtype")
	if err != nil {
		return t, err
	}
	if t.DType, err = v.Str(); err != nil {
		return t, err
	}
	d, ok := find(t.DType)
	if !ok {
		return t, v.Errorf(diag.BadElementType, "the element type %s is unknown", source.Quote(t.DType))
	}
	if v, err = e.Need("shape"); err != nil {
		return t, err
	}
	elems, err := t.shape(v)
	if err != nil {
		return t, err
	}
	if v, err = e.Need("data_offsets"); err != nil {
		return t, err
	}
	ends, err := v.Ints()
	if err != nil {
		return t, err
	}
	if len(ends) != 2 || ends[0] < 0 || ends[1] < ends[0] {
		return t, v.Errorf(diag.TensorData, "%d are not begin and end", ends)
	}
	t.begin, t.end = uint64(ends[0]), uint64(ends[1])
	high, size := bits.Mul64(elems, d.bits)
	switch {
	case high != 0:
		return t, v.Errorf(diag.ModelLimit, "the shape %s has too many elements", ir.ShapeString(t.Shape))
	case size%8 != 0:
		return t, v.Errorf(diag.TensorData, "%d elements of type %s do not end with a byte", elems, d.name)
	case size/8 != t.end-t.begin:
		return t, v.Errorf(diag.TensorData, "%d bytes from %d to %d, but shape %s of type %s takes %d", t.end-t.begin,
			t.begin, t.end, ir.ShapeString(t.Shape), d.name, size/8)
	}
	return t, nil
}

// shape reads the dimensions and returns their product.
func (t *Tensor) shape(v *source.JSON) (elems uint64, err error) {
	dims, err := v.Ints()
	if err != nil {
		return 0, err
	}
	elems = 1
	for _, d := range dims {
		if d < 0 {
			return 0, v.Errorf(diag.BadDimension, "%d is negative", d)
		}
		high, low := bits.Mul64(elems, uint64(d))
		if high != 0 {
			return 0, v.Errorf(diag.ModelLimit, "the shape has too many elements")
		}
		elems = low
		t.Shape = append(t.Shape, int(d))
	}
	return elems, nil
}

// place cuts the data into the tensors, whose ranges must tile them.
func (f *File) place(data []byte) error {
	order := make([]*Tensor, len(f.Tensors))
	for i := range f.Tensors {
		order[i] = &f.Tensors[i]
	}
	slices.SortStableFunc(order, func(a, b *Tensor) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	at, last := uint64(0), ""
	for _, t := range order {
		pos := f.Base + ": " + t.Name
		switch {
		case t.begin < at:
			return diag.New(diag.TensorData, pos, "its bytes from %d on overlap those of %s", t.begin, source.Quote(last))
		case t.begin > at:
			return diag.New(diag.TensorData, pos, "its bytes begin at %d: those from %d on belong to no tensor", t.begin, at)
		case t.end > uint64(len(data)):
			return diag.New(diag.ModelBroken, pos, "its bytes end at %d, the file's data at %d", t.end, len(data))
		}
		t.Data = data[t.begin:t.end:t.end]
		at, last = t.end, t.Name
	}
	if at != uint64(len(data)) {
		return diag.New(diag.TensorData, f.Base, "has %d bytes after its last tensor", uint64(len(data))-at)
	}
	return nil
}

// Blob is the data as graphs hold them, which is no copy. Some element types of the format have no values there.
func (t *Tensor) Blob() (*ir.Blob, error) {
	d, _ := find(t.DType)
	if d.stored == "" {
		return nil, diag.New(diag.BadElementType, t.File+": "+t.Name, "elements of type %s are not supported", t.DType).
			WithHint("save the weights as float32, float16 or bfloat16")
	}
	return &ir.Blob{DType: d.stored, Bytes: t.Data}, nil
}

// IsFloat says that the elements are real numbers that graphs hold.
func (t *Tensor) IsFloat() bool {
	d, _ := find(t.DType)
	return d.stored != "" && ir.FormatOf(d.stored) == ir.FormatOf(ir.F32)
}
