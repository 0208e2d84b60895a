// SPDX-License-Identifier: Apache-2.0

package npz

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lathe/internal/diag"
)

func mustRead(t *testing.T, path string) *File {
	t.Helper()
	f, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestAlong takes fewer and more entries along each axis.
func TestAlong(t *testing.T) {
	a := Int64Array("x", []int{2, 3}, []int64{1, 2, 3, 4, 5, 6})
	for _, c := range []struct {
		axis, n int
		shape   []int
		want    []int64
	}{
		{0, 1, []int{1, 3}, []int64{1, 2, 3}},
		{0, 3, []int{3, 3}, []int64{1, 2, 3, 4, 5, 6, 1, 2, 3}},
		{1, 2, []int{2, 2}, []int64{1, 2, 4, 5}},
		{1, 7, []int{2, 7}, []int64{1, 2, 3, 1, 2, 3, 1, 4, 5, 6, 4, 5, 6, 4}},
	} {
		b := a.Along(c.axis, c.n)
		if got, err := b.Int64s(); err != nil || !slices.Equal(got, c.want) || !slices.Equal(b.Shape, c.shape) {
			t.Errorf("%d along axis %d: %v of %v, %v", c.n, c.axis, got, b.Shape, err)
		}
	}
	if got, _ := a.Int64s(); len(got) != 6 {
		t.Errorf("the array itself became %v", got)
	}
}

// TestNumPyKinds reads a compressed file that NumPy wrote, one array a type.
func TestNumPyKinds(t *testing.T) {
	f := mustRead(t, "testdata/kinds.npz")
	signed, unsigned := []float64{-2, -1, 0, 1, 2, 3}, []float64{200, 201, 202, 203, 204, 205}
	counted := make([]float64, 24)
	for i := range counted {
		counted[i] = float64(i)
	}
	want := []struct {
		name, dtype string
		shape       []int
		vals        []float64
	}{
		{"bool", "bool", []int{2, 3}, []float64{0, 1, 0, 1, 0, 1}},
		{"int8", "int8", []int{2, 3}, signed}, {"int16", "int16", []int{2, 3}, signed},
		{"int32", "int32", []int{2, 3}, signed}, {"int64", "int64", []int{2, 3}, signed},
		{"uint8", "uint8", []int{2, 3}, unsigned}, {"uint16", "uint16", []int{2, 3}, unsigned},
		{"uint32", "uint32", []int{2, 3}, unsigned}, {"uint64", "uint64", []int{2, 3}, unsigned},
		{"float16", "float16", []int{2, 3}, []float64{1, -0.5, 0x1p-14, 0x1p-24, 65504, math.Inf(-1)}},
		{"float32", "float32", []int{2, 3}, signed}, {"float64", "float64", []int{2, 3}, signed},
		{"fortran", "int32", []int{2, 3, 4}, counted}, {"big", "float64", []int{2, 3}, signed},
		{"scalar", "float32", []int{}, []float64{2.5}}, {"empty", "float32", []int{0, 3}, []float64{}},
		{"a/b.c", "int8", []int{1}, []float64{7}},
	}
	if len(f.Arrays) != len(want) {
		t.Fatalf("%d arrays, want %d", len(f.Arrays), len(want))
	}
	for i, w := range want {
		a := &f.Arrays[i]
		if a.Name != w.name || a.DType != w.dtype || !slices.Equal(a.Shape, w.shape) || !slices.Equal(a.Float64s(), w.vals) {
			t.Errorf("%s %s %v %v, want %v", a.Name, a.DType, a.Shape, a.Float64s(), w)
		}
		for k, v := range a.Float32s() {
			if v != float32(w.vals[k]) {
				t.Errorf("%s as float32: %v, want %v", a.Name, a.Float32s(), w.vals)
			}
		}
		ints, err := a.Int64s()
		if w.name == "scalar" || w.name == "float16" {
			if diag.CodeOf(err) != diag.ArrayNotInteger {
				t.Errorf("%s as integers: %v, %v", a.Name, ints, err)
			}
			continue
		}
		for k, v := range ints {
			if float64(v) != w.vals[k] {
				t.Errorf("%s as integers: %v, want %v", a.Name, ints, w.vals)
			}
		}
		if err != nil || len(ints) != len(w.vals) {
			t.Errorf("%s as integers: %v", a.Name, err)
		}
	}
}

func TestNumPyPlain(t *testing.T) {
	f := mustRead(t, "testdata/plain.npy")
	a, err := f.Get("plain")
	if err != nil || !slices.Equal(a.Float32s(), []float32{1.5, -2}) {
		t.Fatalf("%v %v", a, err)
	}
	// What NumPy wrote is what Write writes, byte for byte.
	path := filepath.Join(t.TempDir(), "again.npy")
	if err := Write(path, f.Arrays); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(path)
	want, _ := os.ReadFile("testdata/plain.npy")
	if string(got) != string(want) {
		t.Errorf("wrote %q, NumPy %q", got, want)
	}
}

func TestGet(t *testing.T) {
	f := mustRead(t, "testdata/kinds.npz")
	_, err := f.Get("flaot32")
	if diag.CodeOf(err) != diag.UnknownArray || !strings.Contains(err.Error(), `did you mean "float32"?`) {
		t.Error(err)
	}
	_, err = f.Get("something else")
	if diag.CodeOf(err) != diag.UnknownArray || !strings.Contains(err.Error(), "bool, int8") {
		t.Error(err)
	}
	_, err = (&File{}).Get("x")
	if diag.CodeOf(err) != diag.UnknownArray || !strings.Contains(err.Error(), "hint: the file holds no arrays") {
		t.Error(err)
	}
}

func TestRefusedTypes(t *testing.T) {
	for name, part := range map[string]string{
		"string.npz": `"<U2"`, "object.npy": `"|O"`, "record.npy": "records", "complex.npy": `"<c8"`,
	} {
		_, err := Read("testdata/" + name)
		if diag.CodeOf(err) != diag.ArrayElements || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestIntegers(t *testing.T) {
	a := Float64Array("x", []int{2, 2}, []float64{1, -3, 4, 0.5})
	if _, err := a.Int64s(); diag.CodeOf(err) != diag.ArrayNotInteger || !strings.Contains(err.Error(), "[1 1]") {
		t.Error(err)
	}
	for _, v := range []float64{0x1p63, math.NaN(), math.Inf(1)} {
		a := Float64Array("x", nil, []float64{v})
		if _, err := a.Int64s(); diag.CodeOf(err) != diag.ArrayNotInteger {
			t.Errorf("%v: %v", v, err)
		}
	}
	u := Int64Array("u", []int{1}, []int64{-1})
	u.DType = "uint64"
	if _, err := u.Int64s(); diag.CodeOf(err) != diag.ArrayNotInteger {
		t.Error(err)
	}
	// 2^53+2^29+1: rounding to float64 first would make a tie of it and lose the last step.
	i := Int64Array("i", []int{1}, []int64{1<<53 + 1<<29 + 1})
	if got := i.Float32s()[0]; got != 1<<53+1<<30 {
		t.Errorf("rounded twice: %v", got)
	}
}

// TestHalf compares all binary16 numbers with their definition.
func TestHalf(t *testing.T) {
	for h := range 1 << 16 {
		e, m := h>>10&31, h&1023
		v := halfValue(uint16(h))
		switch {
		case e == 31 && m != 0:
			if !math.IsNaN(v) {
				t.Fatalf("%x is %v", h, v)
			}
			continue
		case e == 31:
			if !math.IsInf(v, 1-h>>15*2) {
				t.Fatalf("%x is %v", h, v)
			}
			continue
		}
		want := float64(m) * 0x1p-24
		if e > 0 {
			want = (1 + float64(m)/1024) * math.Exp2(float64(e-15))
		}
		if math.Abs(v) != want || math.Signbit(v) != (h>>15 == 1) {
			t.Fatalf("%x is %v, want %v", h, v, want)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(0, 4), 0, 4).Draw(t, "shape")
		n, _ := elems(shape)
		f32 := rapid.SliceOfN(rapid.Float32(), n, n).Draw(t, "f32")
		f64 := rapid.SliceOfN(rapid.Float64(), n, n).Draw(t, "f64")
		i64 := rapid.SliceOfN(rapid.Int64(), n, n).Draw(t, "i64")
		in := []Array{Float32Array("b", shape, f32), Float64Array("a", shape, f64), Int64Array("c/d", shape, i64)}
		path := filepath.Join(dir, "x.npz")
		if err := Write(path, in); err != nil {
			t.Fatal(err)
		}
		first, _ := os.ReadFile(path)
		f, err := Read(path)
		if err != nil || len(f.Arrays) != 3 {
			t.Fatal(f, err)
		}
		for i, a := range f.Arrays {
			if a.Name != in[i].Name || a.DType != in[i].DType || !slices.Equal(a.Shape, shape) ||
				string(a.data) != string(in[i].data) {
				t.Fatalf("%v became %v", in[i], a)
			}
		}
		if got, err := f.Arrays[2].Int64s(); err != nil || !slices.Equal(got, i64) {
			t.Fatal(got, err)
		}
		if err := Write(path, f.Arrays); err != nil {
			t.Fatal(err)
		}
		if second, _ := os.ReadFile(path); string(first) != string(second) {
			t.Fatal("the same arrays gave other bytes")
		}
	})
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestWriteErrors(t *testing.T) {
	dir := t.TempDir()
	one := Int64Array("x", []int{1}, []int64{5})
	for _, c := range []struct {
		name   string
		code   diag.Code
		arrays []Array
	}{
		{"missing/x.npz", diag.ArrayWrite, []Array{one}},
		{"x.npy", diag.ArrayWrite, []Array{one, one}},
		{"x.npz", diag.ArrayWrite, []Array{one, one}},
		{"x.npz", diag.ArrayWrite, []Array{Int64Array("", []int{1}, []int64{5})}},
		{"x.npz", diag.ArraySizes, []Array{Int64Array("x", []int{2}, []int64{5})}},
		{"x.npz", diag.ArraySizes, []Array{{Name: "x", DType: "int3"}}},
	} {
		if err := Write(filepath.Join(dir, c.name), c.arrays); diag.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %s", c.name, err, c.code)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "dir.npz"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(dir, "dir.npz"), []Array{one}); diag.CodeOf(err) != diag.ArrayWrite {
		t.Errorf("onto a folder: %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}
