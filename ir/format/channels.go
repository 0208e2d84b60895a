// SPDX-License-Identifier: Apache-2.0

package format

import "math"

// Fitted is a format of weights that finds a scale for each output channel, an index of axis 0, from its values.
type Fitted interface {
	Format
	// FitChannel encodes the values of one channel as codes of ChannelFormat, and returns their scale.
	FitChannel(x []float32, codes []int64) (scale float32)
	// ChannelFormat is integers with scales that travel along axis 0.
	ChannelFormat() Format
}

// ListedChannels is a format of few codes with "*[0]" in place of its scale, such as ternary*[0].
type ListedChannels struct{ Listed }

// String is the canonical text.
func (f ListedChannels) String() string { return f.Listed.String() + "*[0]" }

// CodeSet is f with the default way of encoding.
func (f ListedChannels) CodeSet() Format { return ListedChannels{Listed{f.codes()}} }

// Lattice has none: each channel has a step of its own.
func (f ListedChannels) Lattice() (exp int, bits int, ok bool) { return 0, 0, false }

// ChannelFormat is integers in the steps of the values at scale 1.
func (f ListedChannels) ChannelFormat() Format {
	_, bits := lattice(f.values())
	return Affine{W: bits, Signed: true, Axis: 0}
}

// FitChannel lets the format choose its scale. Channels of zeros have scale 1.
func (f ListedChannels) FitChannel(x []float32, codes []int64) float32 {
	exp, _ := lattice(f.values())
	fitted := f.fit(x)
	if s := fitted.scale(); !(s >= math.SmallestNonzeroFloat32*(1<<30) && s <= math.MaxFloat32/(1<<30)) {
		fitted = fitted.times(1)
	}
	one := fitted.times(1)
	for i, v := range x {
		codes[i], _ = one.Decode(fitted.Encode(FromFloat32(v))).Int64(exp)
	}
	return float32(math.Ldexp(float64(fitted.scale()), exp))
}

// ScalesBeside says that the scales of f are not in its text.
func ScalesBeside(f Format) bool {
	_, beside := ScaleAxis(f)
	_, fitted := f.(Fitted)
	return beside || fitted
}

// magnitudes is the mean of |x| beyond delta, 0 where there is none, and the largest.
func magnitudes(x []float32, delta float64) (mean, most float64) {
	sum, n := 0.0, 0
	for _, v := range x {
		a := math.Abs(float64(v))
		most = max(most, a)
		if a > delta {
			sum, n = sum+a, n+1
		}
	}
	return sum / float64(max(n, 1)), most
}

// fit is signs times the mean magnitude (Rastegari et al., XNOR-Net, 2016).
func (f Binary) fit(x []float32) Set {
	mean, _ := magnitudes(x, -1)
	return f.times(float32(mean))
}

func (f Binary) times(s float32) Set { return Binary{s} }

// fit is 0 up to 0.75 of the mean magnitude, or to a Delta that is given, and the mean of all beyond (Li and Liu,
// Ternary Weight Networks, 2016).
func (f Ternary) fit(x []float32) Set {
	delta := f.Delta
	if delta == f.Scale/2 {
		mean, _ := magnitudes(x, -1)
		delta = float32(0.75 * mean)
	}
	s, _ := magnitudes(x, float64(delta))
	return Ternary{float32(s), delta}
}

func (f Ternary) times(s float32) Set { return Ternary{s, f.Delta} }

// fit begins with levels that reach the largest magnitude, and takes the scale of least squares some times.
func (f Residual) fit(x []float32) Set {
	_, most := magnitudes(x, -1)
	at := most / float64(int(1)<<f.L-1)
	for range 4 {
		g, square, product := f.times(float32(at)), 0.0, 0.0
		one := f.times(1)
		for _, v := range x {
			k := one.Decode(g.Encode(FromFloat32(v))).Float64()
			square, product = square+k*k, product+k*float64(v)
		}
		if square > 0 {
			at = product / square
		}
	}
	return f.times(float32(at))
}

func (f Residual) times(s float32) Set { return Residual{f.L, s, f.scales} }

// fit reaches the largest magnitude.
func (f Codebook) fit(x []float32) Set {
	_, most := magnitudes(x, -1)
	return f.times(float32(most / math.Max(math.Abs(float64(f.at(0))), math.Abs(float64(f.at(f.len()-1))))))
}

func (f Codebook) times(s float32) Set {
	f.Scale = s
	return f
}
