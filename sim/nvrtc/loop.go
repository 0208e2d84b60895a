// SPDX-License-Identifier: Apache-2.0

package nvrtc

import (
	"fmt"
	"regexp"
	"strings"

	"lathe/cuda"
)

// Loop is what lies between the target of a backward branch and the last such branch to it: instructions First to Last,
// counted as those of Code, and the products of matrices among them, with their places.
type Loop struct {
	First, Last int
	Products    []Product
}

// Product is an instruction that multiplies matrices.
type Product struct {
	At       int
	Mnemonic string
}

// Span is instructions First to Last.
type Span struct{ First, Last int }

var (
	codeLabel  = regexp.MustCompile(`^\s*(\.L_x_\d+):`)
	branchTo   = regexp.MustCompile("`\\((\\.L_x_\\d+)\\)")
	isProducts = regexp.MustCompile(`^(HMMA|IMMA|HGMMA|IGMMA)\b`)

	setsPredicate = regexp.MustCompile(`^\s*(?:[A-Z0-9]+, )?(P\d)\b`) // among the first two operands
)

// loopWalk finds the loops of a kernel line by line.
type loopWalk struct {
	labels   map[string]int
	products []Product
	rare     rareWalk
}

// rareWalk finds the blocks that a vote decides on: what `@!P BRA end` skips, or what `@P BRA block` reaches behind
// `BRA end`.
type rareWalk struct {
	vote   string // the predicate of a vote
	block  string // where a block begins
	behind string // what the instruction before jumps to in any case
	end    string // where the block ends that is being read
}

func (w *loopWalk) label(c *Code, line string) {
	// A label stands before the instruction that it names.
	m := codeLabel.FindStringSubmatch(line)
	if m == nil {
		return
	}
	if w.labels == nil {
		w.labels = map[string]int{}
	}
	w.labels[m[1]] = -1
	r := &w.rare
	if r.vote = ""; r.end == m[1] {
		r.end = ""
	}
	if r.block == m[1] && r.end == "" {
		if _, back := w.labels[r.behind]; r.behind != "" && !back {
			r.begin(c, c.Instructions, r.behind)
		}
		r.block = ""
	}
}

// begin starts a block at instruction `first`, up to the label `end`.
func (r *rareWalk) begin(c *Code, first int, end string) {
	r.end = end
	c.Rare = append(c.Rare, Span{first, first - 1})
}

// skips says whether the next instruction is of a rare block, or begins one behind itself.
func (w *loopWalk) skips(c *Code, predicate, mnemonic, rest string) bool {
	r := &w.rare
	to, at, forwards := "", 0, false
	if m := branchTo.FindStringSubmatch(rest); m != nil && mnemonic == "BRA" {
		first, back := w.labels[m[1]]
		to, at, forwards = m[1], first, !back
	}
	if r.end != "" {
		block := &c.Rare[len(c.Rare)-1]
		if block.Last = c.Instructions; to == "" || forwards || at >= block.First {
			return true
		}
		// The vote leaves the loop that ends here: nothing of it is rare.
		r.end, c.Rare = "", c.Rare[:len(c.Rare)-1]
	}
	r.behind = ""
	if predicate == "" {
		r.behind = to
	}
	switch m := setsPredicate.FindStringSubmatch(rest); {
	case mnemonic == "VOTE.ANY" && m != nil:
		r.vote = m[1]
	case mnemonic == "R2P" || m != nil && m[1] == r.vote:
		r.vote = ""
	case r.vote != "" && forwards && predicate == "@!"+r.vote:
		r.begin(c, c.Instructions+1, to)
	case r.vote != "" && forwards && predicate == "@"+r.vote:
		r.block = to
	}
	return false
}

// step takes the next instruction that counts.
func (w *loopWalk) step(c *Code, predicate, mnemonic, rest string) {
	for name, at := range w.labels {
		if at < 0 {
			w.labels[name] = c.Instructions
		}
	}
	if w.skips(c, predicate, mnemonic, rest) {
		return
	}
	if isProducts.MatchString(mnemonic) {
		w.products = append(w.products, Product{At: c.Instructions, Mnemonic: mnemonic})
	}
	m := branchTo.FindStringSubmatch(rest)
	if m == nil || !strings.HasPrefix(mnemonic, "BRA") {
		return
	}
	first, there := w.labels[m[1]]
	if !there {
		return // forwards
	}
	l := Loop{First: first, Last: c.Instructions}
	for _, p := range w.products {
		if p.At >= first {
			l.Products = append(l.Products, p)
		}
	}
	for k := range c.Loops {
		if c.Loops[k].First == first {
			c.Loops[k] = l
			return
		}
	}
	c.Loops = append(c.Loops, l)
}

// Slots are the issue slots that the code takes for as many products as a budget has: those of the outermost loop with
// such products, or of the least of several, which are the main one and its ends. Loops within it turn until there are
// as many products. What a warp skips unless one of its lanes votes for it is rare, and does not count. It is an error
// where no loop has them, or where one within has none, so that nobody knows how often it turns.
func (c Code) Slots(b cuda.Loop) (int, error) {
	least, failed := 0, error(nil)
	for k, l := range c.Loops {
		if l.count(b.Mnemonic) == 0 || c.within(k) >= 0 {
			continue
		}
		slots, err := c.slots(k, b)
		if err != nil {
			failed = err
		} else if least == 0 || slots < least {
			least = slots
		}
	}
	if least == 0 && failed == nil {
		failed = fmt.Errorf("no loop has %s", b.Mnemonic)
	}
	if least > 0 {
		failed = nil
	}
	return least, failed
}

// slots are those of one loop.
func (c Code) slots(k int, b cuda.Loop) (int, error) {
	l := c.Loops[k]
	own, size, inner := l.count(b.Mnemonic), c.size(l), -1
	for at := range c.Loops {
		if c.within(at) != k {
			continue
		}
		if n := c.Loops[at].count(b.Mnemonic); n == 0 || inner >= 0 {
			return 0, fmt.Errorf("the loop with %s has another in it: unroll it", b.Mnemonic)
		} else {
			own -= n
		}
		size -= c.size(c.Loops[at])
		inner = at
	}
	if inner < 0 {
		if own%b.Count != 0 {
			return 0, fmt.Errorf("the loop has %d %s, which is no multiple of %d", own, b.Mnemonic, b.Count)
		}
		return (size + own/b.Count - 1) / (own / b.Count), nil
	}
	n := c.Loops[inner].count(b.Mnemonic)
	if b.Count <= own || (b.Count-own)%n != 0 {
		return 0, fmt.Errorf("the loop has %d %s, and %d in each turn of an inner one, which does not make %d", own,
			b.Mnemonic, n, b.Count)
	}
	rest, err := c.slots(inner, cuda.Loop{Count: n, Mnemonic: b.Mnemonic})
	return size + (b.Count-own)/n*rest, err
}

// size is how many instructions a turn of a loop takes, those of loops within it once.
func (c Code) size(l Loop) int {
	n := l.Last - l.First + 1
	for _, r := range c.Rare {
		if r.First >= l.First && r.Last <= l.Last {
			n -= r.Last - r.First + 1
		}
	}
	return n
}

// within is the smallest loop around loop k; -1 for none.
func (c Code) within(k int) int {
	at := -1
	for i, l := range c.Loops {
		if i == k || l.First > c.Loops[k].First || l.Last < c.Loops[k].Last {
			continue
		}
		if at < 0 || l.Last-l.First < c.Loops[at].Last-c.Loops[at].First {
			at = i
		}
	}
	return at
}

func (l Loop) count(mnemonic string) int {
	n := 0
	for _, p := range l.Products {
		if partsOf(mnemonic, p.Mnemonic) {
			n++
		}
	}
	return n
}
