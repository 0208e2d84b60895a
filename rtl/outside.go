// SPDX-License-Identifier: Apache-2.0

package rtl

import (
	"fmt"
	"math/bits"
	"slices"

	"lathe/internal/diag"
	"lathe/ir/target"
)

// Outside are the weights of a unit that lie outside of it: in a memory outside of the design, or in a ROM that is
// checked. The unit's module then has ports for them; a module beside it fetches words through the port that the design
// shares, or has the ROM.
type Outside struct {
	// Module is mem_stream, where words come each time that they are used, mem_hold, where they stay in the chip, or
	// mem_checked.
	Module string
	// Image has the words, those of one set after those of the other. Width and Depth are their bits and how many a set
	// has.
	Image        Image
	Width, Depth int
	// Sets is how many layers share the unit, each with a set of its own, Sweeps how often a set is used before the next
	// one. Where Swap is set, two of several sets are in the chip: one that is used and the next one.
	Sets, Sweeps int
	Swap         bool
	// Port is the bits of a beat, Burst the beats of a burst, Buffer those that are held or under way; 0 of a ROM.
	Port, Burst, Buffer int
	// Style is the memory in the chip: "auto", "block", "distributed" or "ultra".
	Style string
}

// Fed is the suffix of modules whose weights come by ports: the module without it has them in a ROM, its instance
// u_weights.
const Fed = "_fed"

const romInstance = "u_weights"

// CanFeed says that the weights of u are the words of a ROM that can be replaced by a memory outside.
func (u *Unit) CanFeed() bool {
	if u == nil || u.Module == "" {
		return false
	}
	_, err := Lookup(u.Module + Fed)
	return err == nil && slices.ContainsFunc(u.Images, isWeights)
}

func isWeights(im Image) bool { return im.Param == "WEIGHTS" }

// holdBurst is the beats of a burst of weights that are read once: how long that takes matters to nobody.
const holdBurst = 16

// Feed is u, for which CanFeed, with its weights outside, by a way: "hold" or "stream", over a port of so many bits, in
// bursts of that many beats, or "check". Of weights that are streamed, but of which layers use several sets by turns,
// each set more than once in a row, two sets are held. Errors are those of Lookup and of the header.
func (u *Unit) Feed(way string, port, burst int) (*Unit, error) {
	h, err := Lookup(u.Module)
	if err != nil {
		return nil, err
	}
	_, rom, err := h.inside(romInstance, h.derived(u.Params))
	if err != nil {
		return nil, err
	}
	if rom["WIDTH"] < 1 || rom["DEPTH"] < 1 {
		return nil, diag.New(diag.ModuleTiming, "", "the header of %s does not say how large %s is", u.Module, romInstance)
	}
	o := &Outside{Module: "mem_stream", Width: rom["WIDTH"], Depth: rom["DEPTH"], Sets: max(rom["SETS"], 1),
		Sweeps: max(rom["SWEEPS"], 1), Port: port, Burst: burst, Style: "auto"}
	switch {
	case way == "check":
		o.Module, o.Port, o.Burst = checkedROM, 0, 0
	case way == "hold":
		o.Module, o.Burst = "mem_hold", min(burst, holdBurst)
	case o.Sets > 1 && o.Sweeps > 1:
		o.Module, o.Swap = "mem_hold", true
	}
	o.Buffer = 2 * o.Burst
	fed := *u
	fed.Module, fed.Weights, fed.Params, fed.Images = u.Module+Fed, o, nil, nil
	for _, p := range u.Params {
		if p.Name != "ROM_STYLE" {
			fed.Params = append(fed.Params, p)
			continue
		}
		o.Style = p.Value[1 : len(p.Value)-1]
	}
	for _, im := range u.Images {
		if isWeights(im) {
			o.Image = im
		} else {
			fed.Images = append(fed.Images, im)
		}
	}
	return &fed, nil
}

// derived is the scope of the header with what its body defines.
func (h *Header) derived(params []Param) map[string]int {
	env := h.scope(params)
	h.derive(env)
	return env
}

// Params are those of Module but for the place in memory, AT, AT_W and SUM, or what the ROM has.
func (o *Outside) Params() []Param {
	if o.Checked() {
		return o.romParams()
	}
	u := NewUnit(o.Module, "WIDTH", o.Width, "DEPTH", o.Depth, "BITS", o.Port, "BURST", o.Burst, "BUFFER", o.Buffer)
	if o.Sets > 1 {
		u.With("SETS", o.Sets, "TURNS", o.Sweeps)
	}
	if o.Sets > 1 && o.Held() {
		u.With("ALL", 1)
	}
	if o.Loaded() {
		u.With("STYLE", o.Style)
	}
	return u.Params
}

// Loaded says that words are written into a RAM in the chip, from which they are read.
func (o *Outside) Loaded() bool { return o.Module == "mem_hold" }

// Held says that all words stay in the chip.
func (o *Outside) Held() bool { return o.Loaded() && !o.Swap }

// Way is how words come: "stream", each time that they are used; "swap", a set at a time, while another one is used;
// "hold", once.
func (o *Outside) Way() string {
	switch {
	case o.Checked():
		return "check"
	case o.Swap:
		return "swap"
	case o.Held():
		return "hold"
	}
	return "stream"
}

// PerBeat is how many words lie in a beat, 0 where one takes several.
func (o *Outside) PerBeat() int { return o.Port / o.Width }

// Beats is how many beats the words of a set take.
func (o *Outside) Beats() int {
	if per := o.PerBeat(); per > 0 {
		return (o.Depth + per - 1) / per
	}
	return o.Depth * ((o.Width + o.Port - 1) / o.Port)
}

// Traffic is the beats that cross the port while sets are used that often, in all turns of a sample together.
func (o *Outside) Traffic(uses int) int {
	switch {
	case o.Held() || o.Checked():
		return 0
	case o.Swap:
		return (o.Beats()*uses + o.Sweeps - 1) / o.Sweeps
	}
	return o.Beats() * uses
}

// Demand is the beats that cross the port for each cycle in which the unit works.
func (o *Outside) Demand() float64 {
	return float64(o.Traffic(o.Sweeps)) / float64(o.Depth*o.Sweeps)
}

// Page is where regions of memory begin, in bytes: at multiples of it.
const Page = 4096

// Bytes is the size of the region: whole pages for each set.
func (o *Outside) Bytes() int { return o.Sets * o.stride() }

// stride is the bytes from a set to the next one.
func (o *Outside) stride() int { return (o.Beats()*o.Port/8 + Page - 1) / Page * Page }

// checkedROM is the module of a ROM that is read once after reset, before it is used.
const checkedROM = "mem_checked"

// Checked says that the words are in a ROM that is checked before it is used.
func (o *Outside) Checked() bool { return o.Module == checkedROM }

// romParams are those of checkedROM but for its image.
func (o *Outside) romParams() []Param {
	u := NewUnit(o.Module, "WIDTH", o.Width, "DEPTH", o.Depth)
	if o.Sets > 1 {
		u.With("SETS", o.Sets, "SWEEPS", o.Sweeps)
	}
	return u.With("STYLE", o.Style).Params
}

// Sealed are the parameters that bind the image of a checked ROM to the instance whose file it is.
func (o *Outside) Sealed(im Image, instance string) []Param {
	im.Param = "IMAGE"
	params := im.Params(instance)
	params[0].Value = `"` + o.Image.FileName(instance) + `"`
	return append(params, Param{Name: "SIGN", Value: fmt.Sprintf("32'h%08x", o.sign(im))})
}

// sign is what the register of checkedROM holds when it has read the image.
func (o *Outside) sign(im Image) uint32 {
	var words []uint32 // each folded into one limb
	err := im.limbs(func(word []uint64) error {
		fold := uint32(0)
		for j := range 2 * len(word) {
			fold ^= bits.RotateLeft32(uint32(word[j/2]>>(32*(j%2))), j)
		}
		words = append(words, fold)
		return nil
	})
	if err != nil { // of visit alone
		return 0
	}
	sweeps, sign := o.Sweeps, ^uint32(0)
	if o.Sets == 1 {
		sweeps = 1
	}
	for set := range slices.Chunk(words, o.Depth) {
		for range sweeps {
			for _, w := range set {
				sign = (sign<<1 | (sign>>31^sign>>21^sign>>1^sign)&1) ^ w
			}
		}
	}
	return sign
}

// cost is what fetches the words.
func (o *Outside) cost(f *target.Family) (Cost, error) {
	h, err := Lookup(o.Module)
	if err != nil {
		return Cost{}, err
	}
	return h.Cost(o.Params(), f)
}

// ReadPort is what all comes through that lies in a memory outside: so many weights, and behind them caches, ask it for
// beats of so many bits, of so many bytes.
func ReadPort(weights, caches, bits, bytes int) *Unit {
	u := NewUnit("axi_read", "CLIENTS", weights+caches, "BITS", bits, "AT_W", AddressWidth(bits, bytes))
	if caches > 0 {
		u.With("LATE", weights)
	}
	return u
}

// AddressWidth is the bits of an address in beats.
func AddressWidth(bits, bytes int) int { return max(Clog2(bytes*8/bits), 1) }

// Cache are the keys or values of a unit of attention in a memory outside of the design, which a decoder writes and
// reads there. The unit then takes words of them as its second stream, from mem_cache, which stands in front of it.
type Cache struct {
	// Width is the bits of a beat of a token, Beats those of a head; Lanes is how many tokens are read at once.
	Width, Beats, Lanes int
	// Tokens is the most of a sequence, Heads the heads of a query, Groups those of keys and values.
	Tokens, Heads, Groups int
	// Port is the bits of a beat of the memory, Burst the beats of a burst.
	Port, Burst int
}

// feedInstance is the instance in units of attention that has the store.
const feedInstance = "u_feed"

// Outside is u with its keys or values in a memory outside, behind a port of so many bits, in bursts of that many
// beats; nil where u has none that can lie there: only queries that see all tokens up to their own have.
func (u *Unit) Outside(port, burst int) (*Unit, error) {
	if u == nil || u.Module == "" {
		return nil, nil
	}
	h, err := Lookup(u.Module)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(h.Params, func(p ParamDecl) bool { return p.Name == "FED" }) {
		return nil, nil
	}
	_, feed, err := h.inside(feedInstance, h.derived(u.Params))
	if err != nil {
		return nil, err
	}
	if feed["CAUSAL"] != 1 || feed["OFFSET"] != 0 || feed["QUERIES"] != feed["KEYS"] {
		return nil, nil
	}
	fed := *u
	fed.Params = slices.Clone(u.Params)
	fed.With("FED", 1)
	fed.Cache = &Cache{Width: feed["B_W"], Beats: feed["BEATS"], Lanes: feed["R"], Tokens: feed["KEYS"],
		Heads: feed["HEADS"], Groups: feed["GROUPS"], Port: port, Burst: burst}
	return &fed, nil
}

// Params are those of mem_cache but for the place in memory: AT, AT_W.
func (c *Cache) Params() []Param {
	return NewUnit("mem_cache", "WIDTH", c.Width, "TOKENS", c.Tokens, "HEADS", c.Heads, "GROUPS", c.Groups, "BEATS",
		c.Beats, "LANES", c.Lanes, "BITS", c.Port, "BURST", c.Burst).Params
}

// Slot is the bytes that a beat of a token takes: a power of two.
func (c *Cache) Slot() int { return 1 << Clog2((c.Width+7)/8) }

// PerBeat is how many words, each of Lanes slots, lie in a beat of the memory; 0 where one takes several.
func (c *Cache) PerBeat() int {
	if per := c.Port / 8 / c.Slot() >> Clog2(c.Lanes); per > 0 {
		return per
	}
	if c.Lanes*c.Slot()*8 <= c.Port {
		return 1
	}
	return 0
}

// row is the beats of the memory that a query reads of a head of so many tokens.
func (c *Cache) row(tokens int) int {
	words := (tokens + c.Lanes - 1) / c.Lanes * c.Beats
	if per := c.PerBeat(); per > 0 {
		return (words + per - 1) / per
	}
	return words * c.WordBeats()
}

// WordBeats is the beats of the memory that a word takes, at least 1.
func (c *Cache) WordBeats() int { return (c.Lanes*c.Slot()*8 + c.Port - 1) / c.Port }

// Stride is the beats of the memory from a head to the next one, of all tokens.
func (c *Cache) Stride() int { return (c.row(c.Tokens) + c.Burst - 1) / c.Burst * c.Burst }

// Bytes is the size of the region.
func (c *Cache) Bytes() int { return c.Groups * c.Stride() * c.Port / 8 }

// Reads is the beats of the memory that the query of a token reads, of which so many are there with it: those of a head
// once for each head of the query.
func (c *Cache) Reads(tokens int) int { return c.Heads * c.row(tokens) }

// Sequence is Reads of all tokens of a whole sequence.
func (c *Cache) Sequence() (beats int) {
	for t := range c.Tokens {
		beats += c.Reads(t + 1)
	}
	return beats
}

// Writes is the beats of the memory in which a token is written.
func (c *Cache) Writes() int { return c.Groups * c.Beats * max(c.Slot()*8/c.Port, 1) }

// cost is what writes and fetches.
func (c *Cache) cost(f *target.Family) (Cost, error) {
	h, err := Lookup("mem_cache")
	if err != nil {
		return Cost{}, err
	}
	return h.Cost(c.Params(), f)
}

// WritePort is what all caches in a memory outside are written through: clients that put beats of so many bits, in a
// memory of so many bytes.
func WritePort(clients, bits, bytes int) *Unit {
	return NewUnit("axi_write", "CLIENTS", clients, "BITS", bits, "AT_W", AddressWidth(bits, bytes))
}
