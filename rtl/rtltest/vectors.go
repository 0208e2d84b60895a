// SPDX-License-Identifier: Apache-2.0

package rtltest

import (
	"bytes"
	"fmt"
	"math/big"
	"math/rand/v2"

	"lathe/sim"
)

// vectors are the streams of a run: what goes in and what the model says comes out.
type vectors struct {
	in, out           [][]byte
	inBeats, outBeats []int
	frames            int
}

// vectors makes the frames and asks the model.
func (b *Bench) vectors() (*vectors, error) {
	r := rand.New(rand.NewPCG(b.Seed, 0x5eed))
	v := &vectors{frames: b.frames(), in: make([][]byte, len(b.In)), out: make([][]byte, len(b.Out))}
	for _, p := range b.In {
		v.inBeats = append(v.inBeats, p.Beats)
	}
	v.outBeats = make([]int, len(b.Out))
	for f := range v.frames {
		frame := make([][]*big.Int, len(b.In))
		for i, p := range b.In {
			frame[i] = b.codes(r, i, f)
			if len(frame[i]) != p.Lanes*p.Beats {
				return nil, fmt.Errorf("Gen gives %d codes for a frame of %d beats of %d lanes on %s", len(frame[i]), p.Beats,
					p.Lanes, p.Name)
			}
			v.in[i] = append(v.in[i], sim.PackBig(frame[i], p.Lanes, p.Width)...)
		}
		result := b.model(frame)
		if len(result) != len(b.Out) {
			return nil, fmt.Errorf("the model returns %d outputs, the bench has %d", len(result), len(b.Out))
		}
		for i, p := range b.Out {
			beats := len(result[i]) / p.Lanes
			if len(result[i])%p.Lanes != 0 || f > 0 && beats != v.outBeats[i] || beats == 0 {
				return nil, fmt.Errorf("the model returns %d codes for %s, frame %d", len(result[i]), p.Name, f)
			}
			v.outBeats[i] = beats
			v.out[i] = append(v.out[i], sim.PackBig(result[i], p.Lanes, p.Width)...)
		}
	}
	return v, nil
}

// first returns the vectors of the first n frames.
func (v *vectors) first(n int) *vectors {
	cut := func(all [][]byte) [][]byte {
		short := make([][]byte, len(all))
		for i, s := range all {
			short[i] = s[:len(s)/v.frames*n]
		}
		return short
	}
	return &vectors{in: cut(v.in), out: cut(v.out), inBeats: v.inBeats, outBeats: v.outBeats, frames: n}
}

func (b *Bench) model(frame [][]*big.Int) [][]*big.Int {
	if b.BigModel != nil {
		return b.BigModel(frame)
	}
	in := make([][]int64, len(frame))
	for i := range frame {
		for _, v := range frame[i] {
			in[i] = append(in[i], v.Int64())
		}
	}
	var out [][]*big.Int
	for _, codes := range b.Model(in) {
		out = append(out, bigs(codes))
	}
	return out
}

func bigs(codes []int64) []*big.Int {
	out := make([]*big.Int, len(codes))
	for i, c := range codes {
		out[i] = big.NewInt(c)
	}
	return out
}

// codes makes one frame of an input port.
func (b *Bench) codes(r *rand.Rand, port, frame int) []*big.Int {
	if b.Gen != nil {
		if codes := b.Gen(r, port, frame); codes != nil {
			return bigs(codes)
		}
	}
	p := b.In[port]
	low, high := p.limits()
	zero := new(big.Int)
	if low.Sign() > 0 || high.Sign() < 0 {
		zero = low
	}
	span := new(big.Int).Sub(high, low)
	span.Add(span, big.NewInt(1))
	hot := r.IntN(p.Lanes * p.Beats)
	codes := make([]*big.Int, p.Lanes*p.Beats)
	for i := range codes {
		switch {
		case frame == 0:
			codes[i] = low
		case frame == 1:
			codes[i] = high
		case frame == 2:
			codes[i] = []*big.Int{low, high}[i%2]
		case frame == 3:
			codes[i] = zero
		case frame == 4 && i == hot:
			codes[i] = high
		case frame == 5 && i == hot:
			codes[i] = low
		case frame == 4 || frame == 5:
			codes[i] = zero
		default:
			codes[i] = below(r, span)
			codes[i].Add(codes[i], low)
		}
	}
	return codes
}

// limits returns the least and greatest code to try.
func (p Port) limits() (low, high *big.Int) {
	if p.Min != 0 || p.Max != 0 {
		return big.NewInt(p.Min), big.NewInt(p.Max)
	}
	one := big.NewInt(1)
	if p.Signed {
		high = new(big.Int).Lsh(one, uint(p.Width-1))
		return new(big.Int).Neg(high), new(big.Int).Sub(high, one)
	}
	high = new(big.Int).Lsh(one, uint(p.Width))
	return new(big.Int), high.Sub(high, one)
}

// below draws from [0, n).
func below(r *rand.Rand, n *big.Int) *big.Int {
	v := new(big.Int)
	for v.BitLen() < n.BitLen()+64 {
		v.Lsh(v, 64).Or(v, new(big.Int).SetUint64(r.Uint64()|1))
	}
	for i := 0; i < v.BitLen(); i += 64 { // the forced ones must not show
		v.SetBit(v, i, uint(r.IntN(2)))
	}
	return v.Mod(v, n)
}

// compare returns an error that names the first wrong code.
func (b *Bench) compare(v *vectors, got [][]byte) error {
	for i, p := range b.Out {
		if bytes.Equal(got[i], v.out[i]) {
			continue
		}
		have := sim.UnpackBig(got[i], p.Lanes, p.Width, p.Signed)
		want := sim.UnpackBig(v.out[i], p.Lanes, p.Width, p.Signed)
		perFrame := v.outBeats[i] * p.Lanes
		for k := range want {
			if k >= len(have) {
				return fmt.Errorf("%s ends after %d of %d codes", p.Name, len(have), len(want))
			}
			if have[k].Cmp(want[k]) != 0 {
				return fmt.Errorf("%s: frame %d, beat %d, lane %d is %s, the model says %s", p.Name, k/perFrame,
					k%perFrame/p.Lanes, k%p.Lanes, have[k], want[k])
			}
		}
		return fmt.Errorf("%s: %d bytes for %d", p.Name, len(got[i]), len(v.out[i]))
	}
	return nil
}
