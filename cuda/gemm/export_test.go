// SPDX-License-Identifier: Apache-2.0

package gemm

import (
	"fmt"

	"lathe/cuda"
)

// What tests need to run a kernel in a configuration that is not the one of least estimated time. They stand outside of
// the package, as the cases do.
var (
	TilesBF16 = tilesBF16
	Tiles16   = tiles16
	TilesMX   = tilesMX
	TilesInt8 = tilesInt8
	TilesConv = tilesConv
	Thins     = thins
)

// Tile is a configuration.
type Tile = tile

// Rows and Cols are those of the result.
func (t tile) Rows() int { return t.bm }
func (t tile) Cols() int { return t.bn }

// Products are those of a warp in a step of 64 k.
func (t tile) Products() int { return t.bm / t.wm / 16 * (t.bn / t.wn / 8) * 4 }

// Thin is a configuration of w8a16_thin; Warps are those along its columns.
type Thin = thin

func (t thin) Warps() int { return t.wn }

func (t thin) Cols() int { return t.cols() }

// Slots are those of a thread, as the estimate of time has them, of W8A16 or W16A16.
func (t tile) Slots(w8 bool) float64 {
	if w8 {
		return t.slots(decoded) / float64(32*t.wm*t.wn)
	}
	return t.slots(0) / float64(32*t.wm*t.wn)
}

// Slots are those of a thread, for elements of the given size.
func (i Images) Slots(t Tile, size int) float64 { return i.slots(t, size) / float64(32*t.wm*t.wn) }

// ThinSlots are those of a weight.
const ThinSlots = thinSlots

// Step is how many products of a block its warps take at a time.
func (t thin) Step() int { return 4 * 32 * t.wk }

func (t tile) Params() []string     { return t.params() }
func (t thin) Params() []string     { return t.params() }
func (e Epilogue) Params() []string { return e.params() }

func (p Int8) Params(t Tile) []string                     { return p.params(t) }
func (p Int8) With(t Tile) (Plan, error)                  { return p.with(t) }
func (p MX) With(t Tile, span int) (Plan, error)          { return p.with(t, span) }
func (p Window) With(t Tile) (Plan, error)                { return p.with(t) }
func (p Window) InstanceOf(t Tile) (cuda.Instance, error) { return p.instance(t) }

// With is the plan of a configuration with the k range in so many parts.
func (p W16A16) With(t Tile, splits int) (Plan, error) {
	return p.with(p.on(t, splits, gpu{}))
}

// With is the plan of the tile with that extent, in so many blocks at most; 0 for one a tile.
func (p Hopper16) With(extent, blocks int) (Plan, error) { return p.hopper().within(extent, blocks) }

// With is that of W8A16.
func (p Hopper8) With(extent, blocks int) (Plan, error) { return p.hopper().within(extent, blocks) }

// With is that of Int8, a block a tile.
func (p HopperInt8) With(extent int) (Plan, error) { return p.with(p.hopper().on(extent, gpu{})) }

func (h hopper) within(extent, blocks int) (Plan, error) {
	c := h.on(extent, gpu{})
	if blocks > 0 {
		c.blocks = min(c.blocks, blocks)
	}
	return h.with(c)
}

// With is the plan of a configuration.
func (p Conv16) With(t Tile) (Plan, error) { return p.conv().planned(t) }

// With is the plan of a configuration.
func (p Conv8) With(t Tile) (Plan, error) { return p.conv().planned(t) }

// Planned is the plan with a template in a configuration, by its parameters.
func (p W8A16) Planned(template string, params []string, splits int) (Plan, error) {
	blocks := 0
	switch template {
	case "w8a16":
		for _, c := range tilesBF16 {
			if fmt.Sprint(c.params()) == fmt.Sprint(params) {
				blocks = ceil(p.M, c.bm) * ceil(p.N, c.bn)
			}
		}
	case "w8a16_thin":
		for _, c := range thins {
			if fmt.Sprint(c.params()) == fmt.Sprint(params) {
				blocks = ceil(p.N, c.cols())
			}
		}
	}
	return p.with(choice{template: template, params: params, blocks: blocks, splits: splits})
}

// Launched is the kernel and its launch.
func (s SplitSum) Launched(o Operands) (cuda.Instance, cuda.Launch, error) {
	i, err := s.instance()
	if err != nil {
		return i, cuda.Launch{}, err
	}
	l, err := gridOf(i, s.blocks())
	l.Args = s.args(o)
	return i, l, err
}
