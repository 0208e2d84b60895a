// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"math/bits"
	"strings"

	"lathe/ir/target"
	"lathe/rtl"
)

// CacheWords are where a decoder keeps keys and values: on the chip; in a memory outside, which it writes and reads.
var CacheWords = []string{"chip", "external"}

// Memory says where the weights of folded layers live, and what the port to a memory outside is like.
type Memory struct {
	// Weights is a word of weightsWords; it holds where no rule says otherwise.
	Weights string
	// Cache is a word of cacheWords: where a decoder keeps keys and values.
	Cache string
	// From and CacheFrom are the plan lines of Weights and Cache.
	From, CacheFrom string
	// Ram is a word of ramWords: the RAM of weights that are loaded from outside.
	Ram string
	// Check has the words of ROMs with weights compared after reset, in hardware.
	Check bool
	// AXIBits is the bits of a beat, Burst the beats of a burst.
	AXIBits, Burst int
}

// WeightsWords are where weights live: in the chip as images of ROMs; outside, as suits the layer; outside, and they
// come each time; outside, and they are loaded after reset.
var WeightsWords = []string{"rom", "external", "stream", "hold"}

// CheckWords are whether hardware checks the weights in ROMs: never, or once after reset.
var CheckWords = []string{"off", "start"}

// RamWords are the RAMs of weights that are loaded.
var RamWords = []string{"auto", "block", "ultra"}

const (
	// DefaultAXI is the bits of a beat of the memory port.
	DefaultAXI = 128
	// DefaultBurst is the beats of a burst.
	DefaultBurst = 64
	leastAXI     = 64
	mostAXI      = 512
	mostBurst    = 256
)

// BurstOf is the beats of a burst: 4 KiB are the most.
func (m *Memory) BurstOf() int { return min(m.Burst, rtl.Page*8/m.AXIBits) }

func (p *parser) memory(f *file, out *Memory) {
	if f.Memory.Weights != nil {
		out.Weights = WeightsWords[p.word("memory.weights", f.Memory.Weights, WeightsWords)]
		out.From = p.at.Pos("memory.weights") + fmt.Sprintf(" [memory] weights = %q", out.Weights)
	}
	out.Ram = p.ram("memory.ram", "ram", f.Memory.RAM, RamWords)
	if f.Memory.Cache != nil {
		out.Cache = CacheWords[p.word("memory.cache", f.Memory.Cache, CacheWords)]
		out.CacheFrom = p.at.Pos("memory.cache") + fmt.Sprintf(" [memory] cache = %q", out.Cache)
	}
	if out.Check = p.word("memory.check", f.Memory.Check, CheckWords) > 0; out.Check && Outside(out.Weights) {
		p.fail("memory.check", "check = \"start\" is about weights in ROMs, and weights = %q has them outside of the chip",
			out.Weights).WithHint("leave one of the two out")
	}
	if out.Check && out.Cache == "external" {
		p.fail("memory.check", `check = "start" goes with no memory outside of the chip, and cache = "external" needs one`).
			WithHint("leave one of the two out")
	}
	for _, k := range []struct {
		key         string
		in, out     *int
		least, most int
	}{{"axi_bits", f.Memory.AXIBits, &out.AXIBits, leastAXI, mostAXI},
		{"burst", f.Memory.Burst, &out.Burst, 1, mostBurst}} {
		if k.in == nil {
			continue
		}
		if v := *k.in; v < k.least || v > k.most || v&(v-1) != 0 {
			e := p.fail("memory."+k.key, "%s = %d is no power of two from %d to %d", k.key, v, k.least, k.most)
			e.Hint = fmt.Sprintf("use %d", min(max(1<<bits.Len(uint(max(v, 1)-1)), k.least), k.most))
		}
		*k.out = *k.in
	}
}

// ram reads a kind of RAM, one of words. UltraRAM of a part that has none is refused.
func (p *parser) ram(path, key string, text *string, words []string) string {
	word := words[p.word(path, text, words)]
	if word != "ultra" || p.fpga.URAM > 0 {
		return word
	}
	var parts []string
	for _, d := range target.All() {
		if d.URAM > 0 {
			parts = append(parts, d.Name)
		}
	}
	p.fail(path, "%s = \"ultra\": %s has no UltraRAM", key, p.fpga.Name).Hint = fmt.Sprintf(
		`say %s = "block", or take a part that has it: %s`, key, strings.Join(parts, ", "))
	return word
}

// Outside says that a word of a plan means a memory outside.
func Outside(where string) bool { return where != "" && where != "rom" }
