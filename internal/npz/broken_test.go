// SPDX-License-Identifier: Apache-2.0

package npz

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"strings"
	"testing"

	"lathe/internal/diag"
)

// npy makes a .npy file from a header text and data.
func npy(version byte, head, data string) []byte {
	out := []byte(magic + string([]byte{version, 0}))
	if version == 1 {
		out = binary.LittleEndian.AppendUint16(out, uint16(len(head)))
	} else {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(head)))
	}
	return append(out, head+data...)
}

func head(descr, fortran, shape string) string {
	return "{'descr': " + descr + ", 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n"
}

func readBytes(b []byte) (*File, error) {
	return readFrom(bytes.NewReader(b), int64(len(b)), "x.npy")
}

func TestHeaderForms(t *testing.T) {
	for _, h := range []string{head("'|i1'", "False", "(2,)"), head(`"|i1"`, "False", "(2L,)"),
		head("'<i1'", "True", "( 2 , )"),
		"{'shape':(1,2),'descr':'|i1','fortran_order':False}", head("'|i1'", "True", "(1, 2)")} {
		for version := byte(1); version <= 3; version++ {
			f, err := readBytes(npy(version, h, "\x01\xff"))
			if err != nil || string(f.Arrays[0].data) != "\x01\xff" || f.Arrays[0].Name != "x" {
				t.Errorf("version %d, %q: %v", version, h, err)
			}
		}
	}
}

func TestBrokenHeaders(t *testing.T) {
	good := npy(1, head("'<f4'", "False", "(2,)"), "12345678")
	lie := npy(2, "", "")
	binary.LittleEndian.PutUint32(lie[8:], 1<<31)
	for _, c := range []struct {
		name string
		code diag.Code
		file []byte
	}{
		{"empty", diag.ArrayBroken, nil},
		{"text", diag.ArrayBroken, []byte("hello")},
		{"magic alone", diag.ArrayBroken, good[:6]},
		{"length cut", diag.ArrayBroken, good[:9]},
		{"header cut", diag.ArrayBroken, good[:30]},
		{"wrong magic", diag.ArrayBroken, []byte("\x93NUMPI\x01\x00\x00\x00")},
		{"version", diag.ArrayHeader, npy(4, "", "")},
		{"header length", diag.ArraySizes, lie},
		{"data cut", diag.ArraySizes, good[:len(good)-1]},
		{"data behind", diag.ArraySizes, append(bytes.Clone(good), 0)},
		{"negative", diag.ArrayHeader, npy(1, head("'<f4'", "False", "(-1,)"), "")},
		{"no tuple", diag.ArrayHeader, npy(1, head("'<f4'", "False", "2"), "12345678")},
		{"huge", diag.ArraySizes, npy(1, head("'<f4'", "False", "(4294967296, 4294967296, 4294967296)"), "")},
		{"huge by a zero", diag.ArraySizes, npy(1, head("'<f4'", "False", "(0, 4294967296, 4294967296)"), "")},
		{"too long a number", diag.ArrayHeader, npy(1, head("'<f4'", "False", "(99999999999999999999,)"), "")},
		{"rank", diag.ArrayHeader, npy(1, head("'<f4'", "False", "("+strings.Repeat("1,", 33)+")"), "1234")},
		{"tuple open", diag.ArrayHeader, npy(1, head("'<f4'", "False", "(2 3)"), "")},
		{"dictionary open", diag.ArrayHeader, npy(1, "{'descr': '<f4'", "")},
		{"no dictionary", diag.ArrayHeader, npy(1, "descr", "")},
		{"no colon", diag.ArrayHeader, npy(1, "{'descr' '<f4'}", "")},
		{"string open", diag.ArrayHeader, npy(1, "{'descr: <f4}", "")},
		{"escape", diag.ArrayHeader, npy(1, `{'de\x73cr': '<f4'}`, "")},
		{"key twice", diag.ArrayHeader, npy(1, "{'descr': '<f4', 'descr': '<f4', 'shape': ()}", "1234")},
		{"key missing", diag.ArrayHeader, npy(1, "{'descr': '<f4', 'shape': ()}", "1234")},
		{"key unknown", diag.ArrayHeader, npy(1, "{'order': 'C'}", "")},
		{"order", diag.ArrayHeader, npy(1, head("'<f4'", "Maybe", "()"), "1234")},
		{"comma", diag.ArrayHeader, npy(1, "{'descr': '<f4' 'shape': ()}", "")},
		{"text behind", diag.ArrayHeader, npy(1, head("'<f4'", "False", "()")+"x", "1234")},
		{"no string", diag.ArrayHeader, npy(1, head("f4", "False", "()"), "1234")},
		{"type", diag.ArrayElements, npy(1, head("'<f16'", "False", "()"), "0123456789abcdef")},
		{"type cut", diag.ArrayElements, npy(1, head("'<'", "False", "()"), "1234")},
	} {
		if f, err := readBytes(c.file); diag.CodeOf(err) != c.code {
			t.Errorf("%s: %v %v, want %s", c.name, f, err, c.code)
		}
	}
}

// member is one file of a zip archive with free choice of the sizes that its directory claims.
type member struct {
	name, data string
	claim      uint64 // uncompressed size; 0: the true one
	crc        uint32 // 0: the true one
}

func zipped(members ...member) []byte {
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for _, m := range members {
		h := &zip.FileHeader{Name: m.name, Method: zip.Store, CRC32: m.crc,
			UncompressedSize64: m.claim, CompressedSize64: uint64(len(m.data))}
		if h.UncompressedSize64 == 0 {
			h.UncompressedSize64 = uint64(len(m.data))
		}
		if h.CRC32 == 0 {
			h.CRC32 = crc32.ChecksumIEEE([]byte(m.data))
		}
		w, _ := z.CreateRaw(h)
		w.Write([]byte(m.data))
	}
	z.Close()
	return buf.Bytes()
}

func TestBrokenZips(t *testing.T) {
	array := string(npy(1, head("'<f4'", "False", "(2,)"), "12345678"))
	short, size := array[:len(array)-4], uint64(len(array))
	whole := zipped(member{name: "a.npy", data: array})
	if _, err := readBytes(whole); err != nil {
		t.Fatal(err)
	}
	if f, err := readBytes(zipped()); err != nil || len(f.Arrays) != 0 {
		t.Fatal(err)
	}
	bomb := string(npy(1, head("'<f4'", "False", "(1000000,)"), ""))
	for _, c := range []struct {
		name string
		code diag.Code
		file []byte
	}{
		{"truncated", diag.ArrayBroken, whole[:len(whole)-10]},
		{"checksum", diag.ArrayBroken, zipped(member{name: "a.npy", data: array, crc: 1})},
		{"not an array", diag.ArrayBroken, zipped(member{name: "a.txt", data: "hello"})},
		{"twice", diag.ArrayBroken, zipped(member{name: "a.npy", data: array}, member{name: "a.npy", data: array})},
		{"bomb", diag.ArraySizes, zipped(member{name: "a.npy", data: bomb, claim: 4000000})},
		{"claim beyond the limit", diag.ArraySizes, zipped(member{name: "a.npy", data: array, claim: 1 << 40})},
		{"claim of more than there is", diag.ArraySizes, zipped(member{name: "a.npy", data: array, claim: size + 4})},
		{"less data than shape", diag.ArraySizes, zipped(member{name: "a.npy", data: short})},
		{"less data than claim", diag.ArrayBroken, zipped(member{name: "a.npy", data: short, claim: size})},
	} {
		if f, err := readBytes(c.file); diag.CodeOf(err) != c.code {
			t.Errorf("%s: %v %v, want %s", c.name, f, err, c.code)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	for _, path := range []string{"testdata/none.npz", "testdata"} {
		if _, err := Read(path); diag.CodeOf(err) != diag.ArrayOpen || strings.Count(err.Error(), path) != 1 {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"plain.npy", "kinds.npz", "string.npz", "record.npy"} {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add(zipped(member{name: "a.npy", data: string(npy(1, head("'>i2'", "True", "(2, 1)"), "1234"))}))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := readBytes(b)
		if err != nil {
			if !strings.HasPrefix(string(diag.CodeOf(err)), "L09") {
				t.Fatal(err)
			}
			return
		}
		for i := range file.Arrays {
			a := &file.Arrays[i]
			if n := a.Len(); len(a.Float32s()) != n || len(a.data) != n*dtypeOf(a.DType).size {
				t.Fatalf("%v has %d elements", a, n)
			}
			if _, err := a.Int64s(); err != nil && diag.CodeOf(err) != diag.ArrayNotInteger {
				t.Fatal(err)
			}
		}
	})
}
