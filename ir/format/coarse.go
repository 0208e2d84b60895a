// SPDX-License-Identifier: Apache-2.0

package format

import "fmt"

// Coarse is coarse(W,k): blocks of k two's complement q of W bits, values q*2^-(W-2)*2^(X-20), X of 5 bits.
type Coarse struct{ IntBlock }

func buildCoarse(c *call) (Format, error) {
	v, err := c.ints(intRange{"W", 2, 32}, intRange{"k", 1, maxBlock})
	if err != nil {
		return nil, err
	}
	return Coarse{IntBlock{W: v[0], K: v[1], ScaleBits: 5, Bias: 20}}, c.noScale()
}

// String is the canonical text.
func (f Coarse) String() string { return fmt.Sprintf("coarse(%d,%d)", f.W, f.K) }

// CodeSet is f.
func (f Coarse) CodeSet() Format { return f }
