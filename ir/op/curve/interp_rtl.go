// SPDX-License-Identifier: Apache-2.0

package curve

import (
	"math/big"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/hardware"
	"lathe/rtl"
)

// rtl is code as a unit.
func (p *interpolation) rtl(n *ir.Node) (*rtl.Unit, error) {
	out, err := hardware.Result(n)
	if err != nil {
		return nil, err
	}
	edge := 1
	switch {
	case p.d.keeps:
		edge = 0
	case p.d.low < 0:
		edge = 2
	}
	fields := p.fields()
	var width [3]int
	for k, list := range fields {
		for _, v := range list {
			width[k] = max(width[k], format.SignedBits(big.NewInt(v), big.NewInt(v)))
		}
	}
	style := hardware.MemStyle(n)
	if style == "auto" {
		style = "block"
	}
	u := rtl.NewUnit("op_interp", "LANES", n.HW.InLanes, "IN_W", p.in.W, "IN_SIGNED", rtl.Flag(p.in.Signed), "F", p.in.F,
		"D", p.d.bits, "FO", out.F, "OUT_W", out.W, "OUT_SIGNED", rtl.Flag(out.Signed), "ROUND", int(out.Round), "OVER",
		int(out.Over), "EDGE", edge, "V_W", width[0], "C1_W", width[1], "C2_W", width[2], "BEATS",
		hardware.Beats(n.Type, n.HW.InLanes), "ROM_STYLE", style)
	u.With(hardware.NoDSP(n)...)
	u.Images = []rtl.Image{{Param: "IMAGE", Width: width[0] + width[1] + width[2], Make: func(im *rtl.Image) error {
		for i := range fields[0] {
			word := new(big.Int)
			for k := 2; k >= 0; k-- {
				hardware.AppendField(word, big.NewInt(fields[k][i]), width[k])
			}
			im.Words = append(im.Words, word)
		}
		return nil
	}}}
	return u, nil
}

// fields are f0, c1 and c2 of all segments.
func (p *interpolation) fields() (all [3][]int64) {
	for i := range int64(len(p.v) / 2) {
		f0, c1, c2 := p.coefficients(i)
		all[0], all[1], all[2] = append(all[0], f0), append(all[1], c1), append(all[2], c2)
	}
	return all
}
