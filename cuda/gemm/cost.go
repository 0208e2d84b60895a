// SPDX-License-Identifier: Apache-2.0

package gemm

import "lathe/cuda"

// gpu is what the estimate of a configuration's time needs to know of an architecture. Rates are per multiprocessor and
// clock, from the published sizes of the largest device of each.
type gpu struct {
	sms    int
	dram   float64 // bytes from memory
	l2     float64 // bytes from L2
	macs   float64 // bf16 products, as mma.sync reaches them
	shared int     // bytes of a multiprocessor
	limit  int     // bytes of a block
}

func gpuOf(a cuda.Arch) gpu {
	g := gpu{sms: 108, dram: 9, l2: 32, macs: 900, shared: a.SharedSM, limit: a.Shared}
	switch a.Capability {
	case 86:
		g.sms, g.dram, g.macs = 84, 6, 450
	case 89:
		g.sms, g.dram, g.macs = 142, 3, 450
	case 90:
		g.sms, g.dram, g.macs = 132, 16.5, 1250
	case 100:
		g.sms, g.dram, g.macs = 148, 27, 1250
	case 120:
		g.sms, g.dram, g.macs = 170, 4, 450
	}
	return g
}

// work is one step of k of a block.
type work struct {
	bytes, macs, alu float64
	shared, threads  int
	streams          bool // loads go to registers, many at a time
}

const (
	issue    = 128  // instructions of a multiprocessor and clock, counted by thread
	latency  = 900  // clocks from a load of memory to its use
	launched = 4000 // clocks that a further launch costs
)

// cost estimates the clocks of a product in `blocks` tiles of `steps` steps, its k range in `splits` parts; outputs are
// the elements of a part. The estimate is for ranking: what moves, multiplies and unpacks overlaps, and a block is
// filled before it works.
func (g gpu) cost(w work, blocks, splits, steps, outputs int) float64 {
	resident := min(g.shared/(w.shared+1024), 2048/w.threads, 512/w.threads)
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
