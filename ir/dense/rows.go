// SPDX-License-Identifier: Apache-2.0

package dense

import "lathe/internal/workers"

// fewRows is the number of rows from which packing the right operand pays.
const fewRows = 4

// runRows computes a product of few rows without packing.
func (p *Product) runRows() {
	left := make([]float64, p.M*p.K)
	for m := range p.M {
		p.Left(m, left[m*p.K:(m+1)*p.K])
	}
	workers.Ranges(p.N, 1+grain/(p.M*p.K), func(from, to int) {
		for n := from; n < to; n++ {
			for m := range p.M {
				even, odd := p.Right.sums(n, left[m*p.K:(m+1)*p.K])
				if p.Bias != nil {
					even += float64(p.Bias[n])
				}
				p.Out[m*p.Row+n*p.Col] = float32(even + odd)
			}
		}
	})
}
