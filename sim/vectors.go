// SPDX-License-Identifier: Apache-2.0

package sim

import "math/big"

// Beat is the payload of one transfer as an unsigned integer.
type Beat = *big.Int

// Pack makes a stream of beats with the given number of lanes of width bits each, lane 0 low, of codes that lie one
// after the other, lanes innermost. Codes are taken modulo 2^width and sign-extended beyond 64 bits. len(codes) must
// be a multiple of lanes.
func Pack(codes []int64, lanes, width int) []byte {
	size := (lanes*width + 7) / 8
	out := make([]byte, len(codes)/lanes*size)
	for i, code := range codes {
		put(out[i/lanes*size:], i%lanes*width, width, code)
	}
	return out
}

// put writes the low bits of a code at a bit position of zeros.
func put(beat []byte, at, width int, code int64) {
	for left := width; left > 0; {
		n := min(8-at%8, left)
		beat[at/8] |= byte(code&(1<<n-1)) << (at % 8)
		code >>= n
		at += n
		left -= n
	}
}

// Unpack takes a stream apart into codes, the inverse of Pack; width is at most 64.
func Unpack(stream []byte, lanes, width int, signed bool) []int64 {
	size := (lanes*width + 7) / 8
	out := make([]int64, len(stream)/size*lanes)
	for i := range out {
		out[i] = get(stream[i/lanes*size:], i%lanes*width, width, signed)
	}
	return out
}

// get reads a code at a bit position.
func get(beat []byte, at, width int, signed bool) int64 {
	var code uint64
	for got := 0; got < width; {
		n := min(8-at%8, width-got)
		code |= uint64(beat[at/8]>>(at%8)&(1<<n-1)) << got
		at += n
		got += n
	}
	if signed && width < 64 && code>>(width-1) == 1 {
		code |= ^uint64(0) << width
	}
	return int64(code)
}

// PackBig is Pack for codes of any size.
func PackBig(codes []*big.Int, lanes, width int) []byte {
	size := (lanes*width + 7) / 8
	out := make([]byte, 0, len(codes)/lanes*size)
	mask := new(big.Int).Lsh(big.NewInt(1), uint(width))
	mask.Sub(mask, big.NewInt(1))
	for i := 0; i+lanes <= len(codes); i += lanes {
		beat := new(big.Int)
		for l := lanes - 1; l >= 0; l-- {
			beat.Lsh(beat, uint(width))
			beat.Or(beat, new(big.Int).And(codes[i+l], mask))
		}
		out = append(out, reverse(beat.FillBytes(make([]byte, size)))...)
	}
	return out
}

// UnpackBig is Unpack for codes of any size.
func UnpackBig(stream []byte, lanes, width int, signed bool) []*big.Int {
	size := (lanes*width + 7) / 8
	var out []*big.Int
	mask := new(big.Int).Lsh(big.NewInt(1), uint(width))
	mask.Sub(mask, big.NewInt(1))
	for ; len(stream) >= size; stream = stream[size:] {
		beat := new(big.Int).SetBytes(reverse(append([]byte(nil), stream[:size]...)))
		for range lanes {
			code := new(big.Int).And(beat, mask)
			if signed && code.Bit(width-1) == 1 {
				code.Sub(code, mask).Sub(code, big.NewInt(1))
			}
			out = append(out, code)
			beat.Rsh(beat, uint(width))
		}
	}
	return out
}

func reverse(b []byte) []byte {
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return b
}
