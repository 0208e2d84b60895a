// SPDX-License-Identifier: Apache-2.0

package recur

import (
	"math/big"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/curve"
	"lathe/ir/op/draw"
	"lathe/ir/op/hardware"
	"lathe/ir/op/lane"
	"lathe/rtl"
)

// lanes: in_lanes are elements of the state that meet their weights at once, out_lanes hidden units, with all their
// gates: those come in one beat.
func (k *kind) lanes(n *ir.Node) (*ir.Lanes, error) {
	size := hidden(n)
	return &ir.Lanes{In: lane.Counts(size, "elements of the state"), Out: units(n), Mem: true,
		Stream: func(_, out int) []int { return []int{k.gates * out / each(n)} }}, nil
}

// units are the legal out_lanes: what rows have of whole units.
func units(n *ir.Node) ir.Count {
	c := lane.Counts(hidden(n), "hidden units")
	if each(n) > 1 {
		c = ir.Count{Legal: c.Legal, Size: n.Type.Shape[1], Things: "elements of whole hidden units, h and c of each"}
		for i := range c.Legal {
			c.Legal[i] *= each(n)
		}
	}
	return c
}

// unit is op_recur.
func (k *kind) unit(n *ir.Node) (*rtl.Unit, error) {
	p, err := k.planned(n)
	if err != nil {
		return nil, n.Errorf(diag.NoHardwareForm, "%v", err)
	}
	size, in, out := hidden(n), n.HW.InLanes, n.HW.OutLanes
	if e := lane.CheckDivisor(n, "in_lanes", in, size, "elements of the state"); e != nil {
		return nil, e
	}
	all := units(n)
	if e := lane.Check(n, "out_lanes", out, all.Legal, all.Size, all.Things); e != nil {
		return nil, e
	}
	out /= each(n)
	if _, err := hardware.Result(n); err != nil {
		return nil, err
	}
	result := p.h
	up := uint(p.sum.F - p.product.F)
	weights := wider(p.weights, up)
	a := n.Attrs.(*Attrs)
	u := rtl.NewUnit("op_recur", "KIND", k.number, "RELU", rtl.Flag(a.Relu))
	if a.Before {
		u = rtl.NewUnit("op_recur_reset")
	}
	u.With("STEPS", n.Type.Shape[0], "HIDDEN", size, "IN_LANES", in, "OUT_LANES", out, "X_W", p.x.W,
		"X_SIGNED", rtl.Flag(p.x.Signed), "X_UP", p.sum.F-p.x.F, "W_W", widest(weights), "T_W", p.sum.W, "SUM_F", p.sum.F,
		"OUT_W", result.W, "OUT_F", result.F, "OUT_SIGNED", rtl.Flag(result.Signed), "ROUND", int(result.Round),
		"OVER", int(result.Over))
	u.Images = []rtl.Image{image("WEIGHTS", k.gates*in*out*widest(weights), k.words(weights, size, in, out))}
	if !a.Relu {
		u.With("GATE_W", p.gate.W, "GATE_F", p.gate.F)
		if err := k.functions(n, p, u); err != nil {
			return nil, err
		}
	}
	if k.cell {
		u.With("CELL_W", p.cell.W, "CELL_F", p.cell.F)
	}
	if err := k.firsts(n, u, out); err != nil {
		return nil, err
	}
	if k.bias && !a.Before {
		bias := wider(p.bias, uint(p.sum.F-p.b.F))
		if bias == nil {
			bias = make([]int64, size)
		}
		u.With("BIAS_W", widest(bias))
		u.Images = append(u.Images, image("BIAS", out*widest(bias), words(bias, out)))
	}
	u.With("ROM_STYLE", hardware.MemStyle(n))
	return u.With(hardware.NoDSP(n)...), nil
}

// firsts are the parameters and images of rows that show cells, and of states before the first row.
func (k *kind) firsts(n *ir.Node, u *rtl.Unit, out int) error {
	if n.Attrs.(*Attrs).Cells {
		u.With("CELLS", 1)
	}
	s, err := k.begin(n)
	if err != nil {
		return err
	}
	first := k.start(s)
	if s.Err != nil || first[0] == nil {
		return s.Err
	}
	u.With("STARTS", 1)
	u.Images = append(u.Images, image("START", hidden(n)*s.h.W, words(first[0].Codes, hidden(n))))
	if k.cell {
		u.Images = append(u.Images, image("START_C", out*s.cell.W, words(first[1].Codes, out)))
	}
	return nil
}

// functions are the parameters and images of the tables or interpolations.
func (k *kind) functions(n *ir.Node, p *plan, u *rtl.Unit) error {
	tanh := p.tanh
	if !k.cell {
		tanh, _ = format.AsFixed(n.Type.Format)
	}
	for _, f := range []struct {
		op     *ir.Op
		name   string
		result format.Fixed
	}{{curve.Tanh, "TANH", tanh}, {curve.Sigmoid, "SIGMOID", p.sigmoid}} {
		if f.op == curve.Sigmoid && !k.cell {
			break
		}
		// A kind of memory is named, since what counts is the image.
		one := &ir.Node{Name: n.Name, Op: f.op, Args: []*ir.Node{draw.Input("x", ir.Type{Shape: []int{1}, Format: p.gate})},
			Type: ir.Type{Shape: []int{1}, Format: f.result}, Pos: n.Pos,
			HW: ir.HW{Widths: ir.Widths{InLanes: 1}, Memory: ir.Memory{Mem: hardware.MemStyle(n)}}}
		from, err := f.op.RTL(one)
		if err != nil {
			return err
		}
		if smooth := from.Module == "op_interp"; f.op == curve.Tanh {
			u.With("SMOOTH", rtl.Flag(smooth))
		}
		for _, v := range from.Params {
			switch v.Name {
			case "D", "V_W", "C1_W", "C2_W":
				u.Params = append(u.Params, rtl.Param{Name: f.name + "_" + v.Name, Value: v.Value})
			}
		}
		im := from.Images[0]
		im.Param = f.name
		u.Images = append(u.Images, im)
	}
	return nil
}

// wider is v times 2^up.
func wider(v []int64, up uint) []int64 {
	var out []int64
	for _, c := range v {
		out = append(out, c<<up)
	}
	return out
}

// widest is the width of the shortest two's complement number that holds all of v.
func widest(v []int64) int {
	w := 1
	for _, c := range v {
		w = max(w, format.SignedBits(big.NewInt(c), big.NewInt(c)))
	}
	return w
}

func image(name string, width int, words func(width int) []*big.Int) rtl.Image {
	return rtl.Image{Param: name, Width: width, Make: func(im *rtl.Image) error {
		im.Words = words(width)
		return nil
	}}
}

// words packs lanes numbers into each word.
func words(v []int64, lanes int) func(width int) []*big.Int {
	return func(width int) (all []*big.Int) {
		for from := 0; from < len(v); from += lanes {
			word := new(big.Int)
			for i := from + lanes - 1; i >= from; i-- {
				hardware.AppendField(word, big.NewInt(v[i]), width/lanes)
			}
			all = append(all, word)
		}
		return all
	}
}

// words packs word group*folds + fold: row r of the group, column c of the fold, at place r*in + c.
func (k *kind) words(weights []int64, size, in, out int) func(width int) []*big.Int {
	rows := k.gates * out
	turned := make([]int64, 0, len(weights))
	for group := 0; group < len(weights); group += rows * size {
		for fold := 0; fold < size; fold += in {
			for row := range rows {
				at := group + row*size + fold
				turned = append(turned, weights[at:at+in]...)
			}
		}
	}
	return words(turned, rows*in)
}
