// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"math/rand/v2"
	"testing"

	"lathe/ir"
	"lathe/ir/op/pointwise"
	"lathe/lower/lowertest"
	"lathe/lower/plan"
)

// BenchmarkCalibrate quantizes models of a million parameters, calibrated by least squared error on 1,000 samples: a
// perceptron of two layers, and a network of convolutions for images of 32x32.
//
//	go test ./lower -bench Calibrate -run ^$
func BenchmarkCalibrate(b *testing.B) {
	b.Run("mlp", func(b *testing.B) {
		l := lowertest.New(b, 1)
		x := l.Add(pointwise.Relu, "r", nil, l.Linear("a", l.Input("x", 1, 512), 1024, true))
		calibrateBench(b, l.Done(l.Linear("b", x, 512, true)))
	})
	b.Run("cnn", func(b *testing.B) {
		l := lowertest.New(b, 1)
		x := l.Input("x", 1, 3, 32, 32)
		for i, channels := range []int{32, 64, 128, 256, 256} {
			name := string(rune('a' + i))
			x = l.Add(pointwise.Relu, "r"+name, nil, l.Conv(name, x, channels, 3, 1+min(i, 1), 1, 1, true))
		}
		calibrateBench(b, l.Done(l.Linear("fc", l.Flatten("flat", x), 10, true)))
	})
}

func calibrateBench(b *testing.B, g *ir.Graph) {
	r := rand.New(rand.NewPCG(1, 2))
	in := g.In[0]
	c := Calibration{Samples: map[string][]*ir.Tensor{in.Name: make([]*ir.Tensor, 1000)}}
	for i := range c.Samples[in.Name] {
		t := ir.NewTensor(in.Type)
		for k := range t.Floats {
			t.Floats[k] = float32(r.NormFloat64())
		}
		c.Samples[in.Name][i] = t
	}
	for b.Loop() {
		if _, _, err := Run(b.Context(), g, plan.Default(), c, Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s")
}
