// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
)

// tensor is a TensorProto. Its payload is not read before it is asked for.
type tensor struct {
	name     string
	dims     []int
	dtype    int64
	raw      []byte
	hasRaw   bool
	typed    protowire.Number // the typed data field in use, 0 if none
	chunks   int              // occurrences of the typed field
	packed   []byte           // the last occurrence, if it is packed
	msg      message
	external bool
}

// dtypes maps ONNX element types to storage types and names; "" is no type that constants can have here.
var dtypes = [...]struct {
	name  string
	typ   ir.DType
	field protowire.Number // of the typed payload
}{
	1: {"float", ir.F32, 4}, 2: {"uint8", ir.U8, 5}, 3: {"int8", ir.I8, 5}, 4: {"uint16", ir.U16, 5},
	5: {"int16", ir.I16, 5}, 6: {"int32", ir.I32, 5}, 7: {"int64", ir.I64, 7}, 8: {name: "string"},
	9: {"bool", ir.B1, 5}, 10: {"float16", ir.F16, 5}, 11: {"double", ir.F64, 10}, 12: {"uint32", ir.U32, 11},
	13: {"uint64", ir.U64, 11}, 14: {name: "complex64"}, 15: {name: "complex128"}, 16: {"bfloat16", ir.BF, 5},
	17: {name: "float8e4m3fn"}, 18: {name: "float8e4m3fnuz"}, 19: {name: "float8e5m2"}, 20: {name: "float8e5m2fnuz"},
	21: {"uint4", ir.U8, 5}, 22: {"int4", ir.I8, 5}, 23: {name: "float4e2m1"}, 24: {name: "float8e8m0"},
	25: {name: "uint2"}, 26: {name: "int2"}, 27: {name: "float6e2m3"}, 28: {name: "float6e3m2"},
}

// Element types that need names.
const (
	dtypeInt64  = 7
	dtypeString = 8
	dtypeBool   = 9
	dtypeUint64 = 13
	dtypeUint4  = 21
	dtypeInt4   = 22
)

// dtypeName is the schema's name of an element type.
func dtypeName(d int64) string {
	if d > 0 && d < int64(len(dtypes)) {
		return dtypes[d].name
	}
	return "type " + strconv.FormatInt(d, 10)
}

// storage is the storage type of an element type, "" if it has none here.
func storage(d int64) ir.DType {
	if d > 0 && d < int64(len(dtypes)) {
		return dtypes[d].typ
	}
	return ""
}

// isFloat says that values of t are real numbers.
func isFloat(t ir.DType) bool { return t == ir.F32 || t == ir.F64 || t == ir.F16 || t == ir.BF }

func decodeTensor(m message, t *tensor) error {
	t.msg = m
	err := m.each(func(f *field) (err error) {
		switch f.num {
		case 1:
			err = t.decodeDims(f)
		case 2:
			t.dtype, err = f.integer()
		case 4, 5, 7, 10, 11:
			if t.typed != 0 && t.typed != f.num {
				return t.fail(diag.TensorData, "has data in the fields %d and %d", t.typed, f.num)
			}
			t.typed, t.packed = f.num, f.sub.buf
			t.chunks++
		case 8:
			t.name, err = f.text()
		case 9:
			t.raw, err = f.sub.buf, f.want(protowire.BytesType)
			t.hasRaw = true
		case 14:
			var v int64
			v, err = f.integer()
			t.external = v == 1
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := ir.CheckShape(t.dims); err != nil {
		return t.fail(diag.BadDimension, "%v", err)
	}
	return t.checkPayload()
}

func (t *tensor) decodeDims(f *field) error {
	n, err := f.terms()
	if err != nil {
		return err
	}
	if err := limit("dimensions of tensor "+quote(t.name), len(t.dims)+n, maxRank); err != nil {
		return err
	}
	return f.varints(func(v uint64) { t.dims = append(t.dims, int(int64(v))) })
}

// fail makes an error about the tensor.
func (t *tensor) fail(code diag.Code, msg string, args ...any) *diag.Error {
	name := quote(t.name)
	if t.name == "" {
		name = "without a name"
	}
	return diag.New(code, "", "tensor "+name+" "+msg, args...)
}

// checkPayload compares the length of fixed-width data with the shape; it reads no data.
func (t *tensor) checkPayload() error {
	if t.hasRaw && (t.typed != 0 || t.external) || t.typed != 0 && t.external {
		return t.fail(diag.TensorData, "has data in more than one place")
	}
	typ := storage(t.dtype)
	if typ == "" {
		return nil
	}
	if t.typed != 0 && t.typed != dtypes[t.dtype].field {
		return t.fail(diag.TensorData, "of type %s has its data in field %d", dtypeName(t.dtype), t.typed)
	}
	if t.hasRaw {
		return t.checkLength(len(t.raw))
	}
	if !t.external && t.typed == 0 {
		return t.checkLength(0)
	}
	return nil
}

func (t *tensor) elems() int { return ir.Type{Shape: t.dims}.Elems() }

// bytes is the length of the data: 4-bit elements stand two in a byte.
func (t *tensor) bytes() int {
	if t.fourBits() {
		return (t.elems() + 1) / 2
	}
	return t.elems() * storage(t.dtype).Size()
}

func (t *tensor) fourBits() bool { return t.dtype == 21 || t.dtype == 22 }

// unpack spreads 4-bit elements to bytes, the low half of each first; int4 is sign-extended.
func (t *tensor) unpack(data []byte) []byte {
	out := make([]byte, t.elems())
	for i := range out {
		v := data[i/2] >> (4 * (i % 2)) & 15
		if t.dtype == 22 && v > 7 {
			v |= 0xf0
		}
		out[i] = v
	}
	return out
}

func (t *tensor) checkLength(n int) error {
	if want := t.bytes(); n != want {
		return t.fail(diag.TensorData, "has %d bytes of data, %s of %s need %d", n, ir.ShapeString(t.dims),
			dtypeName(t.dtype), want).WithHint("the file is cut off or was written wrongly: export the model again")
	}
	return nil
}

// blob returns the data: a view where the file holds them in one piece, else a copy in their storage type.
func (t *tensor) blob(ext *externals) (*ir.Blob, error) {
	typ := storage(t.dtype)
	if typ == "" {
		return nil, t.fail(diag.BadElementType, "has elements of type %s, which is not supported", dtypeName(t.dtype))
	}
	data := t.raw
	var err error
	switch {
	case t.external:
		data, err = ext.read(t)
	case t.chunks == 1 && len(t.packed) > 0 && (t.typed == 4 || t.typed == 10):
		data = t.packed
	case t.typed != 0:
		data, err = t.gather(typ)
	}
	if err != nil {
		return nil, err
	}
	if err := t.checkLength(len(data)); err != nil {
		return nil, err
	}
	if t.fourBits() {
		data = t.unpack(data)
	}
	return &ir.Blob{DType: typ, Bytes: data}, nil
}

// gather copies a typed field that is in pieces, or that holds integers as varints.
func (t *tensor) gather(typ ir.DType) ([]byte, error) {
	total := 0
	err := t.msg.each(func(f *field) error {
		if f.num != t.typed {
			return nil
		}
		if isFixed(t.typed) {
			total += max(1, len(f.sub.buf)/typ.Size())
			return nil
		}
		n, err := f.terms()
		total += n
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := t.checkLength(total * typ.Size()); err != nil {
		return nil, err
	}
	out := make([]byte, 0, total*typ.Size())
	err = t.msg.each(func(f *field) error {
		switch {
		case f.num != t.typed:
			return nil
		case isFixed(t.typed):
			var spare [8]byte
			b, err := f.fixed(typ.Size(), spare[:])
			out = append(out, b...)
			return err
		}
		return f.varints(func(v uint64) { out = appendInt(out, typ.Size(), v) })
	})
	return out, err
}

// isFixed says that a typed field holds fixed-width elements: float_data and double_data.
func isFixed(n protowire.Number) bool { return n == 4 || n == 10 }

// appendInt appends the low bytes of v.
func appendInt(out []byte, size int, v uint64) []byte {
	switch size {
	case 1:
		return append(out, byte(v))
	case 2:
		return binary.LittleEndian.AppendUint16(out, uint16(v))
	case 4:
		return binary.LittleEndian.AppendUint32(out, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(out, v)
}

// externals maps files of external data, each once. dir is the model's folder; "" allows none.
type externals struct {
	dir   string
	files map[string][]byte
}

// read returns the data of an external tensor as a view.
func (e *externals) read(t *tensor) ([]byte, error) {
	location, offset, length, err := t.where()
	if err != nil {
		return nil, err
	}
	if e.dir == "" {
		return nil, t.fail(diag.ExternalData, "has its data in the file %q, but the model is not a file", location)
	}
	data, ok := e.files[location]
	if !ok {
		if data, err = e.open(location); err != nil {
			return nil, t.fail(diag.ExternalData, "has its data in the file %q: %v", location, err).
				WithHint("copy %s beside the model, or save the model with its weights in one file", location)
		}
		e.files[location] = data
	}
	if offset > len(data) || length > len(data)-offset {
		return nil, t.fail(diag.ExternalData, "needs %d bytes at offset %d of %q, which has %d", length, offset, location,
			len(data))
	}
	return data[offset : offset+length], nil
}

// open maps a file of the model's folder. os.Root refuses paths and symbolic links that lead out of it.
func (e *externals) open(location string) ([]byte, error) {
	if !filepath.IsLocal(location) || strings.ContainsRune(location, '\\') {
		return nil, errors.New("only files in the model's folder and below are read")
	}
	root, err := os.OpenRoot(e.dir)
	if err != nil {
		return nil, source.Reason(err)
	}
	defer root.Close()
	info, err := root.Stat(location) // before opening: to open a pipe would wait
	if err != nil {
		return nil, source.Reason(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	f, err := root.Open(location)
	if err != nil {
		return nil, source.Reason(err)
	}
	defer f.Close()
	data, err := source.Map(f)
	var d *diag.Error
	if errors.As(err, &d) {
		return nil, errors.New(d.Msg)
	}
	return data, err
}

// where reads location, offset and length of external data; without a length the shape tells it.
func (t *tensor) where() (location string, offset, length int, err error) {
	offset, length = 0, t.bytes()
	err = t.msg.each(func(f *field) error {
		if f.num != 13 {
			return nil
		}
		key, val, err := f.keyValue()
		if err != nil {
			return err
		}
		switch string(key) {
		case "location":
			if err := limit("bytes of a location", len(val), maxName); err != nil {
				return err
			}
			location = string(val)
		case "offset":
			offset, err = t.decimal("offset", val)
		case "length":
			if length, err = t.decimal("length", val); err == nil {
				err = t.checkLength(length)
			}
		}
		return err
	})
	if err == nil && location == "" {
		err = t.fail(diag.ExternalData, "has external data without a location")
	}
	return location, offset, length, err
}

func (t *tensor) decimal(key string, val []byte) (int, error) {
	v, err := strconv.ParseUint(string(val[:min(len(val), 32)]), 10, 64)
	if err != nil || v > math.MaxInt {
		return 0, t.fail(diag.ExternalData, "has the %s %q, which is not a byte count", key, val[:min(len(val), 32)])
	}
	return int(v), nil
}

// texts reads the elements of a tensor of strings.
func (t *tensor) texts() ([]string, error) {
	var list []string
	err := t.msg.each(func(f *field) error {
		if f.num != 6 {
			return nil
		}
		if err := limit("texts of tensor "+quote(t.name), len(list)+1, maxFields); err != nil {
			return err
		}
		list = append(list, string(f.sub.buf[:min(len(f.sub.buf), maxName)]))
		return f.want(protowire.BytesType)
	})
	return list, err
}
