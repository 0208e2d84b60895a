// SPDX-License-Identifier: Apache-2.0

package data_test

import (
	"bytes"
	"compress/gzip"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/train/data"
)

// file writes a file of a test, folders included.
func file(t *testing.T, dir, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// want demands samples and classes.
func want(t *testing.T, d *data.Data, err error, shape []int, x []float32, classes []int64) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	a := &d.File.Arrays[0]
	if got := a.Float32s(); !slices.Equal(a.Shape, shape) || !slices.Equal(got, x) {
		t.Errorf("samples %v of shape %v, not %v of %v", got, a.Shape, x, shape)
	}
	var got []int64
	if d.Labels != nil {
		got, _ = d.Labels.Int64s()
	}
	if !slices.Equal(got, classes) {
		t.Errorf("classes %v, not %v", got, classes)
	}
}

// refused demands an error that says so.
func refused(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("%v does not say %q", err, text)
	}
}

func TestTable(t *testing.T) {
	dir := t.TempDir()
	path := file(t, dir, "x.csv", []byte("\ufeffa,kind,b\n1, 2,-0.5\n\"3\",0,1e-1\n"))
	d, err := data.Read(path, &data.Wanted{Labels: "kind", Shape: []int{1, 2}})
	want(t, d, err, []int{2, 1, 2}, []float32{1, -0.5, 3, 0.1}, []int64{2, 0})
	d, err = data.Read(path, &data.Wanted{Shape: []int{3}})
	want(t, d, err, []int{2, 3}, []float32{1, 2, -0.5, 3, 0, 0.1}, nil)
	d, err = data.Read(path, &data.Wanted{Labels: "kind", Shape: []int{2}, Features: []string{"b", "a"}})
	want(t, d, err, []int{2, 2}, []float32{-0.5, 1, 0.1, 3}, []int64{2, 0})
	if !slices.Equal(d.Features, []string{"b", "a"}) {
		t.Errorf("features %v", d.Features)
	}
	_, err = data.Read(path, &data.Wanted{Shape: []int{2}, Features: []string{"a", "c"}})
	refused(t, err, `x.csv: L0910: there is no column "c", which the samples of training have`)
	_, err = data.Read(path, &data.Wanted{Shape: []int{2}, Features: []string{"a", "b"}})
	refused(t, err, `x.csv: L0910: the samples of training have no column "kind"`)
	_, err = data.Read(path, &data.Wanted{Shape: []int{4}})
	refused(t, err, "x.csv: L0910: a sample has 3 elements, the input takes 4")
	_, err = data.Read(path, &data.Wanted{Labels: "species", Shape: []int{2}})
	refused(t, err, `x.csv: L1005: there is no column "species"; columns begin with a, kind, b`)
	_, err = data.Read(path, &data.Wanted{Labels: "b", Shape: []int{2}})
	refused(t, err, `line 2, column "b": "-0.5" is not the number of a class`)
	for content, text := range map[string]string{
		"a,b\n1,2\n1,x\n": `line 3, column "b": "x" is not a finite number`,
		"a,b\n1,nan\n":    `line 2, column "b": "nan" is not a finite number`,
		"a,b\n1\n":        "wrong number of fields",
		"a,b\n":           "there is no sample",
		"":                "the table is empty",
	} {
		_, err := data.Read(file(t, dir, "bad.csv", []byte(content)), &data.Wanted{Shape: []int{2}})
		refused(t, err, text)
	}
}

func TestIDX(t *testing.T) {
	dir := t.TempDir()
	pictures := []byte{0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 255, 51, 102}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(pictures)
	z.Close()
	for name, content := range map[string][]byte{"train-images-idx3-ubyte": pictures, "x.ubyte.gz": packed.Bytes()} {
		d, err := data.Read(file(t, dir, name, content), &data.Wanted{Shape: []int{1, 1, 2}})
		want(t, d, err, []int{2, 1, 1, 2}, []float32{0, 1, 0.2, 0.4}, nil)
	}
	a, err := data.ReadLabels(file(t, dir, "y.idx", []byte{0, 0, 8, 1, 0, 0, 0, 3, 7, 0, 9}))
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := a.Int64s(); !slices.Equal(got, []int64{7, 0, 9}) {
		t.Errorf("labels %v", got)
	}
	for text, content := range map[string][]byte{
		"this is no IDX file":                     []byte("PK\x03\x04...."),
		"elements of type 0x0d":                   {0, 0, 13, 1, 0, 0, 0, 1, 0, 0, 0, 0},
		"the data end early":                      {0, 0, 8, 2, 0, 0, 0, 1},
		"an axis of 100 does not fit":             {0, 0, 8, 1, 0, 0, 0, 100, 1, 2},
		"2 elements, and 3 bytes of data":         {0, 0, 8, 1, 0, 0, 0, 2, 1, 2, 3},
		"gzip: unexpected EOF":                    packed.Bytes()[:12],
		"a sample has 1x2 elements, the input ta": pictures,
	} {
		_, err := data.Read(file(t, dir, "bad.idx", content), &data.Wanted{Shape: []int{3}})
		refused(t, err, text)
	}
}

// picture is a PNG of 2 by 1 points.
func picture(t *testing.T, left, right color.Color) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, 2, 1))
	m.Set(0, 0, left)
	m.Set(1, 0, right)
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	red, grey := color.RGBA{255, 0, 0, 255}, color.RGBA{51, 51, 51, 255}
	file(t, dir, "b/1.png", picture(t, red, grey))
	file(t, dir, "a/2.PNG", picture(t, grey, grey))
	file(t, dir, "a/notes.txt", nil)
	first := []float32{0.2, 0.2, 0.2, 0.2, 0.2, 0.2}
	d, err := data.Read(dir, &data.Wanted{Shape: []int{1, 2, 3}})
	want(t, d, err, []int{2, 1, 2, 3}, append(first, 1, 0, 0, 0.2, 0.2, 0.2), []int64{0, 1})
	if !slices.Equal(d.Classes, []string{"a", "b"}) {
		t.Errorf("classes %v", d.Classes)
	}
	d, err = data.Read(dir, &data.Wanted{Shape: []int{3, 1, 2}})
	want(t, d, err, []int{2, 3, 1, 2}, append(first[:6:6], 1, 0.2, 0, 0.2, 0, 0.2), []int64{0, 1})
	d, err = data.Read(dir, &data.Wanted{Shape: []int{1, 1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	if x := d.File.Arrays[0].Float32s(); x[0] != 0.2 || x[2] < 0.298 || x[2] > 0.3 {
		t.Errorf("luminance %v", x)
	}
	_, err = data.Read(dir, &data.Wanted{Shape: []int{3, 4, 4}})
	refused(t, err, filepath.Join("a", "2.PNG")+": L0910: the picture has 2x1 points, the input takes 4x4")
	_, err = data.Read(dir, &data.Wanted{Shape: []int{64}})
	refused(t, err, "an input of shape 64 takes no pictures")
	file(t, dir, "a/0.jpg", []byte("none"))
	_, err = data.Read(dir, &data.Wanted{Shape: []int{3, 1, 2}})
	refused(t, err, filepath.Join("a", "0.jpg")+": L")
	_, err = data.Read(t.TempDir(), &data.Wanted{Shape: []int{3, 1, 2}})
	refused(t, err, "there are no pictures")
}
