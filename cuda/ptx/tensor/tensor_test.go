// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// drawn is a random map that the driver takes.
func drawn(r *rand.Rand) *Map {
	m := &Map{Type: Type(r.IntN(int(BF16) + 1)), Address: 1<<40 + uint64(r.IntN(9)*16), Swizzle: Swizzle(r.IntN(4))}
	size, n := m.Type.Bytes(), 1+r.IntN(MaxRank)
	per := 16 / size
	width := int64(1 + r.IntN(8))
	if s := m.Swizzle.Bytes(); s > 0 {
		width = int64(1 + r.IntN(int(s/16)))
	}
	stride := int64(16)
	for i := range n {
		m.Dims, m.Steps = append(m.Dims, int64(1+r.IntN(20))), append(m.Steps, 1)
		if m.Box = append(m.Box, int64(1+r.IntN(4))); i == 0 {
			m.Box[0] = width * per
		} else {
			m.Steps[i] = int64(1 + r.IntN(3))
		}
		if i < n-1 {
			stride *= int64(1 + r.IntN(7))
			m.Strides = append(m.Strides, stride)
		}
	}
	m.NaN = m.Type >= F16 && m.Type <= BF16 && r.IntN(2) == 0
	return m
}

// TestEncode: what is encoded comes back, and other bytes do not pass.
func TestEncode(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	for range 500 {
		m := drawn(r)
		b, err := m.Encode()
		if err != nil {
			t.Fatalf("%+v: %v", m, err)
		}
		got, err := Decode(b[:])
		if err != nil || !reflect.DeepEqual(got, m) {
			t.Fatalf("%+v became %+v, %v", m, got, err)
		}
		b[r.IntN(Size)] ^= 1 << r.IntN(8)
		if _, err := Decode(b[:]); err == nil {
			t.Fatal("a changed bit passes")
		}
	}
}

// TestPieces compares with the definition, element by element: place, address, and what lies outside.
func TestPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	for range 300 {
		m := drawn(r)
		size, n := m.Type.Bytes(), len(m.Dims)
		start := make([]int64, n)
		for i := range start {
			start[i] = int64(r.IntN(30) - 8)
		}
		got := map[int64]uint64{} // address by place, 0 outside
		m.Pieces(start, func(p Piece) {
			for b := int64(0); b < p.Bytes; b += size {
				if _, twice := got[p.At+b]; twice {
					t.Fatalf("%+v: place %d twice", m, p.At+b)
				}
				if got[p.At+b] = 0; !p.Outside {
					got[p.At+b] = p.Address + uint64(b)
				}
			}
		})
		if int64(len(got))*size != m.Bytes() {
			t.Fatalf("%+v: %d elements, %d bytes", m, len(got), m.Bytes())
		}
		for place, address := range got {
			left, want, inside := place/size, m.Address, true
			for i := range n {
				count := (m.Box[i] + m.Steps[i] - 1) / m.Steps[i]
				x := start[i] + left%count*m.Steps[i]
				left /= count
				if inside = inside && x >= 0 && x < m.Dims[i]; i == 0 {
					want += uint64(x * size)
				} else {
					want += uint64(x * m.Strides[i-1])
				}
			}
			if !inside {
				want = 0
			}
			if address != want {
				t.Fatalf("%+v at %v: place %d comes from %#x, not %#x", m, start, place, address, want)
			}
		}
	}
}

// TestRefused: what the driver refuses is named.
func TestRefused(t *testing.T) {
	for says, spoil := range map[string]func(m *Map){
		"not a multiple of 16 below":  func(m *Map) { m.Strides[0] = 100 },
		"address":                     func(m *Map) { m.Address += 8 },
		"not 1 to 256":                func(m *Map) { m.Box[1] = 257 },
		"bytes along dimension 0, no": func(m *Map) { m.Box[0] = 7 },
		"the swizzle 128":             func(m *Map) { m.Box[0] = 72 },
		"not 1 to 2^32":               func(m *Map) { m.Dims[1] = 0 },
		"dimensions":                  func(m *Map) { m.Strides = nil },
		"interleave":                  func(m *Map) { m.Interleave = 1 },
		"element type":                func(m *Map) { m.Type = 11 },
		"step":                        func(m *Map) { m.Steps = []int64{1, 9} },
		"NaN":                         func(m *Map) { m.Type, m.NaN = U16, true },
	} {
		m := &Map{Type: BF16, Address: 256, Dims: []int64{100, 9}, Strides: []int64{208}, Box: []int64{64, 8},
			Swizzle: Swizzle128}
		if err := m.Check(); err != nil {
			t.Fatal(err)
		}
		if spoil(m); m.Check() == nil || !strings.Contains(m.Check().Error(), says) {
			t.Errorf("%v, not %q", m.Check(), says)
		}
	}
}
