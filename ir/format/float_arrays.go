// SPDX-License-Identifier: Apache-2.0

package format

import "math"

// Arrays of float64 need no exact arithmetic where their significands of 53 bits are integers that are cut: what
// follows is Encode and Decode of floats, on the bits of float64.

// EncodeFloat64s is Encode of every x; it says false where rounding depends on more than the fraction.
func (f Float) EncodeFloat64s(codes []int64, x []float64) bool {
	if f.Round > RoundOutward && f.Round != RoundLog {
		return false
	}
	low, most, sign, least := f.low(), f.most(), f.sign(), f.low()-f.M
	for i, v := range x {
		b := math.Float64bits(v)
		e := int(b>>52&0x7ff) - 1023
		if e == -1023 || e == 1024 || e < least-1 || e > low+1<<f.E || f.M == 52 {
			codes[i] = f.Encode(FromFloat64(v))
			continue
		}
		up := max(e-low, 0)
		sig, n := int64(b&(1<<52-1)|1<<52), least+up-e+52 // 52-M to 53
		code := sig>>n + int64(up)<<f.M
		if f.Round == RoundEven {
			code += (sig&(1<<n-1) + 1<<(n-1) - 1 + code&1) >> n
		} else if at := (fraction{whole: uint64(sig >> n), frac: uint64(sig) << (64 - n)}); at.goesUp(f.Round, code&1 != 0,
			b>>63 != 0, 0) {
			code++
		}
		if code > most {
			codes[i] = f.beyond(int64(b>>63) * sign)
			continue
		}
		if code |= int64(b>>63) * sign; code == sign && f.Kind == FloatFNUZ {
			code = 0
		}
		codes[i] = code
	}
	return true
}

// Floats writes the values of codes. It writes nothing, and says false, where they may lie beyond the normal numbers of
// float64.
func (f Float) Floats(codes []int64, out []float64) bool {
	const normal, bias = 900, 1023
	least := f.low() - f.M
	if least < -normal || least+1<<f.E > normal || f.M > 52 {
		return false
	}
	for i, c := range codes {
		field, sig := uint64(c)>>f.M&(1<<f.E-1), uint64(c)&(1<<f.M-1)
		if c&(f.sign()-1) > f.most() || f.Kind == FloatFNUZ && field|sig == 0 {
			out[i] = f.Decode(c).Float64()
			continue
		}
		if field > 0 {
			sig |= 1 << f.M
			field--
		}
		v := float64(sig) * math.Float64frombits(uint64(int(field)+least+bias)<<52)
		out[i] = math.Float64frombits(math.Float64bits(v) | uint64(c)>>(f.E+f.M)<<63)
	}
	return true
}

// EncodeFloat64s is Encode of every x; it says false where rounding depends on more than the fraction.
func (d DFloat) EncodeFloat64s(codes []int64, x []float64) bool {
	if d.Round > RoundOutward {
		return false
	}
	low, most := d.low(), d.most()
	for i, v := range x {
		b := math.Float64bits(v)
		e := int(b>>52&0x7ff) - 1023
		field := max(e-low-d.M+1, 0)
		n := low + field - e + 52 // at least 53-M
		if e == -1023 || e == 1024 || n > 53 || field > 1<<d.E {
			codes[i] = d.Encode(FromFloat64(v))
			continue
		}
		sig := b&(1<<52-1) | 1<<52
		q := int64(sig >> n)
		if (fraction{whole: sig >> n, frac: sig << (64 - n)}).goesUp(d.Round, q&1 != 0, b>>63 != 0, 0) {
			q++
		}
		over := int(q >> d.M)
		codes[i] = min(int64(field+over)<<d.M+q>>over, most) | int64(b>>63)<<(d.E+d.M)
	}
	return true
}

// Floats writes the values of codes. It writes nothing, and says false, where they may lie beyond the normal numbers of
// float64.
func (d DFloat) Floats(codes []int64, out []float64) bool {
	const normal, bias = 900, 1023
	low := d.low()
	if low < -normal || low+1<<d.E > normal {
		return false
	}
	for i, c := range codes {
		v := float64(c&(1<<d.M-1)) * math.Float64frombits(uint64(int(c>>d.M&(1<<d.E-1))+low+bias)<<52)
		out[i] = math.Float64frombits(math.Float64bits(v) | uint64(c)>>(d.E+d.M)<<63)
	}
	return true
}
