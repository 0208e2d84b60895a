// SPDX-License-Identifier: Apache-2.0

package sequence

import (
	"math/big"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/hardware"
	"lathe/ir/op/lane"
	"lathe/rtl"
)

// rotateLanes keep the elements of a pair in one beat, or in beats of their own that are everywhere equally far apart.
func rotateLanes(n *ir.Node) (*ir.Lanes, error) {
	size, in := n.Type.Shape[3], ir.Count{Size: n.Type.Shape[3], Things: "elements of a head, with their pairs"}
	for _, d := range lane.Divisors(size) {
		pairs := rotated(n)/2%d == 0
		if n.Attrs.(*RotaryAttrs).Interleaved {
			pairs = d == 1 || d%2 == 0 || d == size
		}
		if pairs {
			in.Legal = append(in.Legal, d)
		}
	}
	return &ir.Lanes{In: in, Mem: true}, nil
}

func rotateRTL(n *ir.Node) (*rtl.Unit, error) {
	p, err := planRotate(n)
	if err != nil {
		return nil, n.Errorf(diag.NoHardwareForm, "%v", err)
	}
	if err := p.fill(n); err != nil {
		return nil, err
	}
	result, err := hardware.ResultParams(n, p.exp)
	if err != nil {
		return nil, err
	}
	legal, err := rotateLanes(n)
	if err != nil {
		return nil, err
	}
	s, lanes, adjacent := n.Type.Shape, n.HW.InLanes, n.Attrs.(*RotaryAttrs).Interleaved
	if e := lane.Check(n, "lanes", lanes, legal.In.Legal, s[3], legal.In.Things); e != nil {
		return nil, e
	}
	u := rtl.NewUnit("op_rotate", "TOKENS", s[1], "HEADS", s[2]*n.HW.Parts(), "SIZE", s[3], "TURNED", rotated(n),
		"ADJACENT", rtl.Flag(adjacent), "LANES", lanes, "X_W", p.x.W, "X_SIGNED", rtl.Flag(p.x.Signed), "C_W", p.factor)
	if u.Frames, u.Within = s[0], n.HW.Parts(); n.HW.Decode || n.HW.Tokens > 0 {
		u.With("FLUSH", u.Within)
	}
	if n.HW.Tokens > 0 {
		u.With("ENDS", 1)
		u.Ends = "in"
	}
	u.With(result...).With(hardware.RomStyle(n)...).With(hardware.NoDSP(n)...)
	heads := p.beats(lanes, adjacent && lanes > 1)
	u.Images = []rtl.Image{{Param: "IMAGE", Width: len(heads[0]) * 2 * p.factor, Make: func(im *rtl.Image) error {
		for t := range s[1] {
			for _, elements := range heads {
				im.Words = append(im.Words, p.word(t*s[3], elements))
			}
		}
		return nil
	}}}
	return u, nil
}

// beats lists for the words of a token the elements, second ones of pairs, whose factors they hold: one for each lane,
// or for each pair of lanes. Beats of the same factors share a word.
func (p *turns) beats(lanes int, adjacent bool) (words [][]int) {
	known := map[int]bool{}
	for from := 0; from < len(p.pair); from += lanes {
		if known[p.pair[from]] {
			continue
		}
		known[p.pair[from]] = true
		var word []int
		for i := from; i < from+lanes; i++ {
			if !adjacent || i%2 == 0 {
				word = append(word, max(i, p.partner[i]))
			}
		}
		words = append(words, word)
	}
	return words
}

// word is {sine, cosine} of the elements, whose factors begin at the given place.
func (p *turns) word(at int, elements []int) *big.Int {
	word := new(big.Int)
	for k := len(elements) - 1; k >= 0; k-- {
		hardware.AppendField(word, big.NewInt(p.other[at+elements[k]]), p.factor)
		hardware.AppendField(word, big.NewInt(p.own[at+elements[k]]), p.factor)
	}
	return word
}
