// SPDX-License-Identifier: Apache-2.0

package source

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"lathe/internal/diag"
)

// packed writes an archive; names that begin with "~" are deflated.
func packed(t testing.TB, files ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for i := 0; i < len(files); i += 2 {
		h := &zip.FileHeader{Name: files[i], Method: zip.Store}
		if strings.HasPrefix(files[i], "~") {
			h.Method = zip.Deflate
		}
		f, err := w.CreateHeader(h)
		if err == nil {
			_, err = f.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestArchive(t *testing.T) {
	long := strings.Repeat("text ", 1000)
	data := packed(t, "a/b", "hello", "folder/", "", "~c", long, "empty", "")
	a, err := OpenArchive(data)
	if err != nil || len(a.Members()) != 3 {
		t.Fatalf("%+v, %v", a, err)
	}
	m := a.Find("a/b")
	view, err := a.View(m)
	if err != nil || string(view) != "hello" || &view[0] != &data[m.Offset] {
		t.Errorf("%q, %v", view, err)
	}
	if got, err := a.Read(a.Find("~c")); err != nil || string(got) != long {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if got, err := a.Read(a.Find("empty")); err != nil || len(got) != 0 || a.Find("nothing") != nil {
		t.Errorf("%q, %v", got, err)
	}
	data[m.Offset]++
	if _, err := a.Read(m); diag.CodeOf(err) != diag.ModelBroken || !strings.Contains(err.Error(), "sum") {
		t.Error(err)
	}
	if _, err := a.View(m); err != nil {
		t.Error(err)
	}
}

// wideArchive is an archive of one member whose sizes and offset stand in zip64 fields.
func wideArchive(name, data string) []byte {
	le := binary.LittleEndian
	words := func(out []byte, values ...uint64) []byte {
		for _, v := range values {
			out = le.AppendUint64(out, v)
		}
		return out
	}
	n := uint64(len(data))
	head := make([]byte, localSize)
	le.PutUint32(head, localMark)
	le.PutUint16(head[26:], uint16(len(name)))
	out := append(append(head, name...), data...)
	start := uint64(len(out))
	entry := make([]byte, centralSize)
	le.PutUint32(entry, centralMark)
	for _, at := range []int{20, 24, 42} {
		le.PutUint32(entry[at:], 1<<32-1)
	}
	le.PutUint16(entry[28:], uint16(len(name)))
	le.PutUint16(entry[30:], 28)
	out = append(append(out, entry...), name...)
	out = words(append(out, 1, 0, 24, 0), n, n, 0)
	size, end := uint64(len(out))-start, uint64(len(out))
	record := make([]byte, 24)
	le.PutUint32(record, end64Mark)
	out = words(append(out, record...), 1, 1, size, start)
	out = le.AppendUint32(out, locatorMark)
	out = words(append(out, 0, 0, 0, 0), end)
	out = append(out, 1, 0, 0, 0)
	last := make([]byte, endSize)
	le.PutUint32(last, endMark)
	for _, at := range []int{8, 10} {
		le.PutUint16(last[at:], 1<<16-1)
	}
	for _, at := range []int{12, 16} {
		le.PutUint32(last[at:], 1<<32-1)
	}
	return append(out, last...)
}

func TestZip64(t *testing.T) {
	a, err := OpenArchive(wideArchive("m", "wide"))
	if err != nil {
		t.Fatal(err)
	}
	if v, err := a.View(a.Find("m")); err != nil || string(v) != "wide" {
		t.Errorf("%q, %v", v, err)
	}
	data := wideArchive("m", "wide")
	data[len(data)-endSize-locatorSize+8]++ // the place of the zip64 directory
	if _, err := OpenArchive(data); diag.CodeOf(err) != diag.ModelBroken || !strings.Contains(err.Error(), "zip64") {
		t.Error(err)
	}
}

// TestHostileArchives demands a refusal, by its code, of what no exporter writes.
func TestHostileArchives(t *testing.T) {
	sound := packed(t, "a", "hello", "b", "world")
	change := func(mark uint32, nth, at int, to ...byte) []byte {
		data := bytes.Clone(sound)
		i := -1
		for range nth + 1 {
			i += 1 + bytes.Index(data[i+1:], binary.LittleEndian.AppendUint32(nil, mark))
		}
		copy(data[i+at:], to)
		return data
	}
	for name, c := range map[string]struct {
		data []byte
		code diag.Code
		want string
	}{
		"twice":      {packed(t, "a", "x", "a", "y"), diag.UnsafeArchive, "twice"},
		"up":         {packed(t, "a/../../b", "x"), diag.UnsafeArchive, "leaves"},
		"here":       {packed(t, "./b", "x"), diag.UnsafeArchive, "leaves"},
		"absolute":   {packed(t, "/etc/passwd", "x"), diag.UnsafeArchive, "absolute"},
		"drive":      {packed(t, "c:/x", "x"), diag.UnsafeArchive, "absolute"},
		"backslash":  {packed(t, "a\\b", "x"), diag.UnsafeArchive, "name"},
		"not utf-8":  {packed(t, "a\xff", "x"), diag.UnsafeArchive, "name"},
		"encrypted":  {change(centralMark, 0, 8, 1), diag.UnsafeArchive, "encrypted"},
		"bzip2":      {change(centralMark, 0, 10, 12), diag.UnsafeArchive, "method 12"},
		"overlap":    {change(centralMark, 1, 42, 0, 0, 0, 0), diag.ModelBroken, "another name"},
		"far":        {change(centralMark, 1, 42, 0, 0, 1, 0), diag.ModelBroken, "does not fit"},
		"long":       {change(centralMark, 1, 20, 30, 0, 0, 0, 30), diag.ModelBroken, "reaches"},
		"sizes":      {change(centralMark, 1, 24, 9), diag.ModelBroken, "does not fit"},
		"count":      {change(endMark, 0, 10, 0xff, 0xff), diag.ModelLimit, "65535 members"},
		"parts":      {change(endMark, 0, 4, 1), diag.UnsafeArchive, "several parts"},
		"start":      {change(endMark, 0, 16, 1), diag.ModelBroken, "does not end"},
		"local mark": {change(localMark, 0, 0, 'X'), diag.ModelBroken, "header"},
		"bomb":       {packed(t, "~a", strings.Repeat("\x00", 1<<20)), diag.ModelLimit, "ratio"},
	} {
		a, err := OpenArchive(c.data)
		for i := 0; err == nil && i < len(a.Members()); i++ {
			_, err = a.Read(&a.Members()[i])
		}
		if diag.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %s and %q in: %v", name, c.code, c.want, err)
		}
	}
	same := packed(t, "a", "hello", "a", "world")
	at := bytes.LastIndex(same, []byte("PK\x01\x02"))
	copy(same[at+42:], []byte{0, 0, 0, 0})
	same[at+centralSize] = 'a'
	if _, err := OpenArchive(same); diag.CodeOf(err) != diag.UnsafeArchive {
		t.Error(err)
	}
}

// TestTruncatedArchives cuts an archive at every byte.
func TestTruncatedArchives(t *testing.T) {
	for _, data := range [][]byte{packed(t, "a", "hello", "~b", "world"), wideArchive("m", "wide")} {
		for n := range data {
			if _, err := OpenArchive(data[:n]); diag.CodeOf(err) == "" {
				t.Errorf("%d of %d bytes: %v", n, len(data), err)
			}
		}
	}
}

func FuzzArchive(f *testing.F) {
	f.Add(packed(f, "a", "hello", "~b", "world"))
	f.Add(wideArchive("m", "wide"))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := OpenArchive(data)
		if err != nil {
			if diag.CodeOf(err) == "" {
				t.Fatalf("an error without a code: %v", err)
			}
			return
		}
		total := 0
		for i := range a.Members() {
			v, err := a.Read(&a.Members()[i])
			if err != nil && diag.CodeOf(err) == "" {
				t.Fatalf("an error without a code: %v", err)
			}
			total += len(v)
		}
		if total > maxRatio*len(data) {
			t.Errorf("%d bytes of %d", total, len(data))
		}
	})
}
