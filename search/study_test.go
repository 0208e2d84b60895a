// SPDX-License-Identifier: Apache-2.0

package search

import (
	"testing"
)

// stubborn proposes the same parameters each time.
type stubborn struct{}

func (stubborn) Name() string                     { return "stubborn" }
func (stubborn) Reseed(uint32)                    {}
func (stubborn) Relative(*History, *Draft) Values { return nil }
func (stubborn) Independent(_ *History, _ *Draft, _ string, d *Distribution) float64 {
	return d.Low
}

// TestDigest: parameters that differ have different digests, in whatever order they come.
func TestDigest(t *testing.T) {
	d := NewInt(0, 9, 1, false)
	seen := map[uint64]bool{}
	for k := range 1000 {
		params := []Param{{"a", d, float64(k % 10)}, {"b", d, float64(k / 10 % 10)}, {"c", d, float64(k / 100)}}
		sum := digest(params)
		if seen[sum] {
			t.Fatalf("%v collides", params)
		}
		seen[sum] = true
		params[0], params[2] = params[2], params[0]
		if digest(params) != sum {
			t.Fatal("the order counts")
		}
	}
}

// TestFresh: a study of what never changes tries no configuration twice, whatever the sampler proposes, as long as
// there is another one near; without Fresh it does.
func TestFresh(t *testing.T) {
	space := Space{{Name: "w", Dist: NewInt(1, 8, 1, false)}, {Name: "x", Dist: NewInt(0, 30, 10, false)},
		{Name: "f", Dist: NewWords("a", "b")}}
	for _, fresh := range []bool{true, false} {
		s := &Study{Info: &StudyInfo{}, Space: space, Sampler: stubborn{}, Fresh: fresh}
		h := NewHistory("s", []Direction{Minimize})
		again := 0
		for n := range 40 {
			d := &Draft{Number: n}
			params, err := s.draw(h, d, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range params {
				if v, ok := p.Dist.Value(p.Dist.JSON(p.Value)); !ok || v != p.Value {
					t.Fatalf("%s is %v", p.Name, p.Value)
				}
			}
			trial := &Trial{Number: n, Params: params}
			if s.note(trial); n > 0 {
				if _, same := s.Same(trial); same {
					again++
				}
			}
		}
		if fresh && again > 0 || !fresh && again != 39 {
			t.Errorf("fresh %t: %d of 40 again", fresh, again)
		}
	}
}

// TestSpace: the size of a space with conditions, its text and what differs.
func TestSpace(t *testing.T) {
	space := Space{{Name: "f", Dist: NewWords("a", "b")},
		{Name: "a.w", Dist: NewInt(4, 10, 2, false), When: &Condition{"f", 0}},
		{Name: "g", Dist: NewFloat(0, 0.3, 0.1, false)}}
	if got := space.Size(); got < 1.301 || got > 1.3011 { // (4+1)*4
		t.Errorf("size 10^%v", got)
	}
	var back Space
	if err := back.UnmarshalJSON(Encode(space)); err != nil || space.Differs(back) != "" {
		t.Errorf("%v, %s", err, space.Differs(back))
	}
	for _, c := range []struct {
		change func(s Space)
		want   string
	}{
		{func(s Space) { s[1].Dist = NewInt(4, 12, 2, false) }, "a.w was 4..10:2 and is 4..12:2"},
		{func(s Space) { s[0].Dist = NewWords("a", "c") }, "f was a, b and is a, c"},
		{func(s Space) { s[2].Name = "h" }, "parameter 2 was g and is h"},
		{func(s Space) { s[1].When = nil }, "a.w depends on something else"},
	} {
		other := append(Space{}, space...)
		c.change(other)
		if got := space.Differs(other); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if got := space.Differs(space[:2]); got != "g is not there any more" {
		t.Error(got)
	}
}

// TestSorted: the order by value holds as trials come in any order, and where a value is overwritten.
func TestSorted(t *testing.T) {
	d := NewInt(0, 9, 1, false)
	h := NewHistory("s", []Direction{Minimize})
	put := func(n int, v float64) {
		h.Put(&Trial{ID: int64(n), Number: n, Params: []Param{{"w", d, v}}})
	}
	for k := range 200 {
		put(k*7%50, float64(k*31%10))
		if k%3 > 0 {
			continue
		}
		list := h.Column("w").Sorted()
		have := 0
		for n := range h.Len() {
			if _, ok := h.Column("w").Value(n); ok {
				have++
			}
		}
		if len(list) != have {
			t.Fatalf("%d numbers of %d", len(list), have)
		}
		for i := 1; i < len(list); i++ {
			a, _ := h.Column("w").Value(int(list[i-1]))
			b, _ := h.Column("w").Value(int(list[i]))
			if a > b || a == b && list[i-1] >= list[i] {
				t.Fatalf("after %d: %v", k, list)
			}
		}
	}
}
