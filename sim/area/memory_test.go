// SPDX-License-Identifier: Apache-2.0

package area

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
)

// TestMemoryBlocks counts memories and FIFOs of drawn widths and depths: block RAMs as their headers say. The first two
// shapes are those where rows of a memory share the bytes of a block, and where words are narrower than four bits.
func TestMemoryBlocks(t *testing.T) {
	tools.Need(t, "yosys")
	r := rand.New(rand.NewPCG(7, 8))
	shapes := [][2]int{{40, 2719}, {2, 17906}}
	for len(shapes) < 60 {
		width, depth := 1+r.IntN(1+r.IntN(150)), 65+r.IntN(1<<(6+r.IntN(9)))
		if width*depth < 1<<18 {
			shapes = append(shapes, [2]int{width, depth})
		}
	}
	var modules []single
	for _, s := range shapes {
		set := []string{"WIDTH", fmt.Sprint(s[0]), "DEPTH", fmt.Sprint(s[1])}
		modules = append(modules, single{"stream_fifo", set}, single{"mem_ram", append(set, "STYLE", `"block"`)})
	}
	modules, counts := countModules(t, t.TempDir(), modules)
	for i, m := range modules {
		h, err := rtl.Lookup(m.module)
		if err != nil {
			t.Fatal(err)
		}
		p, err := h.Cost(m.params(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if c := counts[i]; c.BRAM18+c.BRAM36 == 0 || p.BRAM != c.BRAM18+2*c.BRAM36 {
			t.Errorf("%s: its header says %d blocks of 18 Kbit, Yosys counts %+v", m, p.BRAM, c)
		}
	}
}
