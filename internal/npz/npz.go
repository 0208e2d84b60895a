// SPDX-License-Identifier: Apache-2.0

// Package npz reads and writes NumPy array files: .npy holds one array, .npz is a zip file of them (NumPy Enhancement
// Proposal 1). Elements are booleans, integers and floats of up to 64 bits; objects, strings, records and complex
// numbers are refused by name.
package npz

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"lathe/internal/diag"
)

// Limits of what is read. They are checked before memory is taken.
const (
	maxBytes  = 1 << 34 // of all arrays of a file together
	maxHeader = 1 << 16
	maxRank   = 32
	maxArrays = 1 << 16
)

// Array is one array in C order (last axis innermost).
type Array struct {
	Name  string
	Shape []int  // none for a scalar
	DType string // bool, int8 .. int64, uint8 .. uint64, float16, float32, float64
	data  []byte // little endian
}

// File is a file of arrays in the order in which it holds them.
type File struct {
	Path   string
	Arrays []Array
}

// Get finds an array by name. The error names the nearest one.
func (f *File) Get(name string) (*Array, error) {
	names := make([]string, len(f.Arrays))
	for i := range f.Arrays {
		if f.Arrays[i].Name == name {
			return &f.Arrays[i], nil
		}
		names[i] = f.Arrays[i].Name
	}
	err := diag.New(diag.UnknownArray, f.Path, "no array is named %q", name)
	if near := diag.Nearest(name, names); near != "" {
		return nil, err.WithHint("did you mean %q?", near)
	}
	if len(names) == 0 {
		return nil, err.WithHint("the file holds no arrays")
	}
	if len(names) > 20 {
		names = append(names[:20], "...")
	}
	return nil, err.WithHint("its arrays are %s", strings.Join(names, ", "))
}

// dtype is one element type.
type dtype struct {
	name string
	kind byte // NumPy's letter: b bool, i, u, f
	size int
}

var dtypes = []dtype{
	{"bool", 'b', 1}, {"int8", 'i', 1}, {"int16", 'i', 2}, {"int32", 'i', 4}, {"int64", 'i', 8},
	{"uint8", 'u', 1}, {"uint16", 'u', 2}, {"uint32", 'u', 4}, {"uint64", 'u', 8},
	{"float16", 'f', 2}, {"float32", 'f', 4}, {"float64", 'f', 8},
}

// dtypeOf finds an element type by name; the zero dtype if there is none.
func dtypeOf(name string) dtype {
	for _, d := range dtypes {
		if d.name == name {
			return d
		}
	}
	return dtype{}
}

// elems is the number of elements of a shape; ok is false for negative dimensions or more than maxBytes elements.
func elems(shape []int) (n int, ok bool) {
	n, zero := 1, false
	for _, d := range shape {
		if d < 0 {
			return 0, false
		}
		zero = zero || d == 0
		if d > 0 && n > maxBytes/d {
			return 0, false
		}
		n *= max(d, 1)
	}
	if zero {
		return 0, true
	}
	return n, true
}

// Len is the number of elements.
func (a *Array) Len() int {
	n, _ := elems(a.Shape)
	return n
}

// bits is the raw content of element i.
func (a *Array) bits(i, size int) uint64 {
	switch b := a.data[i*size:]; size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	default:
		return binary.LittleEndian.Uint64(b)
	}
}

// Float64s gives the elements as float64; 64-bit integers beyond 2^53 are rounded to even.
func (a *Array) Float64s() []float64 {
	d, out := dtypeOf(a.DType), make([]float64, a.Len())
	for i := range out {
		b := a.bits(i, d.size)
		switch {
		case d.kind == 'i':
			out[i] = float64(signExtend(b, d.size))
		case d.kind != 'f':
			out[i] = float64(b)
		case d.size == 2:
			out[i] = halfValue(uint16(b))
		case d.size == 4:
			out[i] = float64(math.Float32frombits(uint32(b)))
		default:
			out[i] = math.Float64frombits(b)
		}
	}
	return out
}

// Float32s gives the elements as float32; float64 and integers beyond 2^24 are rounded to even, once.
func (a *Array) Float32s() []float32 {
	d, out := dtypeOf(a.DType), make([]float32, a.Len())
	if d.kind == 'f' {
		if d.size == 4 {
			for i := range out {
				out[i] = math.Float32frombits(uint32(a.bits(i, 4)))
			}
			return out
		}
		for i, v := range a.Float64s() {
			out[i] = float32(v)
		}
		return out
	}
	for i := range out {
		b := a.bits(i, d.size)
		if d.kind == 'i' {
			out[i] = float32(signExtend(b, d.size))
		} else {
			out[i] = float32(b)
		}
	}
	return out
}

// Int64s gives the elements as integers. A float that is none, or a value beyond int64, is an error with its index.
func (a *Array) Int64s() ([]int64, error) {
	d, out := dtypeOf(a.DType), make([]int64, a.Len())
	if d.kind == 'f' {
		for i, v := range a.Float64s() {
			if v != math.Trunc(v) || v < -0x1p63 || v >= 0x1p63 {
				return nil, a.noInteger(i, v)
			}
			out[i] = int64(v)
		}
		return out, nil
	}
	for i := range out {
		b := a.bits(i, d.size)
		if d.kind == 'i' {
			out[i] = signExtend(b, d.size)
			continue
		}
		if out[i] = int64(b); out[i] < 0 {
			return nil, a.noInteger(i, b)
		}
	}
	return out, nil
}

func (a *Array) noInteger(i int, v any) error {
	return diag.New(diag.ArrayNotInteger, "", "element %v of array %q is %v, which is not a 64-bit integer", a.index(i),
		a.Name, v)
}

// index is the multi-dimensional index of element i.
func (a *Array) index(i int) []int {
	at := make([]int, len(a.Shape))
	for k, d := range slices.Backward(a.Shape) {
		at[k] = i % d
		i /= d
	}
	return at
}

func signExtend(b uint64, size int) int64 {
	sh := 64 - 8*size
	return int64(b<<sh) >> sh
}

// halfValue is the value of an IEEE 754 binary16 number.
func halfValue(h uint16) float64 {
	e, m := int(h>>10&31), float64(h&1023)
	v := math.Ldexp(m, -24)
	switch {
	case e == 31 && m != 0:
		return math.NaN()
	case e == 31:
		v = math.Inf(1)
	case e > 0:
		v = math.Ldexp(m+1024, e-25)
	}
	if h>>15 != 0 {
		return -v
	}
	return v
}

// Along is a with n entries along an axis: the first n, or all of them over and over. a has at least one.
func (a *Array) Along(axis, n int) Array {
	out := Array{Name: a.Name, Shape: slices.Clone(a.Shape), DType: a.DType}
	out.Shape[axis] = n
	inner := dtypeOf(a.DType).size
	for _, d := range a.Shape[axis+1:] {
		inner *= d
	}
	have := a.Shape[axis]
	for from := 0; from < len(a.data); from += have * inner {
		for i := range n {
			at := from + i%have*inner
			out.data = append(out.data, a.data[at:at+inner]...)
		}
	}
	return out
}
