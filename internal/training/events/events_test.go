// SPDX-License-Identifier: Apache-2.0

package events

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// event is what a reader finds in a record.
type event struct {
	wall    float64
	step    int
	version string
	scalars []Scalar
}

// checksum is the masked CRC-32C of the TFRecord format, bit by bit.
func checksum(data []byte) uint32 {
	crc := ^uint32(0)
	for _, b := range data {
		crc ^= uint32(b)
		for range 8 {
			if crc&1 == 1 {
				crc = crc>>1 ^ 0x82f63b78
			} else {
				crc >>= 1
			}
		}
	}
	crc = ^crc
	return (crc>>15 | crc<<17) + 0xa282ead8
}

// fields calls f for each field of a message: n is a number or the bits of one, b the bytes.
func fields(t *testing.T, m []byte, f func(field int, n uint64, b []byte)) {
	t.Helper()
	for len(m) > 0 {
		key, size := binary.Uvarint(m)
		m = m[size:]
		var n uint64
		var b []byte
		switch key & 7 {
		case 0:
			n, size = binary.Uvarint(m)
		case 1:
			n, size = binary.LittleEndian.Uint64(m), 8
		case 2:
			length, k := binary.Uvarint(m)
			b, size = m[k:k+int(length)], k+int(length)
		case 5:
			n, size = uint64(binary.LittleEndian.Uint32(m)), 4
		default:
			t.Fatalf("wire type %d", key&7)
		}
		m = m[size:]
		f(int(key>>3), n, b)
	}
}

func read(t *testing.T, file []byte) []event {
	t.Helper()
	var out []event
	for len(file) > 0 {
		n := int(binary.LittleEndian.Uint64(file))
		if got := binary.LittleEndian.Uint32(file[8:]); got != checksum(file[:8]) {
			t.Fatalf("record %d: checksum %x of the length", len(out), got)
		}
		data := file[12 : 12+n]
		if got := binary.LittleEndian.Uint32(file[12+n:]); got != checksum(data) {
			t.Fatalf("record %d: checksum %x of the data", len(out), got)
		}
		var e event
		fields(t, data, func(field int, n uint64, b []byte) {
			switch field {
			case 1:
				e.wall = math.Float64frombits(n)
			case 2:
				e.step = int(n)
			case 3:
				e.version = string(b)
			case 5:
				fields(t, b, func(_ int, _ uint64, value []byte) {
					var s Scalar
					fields(t, value, func(field int, n uint64, b []byte) {
						if field == 1 {
							s.Tag = string(b)
						} else {
							s.Value = float64(math.Float32frombits(uint32(n)))
						}
					})
					e.scalars = append(e.scalars, s)
				})
			}
		})
		out, file = append(out, e), file[12+n+4:]
	}
	return out
}

// TestRead reads back what is written.
func TestRead(t *testing.T) {
	var b bytes.Buffer
	start := time.UnixMilli(1700000000250)
	w, err := New(&b, start)
	if err != nil {
		t.Fatal(err)
	}
	// Every file begins with a record of 24 bytes: these are the length and its checksum as TensorFlow writes them.
	if head := "\x18\x00\x00\x00\x00\x00\x00\x00\xa3\x7f\x4b\x22"; !strings.HasPrefix(b.String(), head) {
		t.Errorf("% x", b.Bytes()[:12])
	}
	scalars := []Scalar{{"loss", 0.5}, {"accuracy", 1}}
	if err := w.Add(start.Add(time.Second), 1<<20, scalars...); err != nil {
		t.Fatal(err)
	}
	if err := w.Add(start.Add(time.Minute), 3<<20, Scalar{"loss", math.Inf(1)}); err != nil {
		t.Fatal(err)
	}
	got := read(t, b.Bytes())
	if len(got) != 3 || got[0].version != "brain.Event:2" || got[0].wall != 1700000000.25 {
		t.Fatalf("%+v", got)
	}
	if e := got[1]; e.step != 1<<20 || e.wall != 1700000001.25 || !slices.Equal(e.scalars, scalars) {
		t.Errorf("%+v", e)
	}
	if e := got[2]; e.step != 3<<20 || e.scalars[0].Value != math.Inf(1) {
		t.Errorf("%+v", e)
	}
	if name := Name(start); name != "events.out.tfevents.1700000000.lathe" {
		t.Errorf("%s", name)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

// TestFull says that a disk is full.
func TestFull(t *testing.T) {
	if _, err := New(full{}, time.Unix(0, 0)); err == nil {
		t.Error("no error")
	}
	if err := (&Writer{full{}}).Add(time.Unix(0, 0), 1); err == nil {
		t.Error("no error")
	}
}
