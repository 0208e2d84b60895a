// SPDX-License-Identifier: Apache-2.0

package gemm

// What tests with graphs need. They stand outside of the package: operations import it.
var (
	Int8s        = int8s
	Acts         = Int8.acts
	Dice         = dice
	ArchOf       = arch
	TilesInt8    = tilesInt8
	Sweep        = sweep
	Extent       = extent
	RanCase      = ranCase
	DrawCodes    = drawCodes
	CompareCodes = compareCodes
)

// Tile is a configuration.
type Tile = tile

// With is the plan of a configuration.
func (p Int8) With(c Tile) (Plan, error) { return p.with(c) }
