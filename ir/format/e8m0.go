// SPDX-License-Identifier: Apache-2.0

package format

// E8M0 is the scale of OCP Microscaling by itself: the code X of 8 bits is 2^(X-127), and 255 is NaN. It has neither a
// sign nor a zero.
type E8M0 struct{}

const (
	e8m0Bias = 127
	e8m0NaN  = 255
)

func buildE8M0(c *call) (Format, error) {
	if _, err := c.ints(); err != nil {
		return nil, err
	}
	return E8M0{}, c.noScale()
}

// String is "e8m0".
func (E8M0) String() string { return "e8m0" }

// Width is 8.
func (E8M0) Width() int { return 8 }

// CodeSet is f.
func (f E8M0) CodeSet() Format { return f }

// Lattice has none: in the least value, the greatest has 255 bits.
func (E8M0) Lattice() (exp int, bits int, ok bool) { return 0, 0, false }

// Limits are the least and the greatest power.
func (f E8M0) Limits() (lo, hi Exact) { return f.Decode(0), f.Decode(e8m0NaN - 1) }

// Decode is a power of two, or NaN.
func (E8M0) Decode(code int64) Exact {
	if code &= 1<<8 - 1; code != e8m0NaN {
		return FromInt(1, int(code)-e8m0Bias)
	}
	return NaN()
}

// Encode takes the nearest power, the greater one of two. What is not positive becomes the least.
func (f E8M0) Encode(v Exact) int64 {
	_, hi := f.Limits()
	switch {
	case v.IsNaN():
		return e8m0NaN
	case v.Sign() <= 0:
		return 0
	case v.Cmp(hi) >= 0:
		return e8m0NaN - 1
	}
	e := v.Log2()
	if v.Cmp(FromInt(3, e-1)) >= 0 {
		e++
	}
	return int64(max(e+e8m0Bias, 0))
}
