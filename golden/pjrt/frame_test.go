// SPDX-License-Identifier: Apache-2.0

package pjrt

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"lathe/ir/hlo"
)

func frameOf(t testing.TB, k kind, seq uint32, parts ...[]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := writeFrame(&b, k, seq, parts...); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFrame(t *testing.T) {
	arrays := []hlo.Array{
		hlo.FromInt64s(hlo.I8, []int{2, 3}, []int64{1, -2, 3, -4, 5, -6}),
		hlo.FromFloat32s(nil, []float32{2.5}),
		hlo.FromInt64s(hlo.I1, []int{0, 4}, nil),
		hlo.FromInt64s(hlo.UI64, []int{1}, []int64{7}),
	}
	parts, err := arrayParts(arrays)
	if err != nil {
		t.Fatal(err)
	}
	f, err := readFrame(bytes.NewReader(frameOf(t, kindRun, 77, parts...)))
	if err != nil || f.kind != kindRun || f.seq != 77 {
		t.Fatalf("%+v, %v", f, err)
	}
	c := &cursor{rest: f.payload}
	got := c.arrays()
	if err := c.end(); err != nil || len(got) != len(arrays) {
		t.Fatalf("%d arrays, %v", len(got), err)
	}
	for i, a := range got {
		if !a.Type.Equal(arrays[i].Type) || !bytes.Equal(a.Data, arrays[i].Data) {
			t.Errorf("array %d: %v", i, a)
		}
	}
	if _, err := arrayParts([]hlo.Array{{}}); err == nil {
		t.Error("an array without a type is sent")
	}
}

func TestBadFrames(t *testing.T) {
	good := frameOf(t, kindRun, 1, []byte("payload"))
	change := func(at int, to byte) []byte {
		f := bytes.Clone(good)
		f[at] = to
		return f
	}
	for want, data := range map[string][]byte{
		"not a frame header":    change(0, 'x'),
		"protocol version 9":    change(4, 9),
		"kind 0":                change(5, 0),
		"kind 99":               change(5, 99),
		"malformed":             change(13, 1),
		"limit":                 change(22, 1),
		"after 7 of 8":          change(16, 8),
		"inside a frame header": good[:20],
		"after 3 of 7":          good[:headerSize+3],
		"after 7 of 16711687":   change(18, 255),
	} {
		_, err := readFrame(bytes.NewReader(data))
		if err == nil || err == io.EOF || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := readFrame(strings.NewReader("")); err != io.EOF {
		t.Errorf("empty stream: %v", err)
	}
}

func FuzzFrame(f *testing.F) {
	parts, err := arrayParts([]hlo.Array{hlo.FromInt64s(hlo.I32, []int{2}, []int64{1, 2}),
		hlo.FromFloat32s(nil, []float32{1})})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(frameOf(f, kindRun, 1, parts...))
	f.Add(frameOf(f, kindFail, 2, appendText(appendText(nil, "L0804"), "message")))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		fr, err := readFrame(bytes.NewReader(data))
		if err != nil {
			return
		}
		c := &cursor{rest: fr.payload}
		arrays := c.arrays()
		if c.end() != nil {
			for c := (&cursor{rest: fr.payload}); c.err == nil; c.text() { // ends at the first mistake
				if len(c.rest) == 0 {
					break
				}
			}
			return
		}
		again, err := arrayParts(arrays)
		if err != nil {
			t.Fatalf("decoded arrays do not encode: %v", err)
		}
		if got := bytes.Join(again, nil); !bytes.Equal(got, fr.payload) {
			t.Fatalf("%x decodes and encodes to %x", fr.payload, got)
		}
	})
}

func TestTail(t *testing.T) {
	var w tail
	for range 20000 {
		w.Write([]byte("a line\n\n"))
	}
	w.Write([]byte("tab\there\n" + strings.Repeat("x", 1000) + "\nend"))
	got := w.last(3)
	if len(got) != 3 || got[0] != "tab here" || len(got[1]) != 400 || got[2] != "end" || len(w.buf) > tailBytes {
		t.Errorf("%d bytes, %q", len(w.buf), got)
	}
	w.Write([]byte("\nCheck failed\nSIGABRT: abort\n\ngoroutine 1 gp=0x1 [running]:\nx()\nrax    0x0\n"))
	if got := w.last(2); got[0] != "Check failed" || got[1] != "SIGABRT: abort" {
		t.Errorf("%q", got)
	}
	w.Write(bytes.Repeat([]byte("y"), 3*tailBytes))
	if len(w.buf) != tailBytes || len((&tail{}).last(3)) != 0 {
		t.Error(len(w.buf))
	}
}
