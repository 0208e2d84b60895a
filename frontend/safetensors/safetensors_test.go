// SPDX-License-Identifier: Apache-2.0

package safetensors

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
)

// file is a file of the given header and data.
func file(header, data string) []byte {
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), data...)
}

const sound = ` {"b": {"dtype": "BF16", "shape": [2], "data_offsets": [4, 8]}, "__metadata__": {"format": "pt"},` +
	`"a": {"dtype": "F32", "shape": [], "data_offsets": [0, 4], "note": {}},` +
	`"e": {"dtype": "F32", "shape": [0, 3], "data_offsets": [4, 4]},` +
	`"n": {"dtype": "F4", "shape": [2], "data_offsets": [8, 9]}} `

const soundData = "\x00\x00\x80\x3f\x80\x3f\x00\x40\x12"

func TestParse(t *testing.T) {
	f, err := Parse("m.safetensors", file(sound, soundData))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Tensors) != 4 || len(f.Metadata) != 1 || f.Metadata[0] != (Text{"format", "pt"}) {
		t.Fatalf("%+v", f)
	}
	for i, want := range []struct {
		name   string
		values []float32
		shape  []int
	}{{"b", []float32{1, 2}, []int{2}}, {"a", []float32{1}, nil}, {"e", []float32{}, []int{0, 3}}} {
		got := &f.Tensors[i]
		b, err := got.Blob()
		if err != nil || got.Name != want.name || !slices.Equal(b.Floats(), want.values) ||
			!slices.Equal(got.Shape, want.shape) || !got.IsFloat() {
			t.Errorf("%+v: %v", got, err)
		}
	}
	if _, err := f.Tensors[3].Blob(); diag.CodeOf(err) != diag.BadElementType || f.Tensors[3].IsFloat() {
		t.Errorf("four-bit floats: %v", err)
	}
}

// TestTruncated cuts a file everywhere, and appends a byte.
func TestTruncated(t *testing.T) {
	whole := file(sound, soundData)
	for n := range whole {
		if _, err := Parse("m", whole[:n]); err == nil {
			t.Fatalf("%d of %d bytes pass", n, len(whole))
		}
	}
	if _, err := Parse("m", append(whole, 0)); diag.CodeOf(err) != diag.TensorData {
		t.Error(err)
	}
}

// TestDTypes demands each element type of the format at its size.
func TestDTypes(t *testing.T) {
	for _, d := range dtypes {
		header := `{"x": ` + entry(d.name, "8", fmt.Sprintf("0, %d", d.bits)) + `}`
		f, err := Parse("m", file(header, strings.Repeat("\x00", int(d.bits))))
		if err != nil {
			t.Errorf("%s: %v", d.name, err)
			continue
		}
		b, err := f.Tensors[0].Blob()
		if ok := d.stored != ""; ok != (err == nil) || ok && b.Len() != 8 {
			t.Errorf("%s: %v", d.name, err)
		}
	}
}

func entry(dtype, shape, offsets string) string {
	return `{"dtype": "` + dtype + `", "shape": [` + shape + `], "data_offsets": [` + offsets + `]}`
}

func TestRefused(t *testing.T) {
	two := func(a, b string) string {
		return `{"a": ` + entry("U8", "4", a) + `, "b": ` + entry("U8", "4", b) + `}`
	}
	one := func(dtype, shape, offsets string) string { return `{"a": ` + entry(dtype, shape, offsets) + `}` }
	for _, c := range []struct {
		header, data string
		code         diag.Code
		say          string
	}{
		{two("0, 4", "2, 6"), "123456", diag.TensorData, `b: L0211: its bytes from 2 on overlap those of "a"`},
		{two("4, 8", "0, 4") + " x", "12345678", diag.ModelBroken, "after the end"},
		{two("0, 4", "0, 4"), "1234", diag.TensorData, "overlap"},
		{two("0, 4", "5, 9"), "123456789", diag.TensorData, "those from 4 on belong to no tensor"},
		{two("1, 5", "5, 9"), "123456789", diag.TensorData, "those from 0 on"},
		{two("0, 4", "4, 8"), "1234567", diag.ModelBroken, "end at 8, the file's data at 7"},
		{two("0, 4", "4, 8"), "123456789", diag.TensorData, "1 bytes after its last tensor"},
		{one("F32", "2", "0, 4"), "1234", diag.TensorData, "shape 2 of type F32 takes 8"},
		{one("F4", "3", "0, 2"), "12", diag.TensorData, "do not end with a byte"},
		{one("F33", "2", "0, 4"), "1234", diag.BadElementType, `"F33" is unknown`},
		{one("U8", "-1", "0, 4"), "1234", diag.BadDimension, "a.shape: L0213: -1 is negative"},
		{one("U8", "1.0", "0, 1"), "1", diag.BadAttribute, "a.shape[0]: L0209: 1.0 is not a whole number"},
		{one("U8", "4294967296, 4294967296, 2", "0, 0"), "", diag.ModelLimit, "too many"},
		{one("U8", "4611686018427387904, 4", "0, 0"), "", diag.ModelLimit, "too many"},
		{one("F64", "4611686018427387904", "0, 0"), "", diag.ModelLimit, "too many"},
		{one("U8", "1", "1, 0"), "1", diag.TensorData, "not begin and end"},
		{one("U8", "1", "-1, 0"), "1", diag.TensorData, "not begin and end"},
		{one("U8", "1", "0, 1, 1"), "1", diag.TensorData, "not begin and end"},
		{one("U8", "1", "0, 18446744073709551615"), "1", diag.ModelLimit, "64 bits"},
		{`{"a": {"dtype": "U8", "shape": [1]}}`, "1", diag.BadAttribute, `lacks "data_offsets"`},
		{`{"a": {"dtyp": "U8", "shape": [1]}}`, "1", diag.BadAttribute, `lacks "dtype"`},
		{`{"a": {"dtype": "U8"}}`, "1", diag.BadAttribute, `lacks "shape"`},
		{`{"a": 1}`, "1", diag.BadAttribute, "is a number, not an object"},
		{`[]`, "", diag.BadAttribute, "is a list, not an object"},
		{`{"a": ` + entry("U8", "0", "0, 0") + `, "a": ` + entry("U8", "0", "0, 0") + `}`, "", diag.DuplicateName, "twice"},
		{`{"__metadata__": {"a": 1}}`, "", diag.BadAttribute, "not a string"},
		{``, "", diag.ModelBroken, "a value is needed"},
		{"{}\x00", "", diag.ModelBroken, "after the end"},
		{strings.Repeat("[", 101), "", diag.ModelLimit, "deep"},
	} {
		_, err := Parse("m.safetensors", file(c.header, c.data))
		if diag.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s\n got %v\nwant %s, %s", c.header, err, c.code, c.say)
		}
	}
	for data, code := range map[string]diag.Code{
		"version https://git-lfs.github.com/spec/v1": diag.ModelBroken,
		"\x80\x02}q":                         diag.ModelBroken,
		"\x01\xe1\xf5\x05\x00\x00\x00\x00{}": diag.ModelLimit,
		"\xff\xff\xff\xff\xff\xff\xff\xff{}": diag.ModelLimit,
		"\x03\x00\x00\x00\x00\x00\x00\x00{}": diag.ModelBroken,
		"\x00":                               diag.ModelBroken,
		"":                                   diag.ModelBroken,
	} {
		if _, err := Parse("m", []byte(data)); diag.CodeOf(err) != code {
			t.Errorf("%q: %v, want %s", data, err, code)
		}
	}
}

// FuzzSafetensors demands that ranges of what is accepted tile the data, and that sizes agree.
func FuzzSafetensors(f *testing.F) {
	f.Add(file(sound, soundData))
	f.Add(file(`{}`, ""))
	f.Add(file(`{"a":`+entry("U8", "4", "0,4")+`,"b":`+entry("F6_E2M3", "4", "4,7")+`}`, "1234567"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse("m", data)
		if err != nil {
			if diag.CodeOf(err) == "" {
				t.Fatalf("%v has no code", err)
			}
			return
		}
		total := 8 + int(binary.LittleEndian.Uint64(data))
		for _, x := range file.Tensors {
			d, _ := find(x.DType)
			if n := (ir.Type{Shape: x.Shape}).Elems(); uint64(n)*d.bits != 8*uint64(len(x.Data)) {
				t.Fatalf("%s: %d elements in %d bytes", x.Name, n, len(x.Data))
			}
			total += len(x.Data)
		}
		if total != len(data) {
			t.Fatalf("%d of %d bytes", total, len(data))
		}
	})
}

// folder writes files into a folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "m")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFolder(t *testing.T) {
	a := string(file(`{"a": `+entry("U8", "1", "0, 1")+`}`, "a"))
	b := string(file(`{"b": `+entry("U8", "1", "0, 1")+`}`, "b"))
	index := func(table string) string { return `{"metadata": {"total_size": 2}, "weight_map": {` + table + `}}` }
	sharded := map[string]string{indexName: index(`"a": "1.safetensors", "b": "2.safetensors"`), "1.safetensors": a,
		"2.safetensors": b}
	all, err := OpenFolder(folder(t, sharded))
	if err != nil || len(all) != 2 || string(all[1].Data) != "b" || all[1].File != "2.safetensors" {
		t.Fatalf("%v, %v", all, err)
	}
	all, err = OpenFolder(folder(t, map[string]string{singleName: a, "pytorch_model.bin": "x"}))
	if err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
	with := func(name, text string) map[string]string {
		files := map[string]string{name: text}
		for n, s := range sharded {
			if n != name {
				files[n] = s
			}
		}
		return files
	}
	for _, c := range []struct {
		files map[string]string
		code  diag.Code
		say   string
	}{
		{map[string]string{"pytorch_model.bin": "x"}, diag.NoWeights, "a Python pickle"},
		{map[string]string{"tf_model.h5": "x"}, diag.NoWeights, `there is "tf_model.h5"`},
		{nil, diag.NoWeights, "has no model.safetensors"},
		{with("2.safetensors", a), diag.DuplicateName, `tensor "a" stands in 1.safetensors, too`},
		{with(indexName, index(`"a": "1.safetensors", "b": "1.safetensors"`)), diag.UndefinedValue, "weight_map.b"},
		{with(indexName, index(`"a": "2.safetensors", "b": "1.safetensors"`)), diag.UndefinedValue, "not in 2.safetensors"},
		{with(indexName, index(`"a": "1.safetensors", "b": "3.safetensors"`)), diag.ExternalData, "not there"},
		{with(indexName, index(`"a": "../1.safetensors"`)), diag.ExternalData, "plain name"},
		{with(indexName, index(`"a": "/etc/passwd"`)), diag.ExternalData, "plain name"},
		{with(indexName, index(`"a": 1`)), diag.BadAttribute, "not a string"},
		{with(indexName, `{}`), diag.BadAttribute, `lacks "weight_map"`},
		{with("2.safetensors", string(file(`{"b": `+entry("U8", "1", "0, 1")+`, "c": `+entry("U8", "0", "0, 0")+`}`, "b"))),
			diag.UndefinedValue, `does not name 1 tensors of its files, such as "c"`},
		{with("2.safetensors", b[:9]), diag.ModelBroken, "2.safetensors"},
	} {
		if _, err := OpenFolder(folder(t, c.files)); diag.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.say) {
			t.Errorf("got %v\nwant %s, %s", err, c.code, c.say)
		}
	}
}
