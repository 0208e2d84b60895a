// SPDX-License-Identifier: Apache-2.0

package global

import (
	"strings"
	"testing"

	"lathe/internal/diag"
)

// TestSparse writes at the far ends of a buffer that no machine could hold.
func TestSparse(t *testing.T) {
	m := New()
	const size = 5 << 32
	base, err := m.Alloc(size, Options{Name: "big", Sparse: true})
	if err != nil || base < 1<<32 {
		t.Fatal(base, err)
	}
	for _, off := range []uint64{0, 1<<32 + 65534, size - 3} {
		if err := m.Transfer(base+off, []byte{1, 2, 3}, true); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 3)
		if err := m.Transfer(base+off, got, false); err != nil || string(got) != "\x01\x02\x03" {
			t.Errorf("offset %d: %v %v", off, got, err)
		}
	}
	got := make([]byte, 2)
	if err := m.Transfer(base+1<<33, got, false); err != nil || string(got) != "\xff\xff" {
		t.Errorf("poison: %v %v", got, err)
	}
	if err := m.Transfer(base+size-1, got, false); diag.CodeOf(err) != "L0963" ||
		!strings.Contains(err.Error(), "offset 21474836479 of big") {
		t.Errorf("beyond the end: %v", err)
	}
}

func TestPlaces(t *testing.T) {
	m := New()
	a, _ := m.Alloc(100, Options{})
	b, _ := m.Alloc(100, Options{})
	if b-a < 1<<32 {
		t.Errorf("buffers at %#x and %#x", a, b)
	}
	c, err := m.Alloc(4096, Options{Name: "low", Base: 1 << 24})
	if err != nil || c != 1<<24 || m.Find(1<<24+4095) == nil || m.Find(1<<24+4096) != nil {
		t.Errorf("a base of one's own: %#x %v", c, err)
	}
	for _, o := range []Options{{Base: 1<<24 + 256}, {Base: 1<<24 + 4096}, {Base: 5}, {Base: 256}, {Base: SharedBase}} {
		if _, err := m.Alloc(64, o); diag.CodeOf(err) != "L0963" {
			t.Errorf("a base of %#x: %v", o.Base, err)
		}
	}
	if _, err := m.Alloc(-1, Options{}); diag.CodeOf(err) != "L0963" {
		t.Error(err)
	}
	if err := m.Free(a); err != nil || m.Find(a) != nil || m.Find(b) == nil {
		t.Error("free", err)
	}
	if diag.CodeOf(m.Free(a)) != "L0963" {
		t.Error("free twice")
	}
}
