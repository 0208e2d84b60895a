// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"cmp"
	"fmt"
	"math/bits"
	"strings"

	"lathe/ir"
	"lathe/ir/target"
	"lathe/ir/unit"
	"lathe/rtl"
)

// MemoryPlan says where the weights of folded layers live, and what the port to a memory outside is like.
type MemoryPlan struct {
	// Weights is a word of weightsWords; it holds where no rule says otherwise.
	Weights string
	// Cache is a word of cacheWords: where a decoder keeps keys and values.
	Cache string
	// From and CacheFrom are the plan lines of Weights and Cache.
	From, CacheFrom string
	// Ram is a word of ramWords: the RAM of weights that are loaded from outside.
	Ram string
	// AXIBits is the bits of a beat, Burst the beats of a burst.
	AXIBits, Burst int
}

// weightsWords are where weights live: in the chip as images of ROMs; outside, as suits the layer; outside, and they
// come each time; outside, and they are loaded after reset.
var weightsWords = []string{"rom", "external", "stream", "hold"}

// ramWords are the RAMs of weights that are loaded.
var ramWords = []string{"auto", "block", "ultra"}

const (
	defaultAXI   = 128
	defaultBurst = 64
	leastAXI     = 64
	mostAXI      = 512
	mostBurst    = 256
)

// memoryPort names the port where it sets the pace.
const memoryPort = "the memory port"

// burstOf is the beats of a burst: 4 KiB are the most.
func (m *MemoryPlan) burstOf() int { return min(m.Burst, rtl.Page*8/m.AXIBits) }

func (p *planParser) memory(f *planFile, out *MemoryPlan) {
	if f.Memory.Weights != nil {
		out.Weights = weightsWords[p.word("memory.weights", f.Memory.Weights, weightsWords)]
		out.From = p.at.pos("memory.weights") + fmt.Sprintf(" [memory] weights = %q", out.Weights)
	}
	out.Ram = p.ram("memory.ram", "ram", f.Memory.RAM, ramWords)
	if f.Memory.Cache != nil {
		out.Cache = cacheWords[p.word("memory.cache", f.Memory.Cache, cacheWords)]
		out.CacheFrom = p.at.pos("memory.cache") + fmt.Sprintf(" [memory] cache = %q", out.Cache)
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
func (p *planParser) ram(path, key string, text *string, words []string) string {
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

// weights decides where the weights of n live, whose style and lanes are decided. Layers that have no words of weights
// keep what they have; settle says so.
func (l *laner) weights(n *ir.Node, a asked) {
	n.HW.Weights, n.HW.Port, n.HW.Burst, n.HW.Ram = "", 0, 0, ""
	where := a.weights
	if !outside(where) || !n.Op.Traits.Weighted || n.Op.Traits.PerChannel || n.HW.Style != ir.StyleFold {
		return
	}
	if where == "external" {
		where = l.plan.Memory.suits(n)
	}
	n.HW.Weights, n.HW.Port, n.HW.Burst = where, l.plan.Memory.AXIBits, l.plan.Memory.burstOf()
	if n.HW.Ram = l.plan.Memory.Ram; a.ram != "" {
		n.HW.Ram = a.ram
	}
	if n.HW.Ram == ramWords[0] {
		n.HW.Ram = ""
	}
}

// suits is where weights go that lie outside as suits the layer: what a sample uses once comes each time, if it is more
// than a buffer. Of several sets, which layers use by turns, two are in the chip at least.
func (m *MemoryPlan) suits(n *ir.Node) string {
	once, sets := unit.Sweeps(n)*n.HW.InRow() == 1, len(n.InTurns())
	if (once || sets > 2) && weightBits(n) > 2*m.burstOf()*m.AXIBits {
		return "stream"
	}
	return "hold"
}

// outside says that a word of a plan means a memory outside.
func outside(where string) bool { return where != "" && where != "rom" }

// weightBits is the bits of all weights of n, without what pads them.
func weightBits(n *ir.Node) int {
	t := n.Args[1].Type
	return t.Elems() * t.Format.Width()
}

// settle refuses or notes where weights cannot live outside although the plan asks for it: an error by the rule that
// says so, L0419, a note where it is the wish for all layers.
func (l *laner) settle(s *State, g *ir.Graph) {
	for _, n := range g.Nodes {
		if n.IsConst() || n.Op.Traits.Source {
			continue
		}
		a := l.rules(n)
		if a.ramFrom == "" && !outside(a.weights) {
			continue
		}
		u, err := s.plans().Of(n)
		if a.ramFrom != "" && err == nil && (u.Weights == nil || !u.Weights.Loaded()) {
			e := n.Errorf("L0419", "ram = %q: its weights are not loaded after reset", a.ram).WithNote("set by %s", a.ramFrom)
			l.errs = append(l.errs, e.WithHint(`say weights = "hold" beside it, or leave ram out of the rule`))
		}
		if !outside(a.weights) {
			continue
		}
		if err != nil || n.HW.Weights != "" && u.Weights != nil {
			continue // an error of the unit is time_units' to tell
		}
		cause := ""
		switch {
		case !n.Op.Traits.Weighted || n.Op.Traits.PerChannel:
			cause = n.Op.Name + " has no weights that a memory holds"
		case n.HW.Style == ir.StyleUnroll:
			cause = "its weights are constants in the logic of an unrolled unit"
		default:
			cause = fmt.Sprintf("the unit %s has no port for weights", u.Kind())
		}
		if n.HW.Weights, n.HW.Ram = "", ""; n.HW.Cache == "" {
			n.HW.Port, n.HW.Burst = 0, 0
		}
		if a.weightsFrom != "" {
			e := n.Errorf("L0419", "weights = %q: %s", a.weights, cause).WithNote("set by %s", a.weightsFrom)
			l.errs = append(l.errs, e.WithHint(`leave weights out of the rule, or say weights = "rom"`))
		} else if n.Op.Traits.Weighted && !n.Op.Traits.PerChannel {
			l.notes = append(l.notes, fmt.Sprintf(`%s keeps weights = "rom": %s`, n.Name, cause))
		}
	}
}

// portCost is what the port to a memory outside takes; nothing where no unit of g reads from there.
func portCost(units *unit.Cache, g *ir.Graph) (rtl.Cost, error) {
	bits, weights, caches, file, cache := 0, 0, 0, 0, 0
	for _, n := range g.Nodes {
		if n.HW.Weights == "" && n.HW.Cache == "" {
			continue
		}
		u, err := units.Of(n)
		if err != nil {
			return rtl.Cost{}, err
		}
		if u.Weights != nil {
			bits, weights, file = u.Weights.Port, weights+1, file+u.Weights.Bytes()
		}
		if u.Cache != nil {
			bits, caches, cache = u.Cache.Port, caches+1, cache+u.Cache.Bytes()
		}
	}
	if weights+caches == 0 {
		return rtl.Cost{}, nil
	}
	reads, err := rtl.ReadPort(weights, caches, bits, max(file, cache)).Facts()
	if err != nil || caches == 0 {
		return reads.Cost, err
	}
	writes, err := rtl.WritePort(caches, bits, max(file, cache)).Facts()
	return reads.Cost.Add(writes.Cost), err
}

// Traffic is the beats of weights that cross the memory port for a sample.
func (r *Report) Traffic() (beats int) {
	for _, u := range r.Units {
		beats += u.Traffic
	}
	return beats
}

// memory writes where weights live; the port is a comment where all are in the chip.
func (t *planText) memory(m *MemoryPlan) {
	t.line("\n[memory]")
	t.key(m.Weights != weightsWords[0], "weights", m.Weights, strings.Join(weightsWords, ", "))
	t.key(m.Ram != ramWords[0], "ram", m.Ram, strings.Join(ramWords, ", "))
	t.key(m.Cache != "" && m.Cache != cacheWords[0], "cache", cmp.Or(m.Cache, cacheWords[0]),
		strings.Join(cacheWords, ", ")+": keys and values of a decoder")
	t.key(m.AXIBits != defaultAXI, "axi_bits", m.AXIBits, "bits of the memory port")
	t.key(m.Burst != defaultBurst, "burst", m.Burst, "beats of a burst")
}
