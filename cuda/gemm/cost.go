// SPDX-License-Identifier: Apache-2.0

package gemm

import (
	"math"

	"lathe/cuda"
)

// gpu is what the estimate of a configuration's time needs to know of an architecture, per multiprocessor and clock.
// Bandwidth is nine tenths of what NVIDIA's whitepaper gives for the largest device, over its multiprocessors and boost
// clock; products are nine tenths of the dense rate, six of Hopper's and Blackwell's, which mma.sync does not reach.
// The numbers only rank configurations.
type gpu struct {
	sms    int
	dram   float64 // bytes from memory
	l2     float64 // bytes from L2
	macs   float64 // bf16 products, as mma.sync reaches them
	shared int     // bytes of a multiprocessor
	limit  int     // bytes of a block
}

// gpuOf knows the capabilities of cuda.Archs.
func gpuOf(a cuda.Arch) gpu {
	g := gpu{sms: cuda.PeakOf(a).SMs, l2: 32, shared: a.SharedSM, limit: a.Shared}
	switch a.Capability {
	case 80:
		g.dram, g.macs = 9, 900
	case 86:
		g.dram, g.macs = 6, 450
	case 89:
		g.dram, g.macs = 3, 450
	case 90:
		g.dram, g.macs = 16.5, 1250
	case 100:
		g.dram, g.macs = 27, 1250
	case 120:
		g.dram, g.macs = 4, 450
	}
	return g
}

// work is one step of k of a block.
type work struct {
	bytes, macs, alu float64
	shared, threads  int
	streams          bool // loads go to registers, many at a time
}

// slots are the issue slots of a step of 64 k of the kernels for bf16, counted by thread: so many for each weight that
// a thread decodes, 1.28 a product with the loads of its operands, and 60 for copies, barrier and counters. A test
// holds them to what the loops have.
func (t tile) slots(decode float64) float64 {
	weights, products := t.bn/t.wn*2, t.bm/t.wm/16*(t.bn/t.wn/8)*4
	return float64(32*t.wm*t.wn) * (decode*float64(weights) + 1.28*float64(products) + 60)
}

// decoded are the issue slots of a weight in MXINT8 on tiles, thinSlots all slots of w8a16_thin over its weights.
const decoded, thinSlots = 2.94, 3.9

const (
	issue    = 128  // instructions of a multiprocessor and clock, counted by thread
	latency  = 900  // clocks from a load of memory to its use
	launched = 4000 // clocks that a further launch costs

	residentThreads = 512 // of a multiprocessor: its 65536 registers, at 128 a thread
)

// cost estimates the clocks of a product in `blocks` tiles of `steps` steps, its k range in `splits` parts; outputs are
// the elements of a part. The estimate is for ranking: what moves, multiplies and unpacks overlaps, and a block is
// filled before it works.
func (g gpu) cost(w work, blocks, splits, steps, outputs int) float64 {
	resident := min(g.shared/(w.shared+1024), residentThreads/w.threads)
	if w.shared > g.limit || resident < 1 {
		return 1e30
	}
	all := blocks * splits
	waves := float64(ceil(max(all, 1), g.sms*resident))
	together := float64(min(resident, ceil(max(all, 1), g.sms)))
	rate := g.dram * float64(g.sms) / float64(min(max(all, 1), g.sms)) // few blocks do not draw all of the bandwidth
	rate = min(rate, g.l2)
	if !w.streams {
		rate *= 0.8
	}
	step := together * max(w.bytes/rate, w.macs/g.macs, w.alu/issue)
	total := waves * (latency*2 + float64(ceil(steps, splits))*max(step, 40))
	if splits > 1 {
		total += launched + float64(outputs)*float64(splits)*8/(g.dram*float64(g.sms))
	}
	return total
}

// byteProduct is a product of bytes by tiles, 128 products along k a step.
type byteProduct struct {
	kernel  string
	m, n, k int
	// pitch is how many bytes of a row, or of a column, a step reads.
	pitch int
	// alu is how many operations beside the tensor cores each result takes for a block of 32 products.
	alu float64
}

// cost is that of a configuration.
func (p byteProduct) cost(t tile, g gpu) float64 {
	stage := (t.bm + t.bn) * p.pitch
	w := work{bytes: float64(stage), macs: float64(t.bm * t.bn * 64), alu: p.alu * float64(t.bm*t.bn*4),
		shared: t.stages * stage, threads: 32 * t.wm * t.wn}
	return g.cost(w, ceil(p.m, t.bm)*ceil(p.n, t.bn), 1, ceil(p.k, 128), p.m*p.n)
}

// cheapest is the configuration of least estimated time. Error L0990 where none fits.
func (p byteProduct) cheapest(tiles []tile, a cuda.Arch) (tile, error) {
	g, least, best := gpuOf(a), math.Inf(1), tile{}
	for _, t := range tiles {
		if c := p.cost(t, g); c < least {
			best, least = t, c
		}
	}
	if best.bm == 0 {
		return tile{}, refuse(p.kernel, "no configuration fits %s", a.Name)
	}
	return best, nil
}
