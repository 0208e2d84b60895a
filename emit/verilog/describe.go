// SPDX-License-Identifier: Apache-2.0

package verilog

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"lathe/emit"
	"lathe/internal/diag"
	"lathe/rtl"
)

// describe makes the entry of design.json.
func (b *builder) describe(inst *instance) (*emit.Unit, error) {
	n := inst.node
	u := &emit.Unit{
		Node: n.Name, Op: n.Op.Name, Instance: inst.name, Module: inst.module, Source: n.Pos, Shape: n.Type.Shape,
		Format: n.Type.Format.String(), InLanes: n.HW.InLanes, OutLanes: n.HW.OutLanes,
		Cycles: n.HW.II, Latency: n.HW.Latency, Stream: inst.out, Width: inst.width, Beats: n.Beats(), Depth: n.HW.Fifo,
		Branches: n.HW.Branches,
	}
	u.Turns = b.turns[n.Name]
	for _, a := range n.Args {
		u.Args = append(u.Args, a.Name)
	}
	if !inst.unit.Wire() {
		facts, err := b.units.Facts(n)
		if err != nil {
			return nil, n.Diag(diag.UnitFault, err)
		}
		if n.HW.II == 0 { // a graph that was scheduled by hand
			u.Cycles, u.Latency = facts.II, facts.Latency
		}
		if facts.Costed {
			u.Cost = &facts.Cost
		}
	}
	if b := inst.unit.Body; b != nil {
		u.Sums = b.Sums
	}
	for _, im := range inst.unit.Images {
		im, err := inst.image(u, im)
		if err != nil {
			return nil, err
		}
		inst.bound = append(inst.bound, im.Params(inst.name)...)
	}
	if w := inst.unit.Weights; w != nil && w.Checked() {
		im, err := inst.image(u, w.Image)
		if err != nil {
			return nil, err
		}
		inst.sealed, u.Checked = w.Sealed(im, inst.name), true
	}
	return u, nil
}

// image makes an image of the instance and its file, and describes it in u.
func (inst *instance) image(u *emit.Unit, im rtl.Image) (rtl.Image, error) {
	im, err := im.Made()
	if err != nil {
		return im, inst.node.Diag(diag.UnitFault, err)
	}
	f := im.File(inst.name)
	inst.images = append(inst.images, f)
	h := sha256.New()
	if err := f.Write(h); err != nil {
		return im, err
	}
	u.Images = append(u.Images, emit.Image{File: f.Name, Width: im.Width, Words: im.Len(),
		Checksum: fmt.Sprintf("%08x", im.Sum()), SHA256: hex.EncodeToString(h.Sum(nil))})
	return im, nil
}
