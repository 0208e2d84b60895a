// SPDX-License-Identifier: Apache-2.0

package tensor

import "math"

// Piece is a run of bytes of a box: At is its offset from the start of the box in shared memory, before the swizzle,
// and Address where it lies in global memory. Outside pieces lie beyond the tensor: they are filled, and not stored.
type Piece struct {
	At, Bytes int64
	Address   uint64
	Outside   bool
}

// Pieces calls f for every run of the box whose first element is that at start, in ascending order of At. Runs are
// whole rows of the box along dimension 0, cut at the borders of the tensor.
func (m *Map) Pieces(start []int64, f func(Piece)) {
	n := len(m.Dims)
	var at [MaxRank]int64 // counts copied elements along dimensions 1 and up
	row := m.count(0) * m.Type.Bytes()
	for to := int64(0); ; to += row {
		address, outside := m.Address, false
		for i := 1; i < n; i++ {
			x := start[i] + at[i]*m.step(i)
			outside = outside || x < 0 || x >= m.Dims[i]
			address += uint64(x * m.Strides[i-1])
		}
		m.row(start[0], to, address, outside, f)
		i := 1
		for ; i < n; i++ {
			if at[i]++; at[i] < m.count(i) {
				break
			}
			at[i] = 0
		}
		if i == n {
			return
		}
	}
}

// row cuts a row at the borders of dimension 0.
func (m *Map) row(first, to int64, address uint64, outside bool, f func(Piece)) {
	size, count := m.Type.Bytes(), m.count(0)
	if outside {
		f(Piece{At: to, Bytes: count * size, Outside: true})
		return
	}
	step := m.step(0)
	if step > 1 {
		for i := range count {
			x := first + i*step
			f(Piece{At: to + i*size, Bytes: size, Address: address + uint64(x*size), Outside: x < 0 || x >= m.Dims[0]})
		}
		return
	}
	low := min(max(-first, 0), count)
	high := max(min(m.Dims[0]-first, count), low)
	if low > 0 {
		f(Piece{At: to, Bytes: low * size, Outside: true})
	}
	if high > low {
		f(Piece{At: to + low*size, Bytes: (high - low) * size, Address: address + uint64((first+low)*size)})
	}
	if count > high {
		f(Piece{At: to + high*size, Bytes: (count - high) * size, Outside: true})
	}
}

// Fill writes what stands for elements outside of the tensor.
func (m *Map) Fill(to []byte) {
	clear(to)
	if !m.NaN {
		return
	}
	size := int(m.Type.Bytes())
	bits := map[Type]uint64{F16: 0x7FFF, BF16: 0x7FFF, F32: 0x7FFFFFFF, F64: math.MaxInt64}[m.Type]
	for i := range to {
		to[i] = byte(bits >> (8 * (i % size)))
	}
}
