// SPDX-License-Identifier: Apache-2.0

package cudatest

import "math/rand/v2"

// Corner scales and elements of MXINT8: the smallest, the borders of the subnormal ones, 1/64, 1 and the largest, NaN.
var (
	CornerScales   = []byte{0, 1, 6, 7, 8, 127, 133, 253, 254, 255}
	CornerElements = []int8{-128, -127, -1, 0, 1, 127}
)

// AllCodes returns every element with every scale, one block of 32 after the other: 65,536 elements and 2,048 scales.
// Blocks 8X to 8X+7 hold scale X and the elements 0 to 255 as bytes.
func AllCodes() (elements, scales []byte) {
	for x := range 256 {
		for q := range 256 {
			elements = append(elements, byte(q))
			if q%32 == 0 {
				scales = append(scales, byte(x))
			}
		}
	}
	return elements, scales
}

// Blocks returns n MXINT8 blocks of 32 elements that mix random blocks with corners: corner scales, corner elements,
// blocks of zeros, with one element that is not zero, and NaN blocks of zeros. Scales other than corners lie within
// spread of middle, so that sums stay finite.
func Blocks(seed uint64, n, middle, spread int) (elements, scales []byte) {
	r := rand.New(rand.NewPCG(seed, 0x6d78))
	for range n {
		block := make([]byte, 32)
		scale := byte(min(max(middle+r.IntN(2*spread+1)-spread, 0), 254))
		switch r.IntN(8) {
		case 0:
			scale = CornerScales[r.IntN(len(CornerScales))]
			if scale != 255 {
				fill(r, block)
			}
		case 1:
			for i := range block {
				block[i] = byte(CornerElements[r.IntN(len(CornerElements))])
			}
		case 2:
			block[r.IntN(32)] = byte(r.IntN(256))
		case 3:
		default:
			fill(r, block)
		}
		elements, scales = append(elements, block...), append(scales, scale)
	}
	return elements, scales
}

// Finite is Blocks with corner scales only around middle and no NaN: for sums whose value is to be compared.
func Finite(seed uint64, n, middle, spread int) (elements, scales []byte) {
	elements, scales = Blocks(seed, n, middle, spread)
	for i, s := range scales {
		if int(s) > middle+spread || int(s) < middle-spread {
			scales[i] = byte(middle)
		}
	}
	return elements, scales
}

func fill(r *rand.Rand, block []byte) {
	for i := range block {
		block[i] = byte(r.IntN(256))
	}
}
