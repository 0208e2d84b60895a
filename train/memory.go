// SPDX-License-Identifier: Apache-2.0

package train

import (
	"runtime/debug"
	"slices"

	"lathe/internal/diag"
	"lathe/ir/hlo"
)

// stored are kinds whose operands and results lie in memory: compilers do not merge them with their neighbours.
var stored = []hlo.Kind{hlo.KindDot, hlo.KindConvolution, hlo.KindReduceWindow, hlo.KindGather, hlo.KindScatter,
	hlo.KindSort}

// Memory is about how many bytes a program needs at the least: its arguments, and at its fullest place what has been
// made for products, convolutions and look-ups, or by them, and is still read.
func Memory(p *hlo.Program) int64 {
	last, lies := make([]int, len(p.Ops)), make([]bool, len(p.Ops))
	for n, o := range p.Ops {
		whole := slices.Contains(stored, o.Kind)
		lies[n] = lies[n] || whole
		for _, a := range o.Operands {
			last[a] = n
			if whole {
				lies[source(p, a)] = true
			}
		}
		for _, r := range o.Regions {
			for _, v := range r.Results {
				last[v] = r.To - 1
			}
		}
	}
	for _, v := range p.Results {
		last[v] = len(p.Ops)
	}
	for n := len(p.Ops) - 1; n >= 0; n-- { // what is only seen in another shape is read where that is
		if s := source(p, n); s != n {
			last[s] = max(last[s], last[n])
		}
	}
	ends := make([][]int, len(p.Ops)+1)
	var now, most int64
	for n, o := range p.Ops {
		if lies[n] && o.Kind > hlo.KindConstant {
			now += bytesOf(o.Type)
			ends[last[n]] = append(ends[last[n]], n)
		}
		most = max(most, now)
		for _, e := range ends[n] {
			now -= bytesOf(p.Ops[e].Type)
		}
	}
	return given(p) + most
}

// given is how many bytes the arguments of a program have, which each of several devices has.
func given(p *hlo.Program) int64 {
	var n int64
	for _, a := range slices.Concat(p.Inputs, p.Weights) {
		n += bytesOf(a.Type)
	}
	return n
}

// source is the value that n is in another shape.
func source(p *hlo.Program, n int) int {
	for p.Ops[n].Kind == hlo.KindReshape {
		n = p.Ops[n].Operands[0]
	}
	return n
}

func bytesOf(t hlo.Type) int64 { return int64(t.Len()) * int64(t.DType.Bytes()) }

// large is the size of parameters whose copies give their memory back as soon as nobody reads them.
const large = 4 << 20

// giveBack returns memory that is free to the system, where parameters are large: preparing and saving take copies of
// them, and the device needs that memory.
func (t *Trainer) giveBack() {
	if 4*t.elements() > large {
		debug.FreeOSMemory()
	}
}

// needs is about how many bytes a program needs at the least, on all devices.
func (t *Trainer) needs(p *hlo.Program) int64 { return Memory(p) + int64(t.options.Devices-1)*given(p) }

// enough refuses training that needs more memory than there is.
func (t *Trainer) enough() error {
	need, free := t.needs(t.printed), t.options.Memory
	if free <= 0 || need <= free {
		return nil
	}
	e := diag.New(diag.TrainMemory, t.model.Graph().Name, "a step with batches of %d needs at least %s of memory, and %s"+
		" are free", t.plan.Batch, gigabytes(need), gigabytes(free))
	smaller := t.stepper
	for b := t.plan.Batch / 2; b > 0; b /= 2 {
		p := *t.plan
		p.Batch, p.Accumulate = b, t.plan.Accumulate*(t.plan.Batch/b)
		smaller.plan = &p
		if p.Batch%t.options.Devices > 0 {
			continue
		}
		if printed, err := smaller.program(t.start); err == nil && t.needs(printed) <= free {
			return e.WithHint("use --batch %d, with accumulate = %d in [train] for as many samples a step", b, p.Accumulate)
		}
	}
	return e.WithHint("train fewer parameters, with freeze in [train] or a [lora] table, or on a machine with more memory")
}

func gigabytes(n int64) string { return diag.Number(float64(n)/(1<<30), 3) + " GiB" }
