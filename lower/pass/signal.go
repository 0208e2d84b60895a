// SPDX-License-Identifier: Apache-2.0

package pass

import "math"

// Signal sums up a tensor and its error over samples, for their ratio in decibel. What counts as signal is how far the
// values of each channel, along the last axis, lie from their mean over all samples and positions: an output that never
// changes has none, whatever its size. Where a channel has a single value, channels are compared with each other, and a
// single number with 0.
type Signal struct {
	channels []moments
	// Noise is the sum of squared errors, Peak the greatest magnitude.
	Noise, Peak float64
}

// moments are those of some values: their number, mean, and squared distance from it.
type moments struct{ n, mean, squares float64 }

// join adds other values (Chan, Golub and LeVeque, Updating Formulae and a Pairwise Algorithm for Computing Sample
// Variances, 1979, section 2): equal values have no distance at all, which sums of squares would leave to rounding.
func (m *moments) join(o moments) {
	if o.n == 0 {
		return
	}
	n, d := m.n+o.n, o.mean-m.mean
	m.squares += o.squares + d*d*m.n*o.n/n
	m.mean += d * o.n / n
	m.n = n
}

// power is what their sum of squares would be if their mean were 0, by the estimate that does not depend on how many
// they are.
func (m moments) power() float64 {
	if m.n < 2 {
		return 0
	}
	return m.squares * m.n / (m.n - 1)
}

// Add adds one sample: values x and what came of them, whose last axis has so many channels. What is no finite number
// in x does not count.
func (s *Signal) Add(x, y []float64, channels int) {
	s.room(channels)
	type sums struct{ n, first, sum, squares float64 }
	all := make([]sums, len(s.channels))
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		s.Noise, s.Peak = s.Noise+(v-y[i])*(v-y[i]), max(s.Peak, math.Abs(v))
		c := &all[i%len(all)]
		if c.n == 0 {
			c.first = v
		}
		d := v - c.first
		c.n, c.sum, c.squares = c.n+1, c.sum+d, c.squares+d*d
	}
	for i, c := range all {
		if c.n > 0 {
			s.channels[i].join(moments{c.n, c.first + c.sum/c.n, max(0, c.squares-c.sum*c.sum/c.n)})
		}
	}
}

func (s *Signal) room(channels int) {
	if s.channels == nil {
		s.channels = make([]moments, max(1, channels))
	}
}

// Join adds the samples of o, of the same tensor.
func (s *Signal) Join(o *Signal) {
	s.room(len(o.channels))
	s.Noise, s.Peak = s.Noise+o.Noise, max(s.Peak, o.Peak)
	for i, m := range o.channels {
		s.channels[i].join(m)
	}
}

// Power is that of the signal, summed up over all values.
func (s *Signal) Power() float64 {
	var power float64
	var means moments
	several := false
	for _, m := range s.channels {
		power += m.power()
		several = several || m.n > 1
		if m.n > 0 {
			means.join(moments{n: 1, mean: m.mean})
		}
	}
	switch {
	case several:
		return power
	case means.n > 1:
		return means.power()
	}
	return means.mean * means.mean
}

// Spread is the standard deviation of the values about the means of their channels.
func (s *Signal) Spread() float64 {
	n := 0.0
	for _, m := range s.channels {
		n += m.n
	}
	return math.Sqrt(s.Power() / max(1, n))
}

// Offset is how far the means of the channels lie from 0, at most.
func (s *Signal) Offset() float64 {
	most := 0.0
	for _, m := range s.channels {
		most = max(most, math.Abs(m.mean))
	}
	return most
}

// Decibels is the ratio of signal and error, +Inf without an error.
func (s *Signal) Decibels() float64 { return Decibels(s.Power(), s.Noise) }

// Channels is how many channels a tensor of a shape has: the length of its last axis.
func Channels(shape []int) int {
	if len(shape) == 0 {
		return 1
	}
	return shape[len(shape)-1]
}
