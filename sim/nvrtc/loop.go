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

var (
	codeLabel  = regexp.MustCompile(`^\s*(\.L_x_\d+):`)
	branchTo   = regexp.MustCompile("`\\((\\.L_x_\\d+)\\)")
	isProducts = regexp.MustCompile(`^(HMMA|IMMA|HGMMA|IGMMA)\b`)
)

// loopWalk finds the loops of a kernel line by line.
type loopWalk struct {
	labels   map[string]int
	products []Product
}

func (w *loopWalk) label(line string) {
	// A label stands before the instruction that it names.
	if m := codeLabel.FindStringSubmatch(line); m != nil {
		if w.labels == nil {
			w.labels = map[string]int{}
		}
		w.labels[m[1]] = -1
	}
}

// step takes the next instruction that counts.
func (w *loopWalk) step(c *Code, mnemonic, rest string) {
	for name, at := range w.labels {
		if at < 0 {
			w.labels[name] = c.Instructions
		}
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
// as many products. It is an error where no loop has them, or where one within has none, so that nobody knows how often
// it turns.
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
	own, size, inner := l.count(b.Mnemonic), l.Last-l.First+1, -1
	for at := range c.Loops {
		if c.within(at) != k {
			continue
		}
		if n := c.Loops[at].count(b.Mnemonic); n == 0 || inner >= 0 {
			return 0, fmt.Errorf("the loop with %s has another in it: unroll it", b.Mnemonic)
		} else {
			own -= n
		}
		size -= c.Loops[at].Last - c.Loops[at].First + 1
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
