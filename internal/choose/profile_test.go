// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"math"
	"reflect"
	"testing"
)

// TestSpread counts values by hand.
func TestSpread(t *testing.T) {
	c := newCount()
	for i := range 2000 {
		c.add(float32(i%4), true) // 0, 1, 2, 3
	}
	c.add(48, true)
	s := c.spread()
	if s.Count != 2001 || s.Min != 0 || s.Max != 48 || s.Zeros != 500 {
		t.Errorf("%+v", s)
	}
	mean := 3048.0 / 2001
	if std := math.Sqrt((500*(0+1+4+9)+48*48)/2001.0 - mean*mean); s.Mean != mean || math.Abs(s.Std-std) > 1e-12 {
		t.Errorf("mean %g, deviation %g, want %g, %g", s.Mean, s.Std, mean, std)
	}
	if want := [...]float64{0, 0, 1, 2, 3, 3, 3}; s.Percentiles != want {
		t.Errorf("percentiles %v, want %v", s.Percentiles, want)
	}
	if s.Outliers != 1.0/2001 || s.OutlierBits != 4 { // 48 is 16 times 3
		t.Errorf("outliers %g, %g bits", s.Outliers, s.OutlierBits)
	}
	if empty := newCount().spread(); !reflect.DeepEqual(empty, Spread{}) {
		t.Errorf("%+v", empty)
	}
}

// TestTensor finds channels along an axis, whatever the order in which samples come in.
func TestTensor(t *testing.T) {
	one := newTensor([]int{2, 3, 2}, 1)
	one.add([]float32{1, 2, 10, 20, 100, 200, 3, 4, 30, 40, 300, 400}, 0, 1)
	for i, want := range [][2]float64{{1, 4}, {10, 40}, {100, 400}} {
		if s := one.channels[i].spread(); s.Count != 4 || s.Min != want[0] || s.Max != want[1] {
			t.Errorf("channel %d: %+v", i, s)
		}
	}
	result := Tensor{Spread: one.all.spread(), Histogram: one.all.histogram()}
	for _, c := range one.channels {
		result.Channels = append(result.Channels, c.spread())
	}
	if bits := result.ChannelBits(); math.Abs(bits-math.Log2(100)) > 1e-12 {
		t.Errorf("%g bits between channels", bits)
	}
	if result.Histogram[0] != 4 || result.Histogram[bins-1] != 1 {
		t.Errorf("histogram %v", result.Histogram)
	}
	two := newTensor([]int{2, 3, 2}, 1)
	two.add([]float32{-5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 1, 2)
	one.join(two)
	if s := one.channels[0].spread(); s.Count != 8 || s.Min != -5 || s.Zeros != 3 {
		t.Errorf("joined: %+v", s)
	}
}
