// SPDX-License-Identifier: Apache-2.0

// Package mt draws the numbers of NumPy's RandomState, bit for bit, so that samplers repeat recorded studies: the
// Mersenne Twister MT19937 of Matsumoto and Nishimura (1998), and what RandomState makes of its words. Beside it stands
// the truncated normal distribution, drawn by its inverse.
package mt

// Sizes and constants of MT19937.
const (
	words  = 624
	middle = 397
	upper  = 0x80000000
	twist  = 0x9908b0df
)

// Generator is one stream of random numbers. It is not safe for concurrent use.
type Generator struct {
	state [words]uint32
	next  int
}

// New is the generator that numpy.random.RandomState(seed) is.
func New(seed uint32) *Generator {
	g := &Generator{}
	g.Seed(seed)
	return g
}

// Seed begins the stream of a seed.
func (g *Generator) Seed(seed uint32) {
	for i := range g.state {
		g.state[i] = seed
		seed = 1812433253*(seed^seed>>30) + uint32(i) + 1
	}
	g.next = words
}

// refill computes the next words of the state.
func (g *Generator) refill() {
	for i := range g.state {
		y := g.state[i]&upper | g.state[(i+1)%words]&^uint32(upper)
		z := g.state[(i+middle)%words] ^ y>>1
		if y&1 == 1 {
			z ^= twist
		}
		g.state[i] = z
	}
	g.next = 0
}

// Uint32 is the next word.
func (g *Generator) Uint32() uint32 {
	if g.next == words {
		g.refill()
	}
	y := g.state[g.next]
	g.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// Float64 is uniform in [0, 1), of 53 bits: two words.
func (g *Generator) Float64() float64 {
	a, b := g.Uint32()>>5, g.Uint32()>>6
	return (float64(a)*(1<<26) + float64(b)) / (1 << 53)
}

// Uniform lies between low and high.
func (g *Generator) Uniform(low, high float64) float64 {
	return low + (high-low)*g.Float64()
}

// Interval is a whole number from 0 to most, both included. It draws words until one lies within, and none for 0.
func (g *Generator) Interval(most uint32) uint32 {
	if most == 0 {
		return 0
	}
	mask := most
	for shift := 1; shift <= 16; shift *= 2 {
		mask |= mask >> shift
	}
	for {
		if v := g.Uint32() & mask; v <= most {
			return v
		}
	}
}

// Choice is the place of one of n equally likely things; n is at least 1.
func (g *Generator) Choice(n int) int { return int(g.Interval(uint32(n - 1))) }

// Shuffle puts n things into a random order.
func (g *Generator) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, int(g.Interval(uint32(i))))
	}
}

// Weighted are the places of n things drawn by their weights, one double each.
func (g *Generator) Weighted(weights []float64, n int) []int {
	sums := make([]float64, len(weights))
	sum := 0.0
	for i, w := range weights {
		sum += w
		sums[i] = sum
	}
	for i := range sums {
		sums[i] /= sum
	}
	out := make([]int, n)
	for k := range out {
		u := g.Float64()
		low, high := 0, len(sums)-1
		for low < high { // the first sum beyond u
			at := (low + high) / 2
			if sums[at] > u {
				high = at
			} else {
				low = at + 1
			}
		}
		out[k] = low
	}
	return out
}
