// SPDX-License-Identifier: Apache-2.0

package dense

import "lathe/internal/workers"

// fewRows is the number of rows from which packing the right operand pays.
const fewRows = 4

// runRows computes a product of few rows without packing.
func (p *Product) runRows(by kernel) {
	left := make([]float64, p.M*p.K)
	for m := range p.M {
		p.Left(m, left[m*p.K:(m+1)*p.K])
	}
	workers.Ranges(p.N, 1+grain/4/(p.M*p.K), func(from, to int) {
		sums := make([]float64, 8)
		for m := range p.M {
			row := left[m*p.K : (m+1)*p.K]
			if p.Right.Step != 1 {
				p.columns(m, row, from, to)
				continue
			}
			for n := from; n < to; n += 4 {
				clear(sums)
				rows := min(4, to-n)
				p.Right.dots(by, n, rows, row, sums)
				for r := range rows {
					p.set(m, n+r, sums[2*r], sums[2*r+1])
				}
			}
		}
	})
}

// columns computes elements of row m for a right operand whose columns do not lie together: row after row of it.
func (p *Product) columns(m int, row []float64, from, to int) {
	sums := make([]float64, 2*(to-from))
	for k, v := range row {
		s := sums[k&1*(to-from):][:to-from]
		if o := &p.Right; o.Row == 1 && o.Floats != nil {
			for i, w := range o.Floats[from+k*o.Step:][:len(s)] {
				s[i] += float64(w) * v
			}
			continue
		}
		for i := range s {
			s[i] += p.Right.at(from+i, k) * v
		}
	}
	for n := from; n < to; n++ {
		p.set(m, n, sums[n-from], sums[n-from+to-from])
	}
}
