// SPDX-License-Identifier: Apache-2.0

package hlo_test

import (
	"slices"
	"testing"

	"lathe/golden/pjrt/pjrttest"
	"lathe/ir/hlo"
)

// TestTimes runs a loop that reads a row a round and writes one: sums of rows so far, with a constant, a weight and a
// value from outside. Constants that it names first are made again behind it.
func TestTimes(t *testing.T) {
	b := hlo.New("times")
	x := b.Arg("x", hlo.TypeOf(hlo.I32, 2, 3, 2))
	w := b.Weight(hlo.FromInt64s(hlo.I32, []int{2}, []int64{1, 10}))
	from := b.Splat(b.Row(x, 1, b.Int(hlo.I32, 0)), 100)
	y := b.Splat(x, 0)
	all := b.Times(3, []hlo.Value{from, y}, func(i hlo.Value, now []hlo.Value) []hlo.Value {
		row := b.Mul(b.Row(x, 1, i), b.BroadcastInDim(w, []int{2, 2}, []int{1}))
		sum := b.Add(b.Add(now[0], row), b.Int(hlo.I32, 1000))
		return []hlo.Value{sum, b.PutRow(now[1], sum, 1, i)}
	})
	b.Return(all[0], b.Add(all[1], b.Int(hlo.I32, 1000)))
	rows := []int64{1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6}
	got := pjrttest.Run(t, b, hlo.FromInt64s(hlo.I32, []int{2, 3, 2}, rows))
	last := []int64{3109, 3220, 3091, 2980}
	each := []int64{2101, 2120, 3104, 3160, 4109, 4220, 2099, 2080, 3096, 3040, 4091, 3980}
	if !slices.Equal(got[0].Int64s(), last) || !slices.Equal(got[1].Int64s(), each) {
		t.Errorf("%v and %v, want %v and %v", got[0].Int64s(), got[1].Int64s(), last, each)
	}
}

// TestTimesErrors wants rounds refused that do not make what they read, and places that are none.
func TestTimesErrors(t *testing.T) {
	same := func(_ hlo.Value, now []hlo.Value) []hlo.Value { return now }
	for name, build := range map[string]func(b *hlo.Builder, x hlo.Value){
		"rounds": func(b *hlo.Builder, x hlo.Value) { b.Times(0, []hlo.Value{x}, same) },
		"values": func(b *hlo.Builder, _ hlo.Value) { b.Times(2, nil, same) },
		"types": func(b *hlo.Builder, x hlo.Value) {
			b.Times(2, []hlo.Value{x}, func(i hlo.Value, _ []hlo.Value) []hlo.Value { return []hlo.Value{i} })
		},
		"axis":  func(b *hlo.Builder, x hlo.Value) { b.Row(x, 2, b.Int(hlo.I32, 0)) },
		"place": func(b *hlo.Builder, x hlo.Value) { b.Row(x, 0, b.Int(hlo.I64, 0)) },
		"row":   func(b *hlo.Builder, x hlo.Value) { b.PutRow(x, x, 0, b.Int(hlo.I32, 0)) },
	} {
		b := hlo.New(name)
		build(b, b.Arg("x", hlo.TypeOf(hlo.F32, 3, 2)))
		if b.Err() == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
