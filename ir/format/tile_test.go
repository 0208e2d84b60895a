// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math"
	"slices"
	"testing"
)

// TestTiling cuts arrays of all ranks, tiles at the edges smaller, and compares blocks with those of their elements.
func TestTiling(t *testing.T) {
	for _, text := range []string{"mxint(8,4x4)", "mxint(6,2x3,dialect=mase)", "mxfp(e2m1,3x2)", "bfp(6,2x8,5)",
		"bminifloat(3,2,2x2,6)", "blog(5,4x1,6)", "mxint(8,4)", "mxfp(e4m3,1x4)"} {
		b := parseBlock(t, text)
		for _, shape := range [][]int{{}, {5}, {4, 4}, {7, 9}, {2, 5, 6}, {2, 3, 4, 5}, {0, 3}, {3, 0}} {
			n, rows, cols := 1, 1, 1
			for i, d := range shape {
				if n *= d; i == len(shape)-1 {
					cols = d
				} else if i == len(shape)-2 {
					rows = d
				}
			}
			tiles := NewTiling(b, shape)
			x, codes := make([]float64, n), make([]int64, n)
			for i := range x {
				x[i] = math.Ldexp(math.Sin(float64(3*i+1)), i*7%13)
			}
			seen := make([]int, n)
			for block := range tiles.Count() {
				var values []Exact
				scale := tiles.EncodeFloats(b, block, x, codes)
				var got []int64
				tiles.Pieces(block, func(from, to int) {
					for i := from; i < to; i++ {
						seen[i]++
						values, got = append(values, FromFloat64(x[i])), append(got, codes[i])
						if tiles.Of(i) != block {
							t.Fatalf("%s of %v: element %d lies in %d, not %d", text, shape, i, tiles.Of(i), block)
						}
					}
				})
				want := make([]int64, len(values))
				if s := b.EncodeBlock(values, want); s != scale || !slices.Equal(got, want) {
					t.Fatalf("%s of %v, block %d: %d %v, want %d %v", text, shape, block, scale, got, s, want)
				}
			}
			for i := range seen {
				near := i // an element of the same tile, where there is one to the upper left
				if r, c := i/cols%rows, i%cols; r%b.BlockRows() > 0 && c%b.BlockSize() > 0 {
					near = i - cols - 1
				}
				if seen[i] != 1 || tiles.Of(near) != tiles.Of(i) {
					t.Fatalf("%s of %v: element %d is in %d blocks", text, shape, i, seen[i])
				}
			}
			if down, across := tiles.Grid(); n > 0 && tiles.Count() != n/rows/cols*down*across {
				t.Fatalf("%s of %v: %d blocks", text, shape, tiles.Count())
			}
		}
	}
}

func TestTileTexts(t *testing.T) {
	for in, want := range map[string]string{
		"mxint(8,4x4)": "mxint(8,4x4)", "mxint(8,1x32)": "mxint8", "mxfp(e2m1,2x32)": "mxfp(e2m1,2x32)",
		"bfp(8,16x1,8)": "bfp(8,16x1,8)", "bminifloat(4,3,2x8,8)": "bminifloat(4,3,2x8,8)", "blog(5,4x4,8)": "blog(5,4x4,8)",
		"mxint(4,2x2,dialect=mase)": "mxint(4,2x2,dialect=mase)",
	} {
		f, err := Parse(in)
		if err != nil || f.String() != want {
			t.Errorf("%s prints as %v (%v), want %s", in, f, err, want)
			continue
		}
		if again, err := Parse(want); err != nil || again != f {
			t.Errorf("%s read again: %v", want, err)
		}
	}
	for _, bad := range []string{"mxint(8,0x4)", "mxint(8,x4)", "mxint(8,4x)", "mxint(8,4x4,axis=1)", "mxfp(e4m3,4x4x4)"} {
		if f, err := Parse(bad); err == nil {
			t.Errorf("%s is %v", bad, f)
		}
	}
}

// TestAsTiles: blocks along the axis before the last are tiles of one column, in every family.
func TestAsTiles(t *testing.T) {
	for text, want := range map[string]string{
		"mxint(6,16,axis=0)": "mxint(6,16x1)", "mxint(8,32,dialect=mase,axis=1)": "mxint(8,32x1,dialect=mase)",
		"mxfp(e4m3,8,round=up,axis=2)": "mxfp(e4m3,8x1,round=up)", "bfp(8,16,8,axis=0)": "bfp(8,16x1,8)",
		"bminifloat(3,2,16,8,axis=0)": "bminifloat(3,2,16x1,8)", "blog(5,16,8,axis=0)": "blog(5,16x1,8)",
	} {
		tiles, ok := AsTiles(parseBlock(t, text))
		if again := mustParse(t, want); !ok || tiles != again {
			t.Errorf("%s is %v, not %s", text, tiles, want)
		}
	}
}
