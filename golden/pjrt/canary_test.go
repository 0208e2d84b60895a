// SPDX-License-Identifier: Apache-2.0

package pjrt

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestCanary gives the self-test a right product, and one that goes on using the first operand it saw.
func TestCanary(t *testing.T) {
	w := make([]float32, canaryK*canaryN)
	product := func(m []float32) []float64 {
		y := make([]float64, canaryM*canaryN)
		for i := range y {
			for k := range canaryK {
				y[i] += float64(m[k*canaryN+i%canaryN])
			}
		}
		return y
	}
	if err := canary(w, func() ([]float64, error) { return product(w), nil }); err != nil {
		t.Error(err)
	}
	var packed []float32
	stale := func() ([]float64, error) {
		if packed == nil {
			packed = slices.Clone(w)
		}
		return product(packed), nil
	}
	if err := canary(w, stale); err == nil || !strings.Contains(err.Error(), "run 1") {
		t.Errorf("stale operand: %v", err)
	}
	if err := canary(w, func() ([]float64, error) { return nil, nil }); err == nil {
		t.Error("no result passes")
	}
	broken := errors.New("broken")
	if err := canary(w, func() ([]float64, error) { return nil, broken }); err != broken {
		t.Error(err)
	}
}
