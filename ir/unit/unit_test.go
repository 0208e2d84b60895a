// SPDX-License-Identifier: Apache-2.0

package unit

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/rtl"
)

// TestCache plans a node again where something that its unit may depend on is another, and only there.
func TestCache(t *testing.T) {
	plans := 0
	o := &ir.Op{Name: "scale", RTL: func(n *ir.Node) (*rtl.Unit, error) {
		plans++
		if n.HW.OutLanes == 3 {
			return nil, n.Errorf("L0412", "three")
		}
		return &rtl.Unit{Module: "stream_skid", Params: []rtl.Param{{Name: "WIDTH", Value: "8"}}}, nil
	}}
	type attrs struct{ Perm []int }
	typ := func(w int) ir.Type { return ir.Type{Shape: []int{4}, Format: format.Fixed{W: w, Signed: true}} }
	data := &ir.Blob{DType: ir.I8, Bytes: make([]byte, 4)}
	node := func() *ir.Node {
		source := &ir.Node{Name: "x", Op: &ir.Op{Name: "input"}, Type: typ(5)}
		x := &ir.Node{Name: "x.fifo", Op: &ir.Op{Name: "fifo"}, Args: []*ir.Node{source}, Type: typ(5)}
		w := &ir.Node{Name: "w", Op: &ir.Op{Name: "const"}, Attrs: &ir.Const{Data: data}, Type: typ(4)}
		return &ir.Node{Name: "n", Op: o, Args: []*ir.Node{x, w}, Attrs: &attrs{[]int{0, 1}}, Type: typ(8),
			HW: ir.HW{Widths: ir.Widths{OutLanes: 2}}}
	}
	var cache Cache
	for _, c := range []struct {
		what   string
		change func(n *ir.Node)
		plans  int
	}{
		{"the node", func(*ir.Node) {}, 1},
		{"a copy with its times", func(n *ir.Node) { n.HW.II, n.HW.Latency = 5, 6 }, 1},
		{"no FIFO in front", func(n *ir.Node) { n.Args[0] = n.Args[0].Args[0] }, 1},
		{"other lanes", func(n *ir.Node) { n.HW.OutLanes = 4 }, 2},
		{"attributes", func(n *ir.Node) { n.Attrs.(*attrs).Perm[0] = 7 }, 3},
		{"another result", func(n *ir.Node) { n.Type = typ(9) }, 4},
		{"another argument", func(n *ir.Node) { n.Args[0].Type = typ(6) }, 5},
		{"another source", func(n *ir.Node) { n.Args[0].Args[0].Name = "y" }, 6},
		{"other constants", func(n *ir.Node) { n.Args[1].Attrs.(*ir.Const).Data = &ir.Blob{} }, 7},
		{"another name", func(n *ir.Node) { n.Name = "m" }, 8},
		{"an error", func(n *ir.Node) { n.HW.OutLanes = 3 }, 9},
		{"the error again", func(n *ir.Node) { n.HW.OutLanes = 3 }, 9},
		{"the node again", func(*ir.Node) {}, 9},
	} {
		n := node()
		c.change(n)
		unit, err := cache.Of(n)
		facts, _ := cache.Facts(n)
		if failed := n.HW.OutLanes == 3; (err != nil) != failed || (unit == nil) != failed || (facts.Latency == 1) == failed {
			t.Errorf("%s: %v, %v, %+v", c.what, unit, err, facts)
		}
		if plans != c.plans {
			t.Fatalf("%s: %d plans, want %d", c.what, plans, c.plans)
		}
	}
}

// TestCacheAtOnce plans once for several that ask at the same time.
func TestCacheAtOnce(t *testing.T) {
	var plans atomic.Int32
	o := &ir.Op{Name: "relu", RTL: func(*ir.Node) (*rtl.Unit, error) {
		plans.Add(1)
		return &rtl.Unit{}, nil
	}}
	var cache Cache
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			if _, err := cache.Facts(&ir.Node{Name: "n", Op: o}); err != nil {
				t.Error(err)
			}
		})
	}
	if wait.Wait(); plans.Load() != 1 {
		t.Errorf("%d plans", plans.Load())
	}
}

// TestCacheForms chooses the form of products once, keeps what a node has, and plans no unit for those that have none.
func TestCacheForms(t *testing.T) {
	var built []ir.Products
	o := &ir.Op{Name: "linear", RTL: func(n *ir.Node) (*rtl.Unit, error) {
		built = append(built, n.HW.Products)
		return &rtl.Unit{}, nil
	}}
	asked, none := 0, errors.New("no form")
	cache := Cache{Forms: func(_ *Cache, n *ir.Node) (ir.Products, error) {
		if asked++; n.Name == "bad" {
			return ir.Products{}, none
		}
		return ir.Products{Factors: "weights"}, nil
	}}
	n := &ir.Node{Name: "n", Op: o}
	for range 2 {
		if form, err := cache.Form(n); err != nil || form.Factors != "weights" {
			t.Errorf("form %+v, %v", form, err)
		}
		n.HW.Factors = "weights" // which is the same unit
	}
	if n.HW.Factors = "integers"; len(built) != 1 || asked != 1 {
		t.Errorf("%v for %d questions", built, asked)
	}
	if form, err := cache.Form(n); err != nil || form.Factors != "integers" || asked != 1 {
		t.Errorf("form %+v, %v, %d questions", form, err, asked)
	}
	if u, err := cache.Of(&ir.Node{Name: "bad", Op: o}); u != nil || err != none {
		t.Errorf("%v, %v", u, err)
	}
	if want := []ir.Products{{Factors: "weights"}, {Factors: "integers"}}; !slices.Equal(built, want) {
		t.Errorf("built %v", built)
	}
}
