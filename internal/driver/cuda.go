// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	library "lathe/cuda"
	"lathe/emit/cuda"
	"lathe/emit/cuda/host"
	"lathe/internal/workers"
	"lathe/ir"
	"lathe/ir/op/sequence"
	"lathe/ir/ref"
	"lathe/sim/gpu"
	"lathe/sim/nvrtc"
)

// compilers is how many compilations run at once: each takes about 100 MB.
const compilers = 2

// CompileCUDA compiles the kernels of d for the named architectures, and as PTX for every GPU, or for those on which
// alone they run, which is the last of the binaries. Errors L0934 for an unknown architecture, L0936 where the compiler
// refuses.
func CompileCUDA(ctx context.Context, c *nvrtc.Compiler, d *cuda.Design, archs []string, p Progress) ([]cuda.Binary,
	error) {
	for _, a := range archs {
		if _, err := library.FindArch(a); err != nil {
			return nil, err
		}
	}
	out := make([]cuda.Binary, len(archs)+1)
	var mu sync.Mutex
	begun := 0
	err := workers.Try(ctx, len(out), compilers, func(i int) (err error) {
		mu.Lock()
		p.report("compile kernels", begun, len(out))
		begun++
		mu.Unlock()
		if i < len(archs) {
			out[i], err = compileCubin(ctx, c, d, archs[i])
		} else {
			out[i], err = compilePTX(ctx, c, d)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func compileCubin(ctx context.Context, c *nvrtc.Compiler, d *cuda.Design, arch string) (cuda.Binary, error) {
	m, err := c.Compile(ctx, cuda.SourceFile, d.Source, arch)
	if err != nil {
		return cuda.Binary{}, err
	}
	b := cuda.Binary{Arch: arch, File: "kernels." + arch + ".cubin", Data: m.Cubin}
	for _, u := range d.All() { // in the order of the source
		seen := slices.ContainsFunc(b.Kernels, func(k cuda.Usage) bool { return k.Kernel == u.Kernel })
		if k, ok := m.Kernel(u.Kernel); ok && !seen {
			b.Kernels = append(b.Kernels, cuda.Usage{Kernel: k.Kernel, Registers: k.Registers,
				Spill: k.SpillStores + k.SpillLoads, Stack: k.Stack})
		}
	}
	return b, nil
}

func compilePTX(ctx context.Context, c *nvrtc.Compiler, d *cuda.Design) (cuda.Binary, error) {
	if d.Only != "" {
		m, err := c.Compile(ctx, cuda.SourceFile, d.Source, d.Only)
		if err != nil {
			return cuda.Binary{}, err
		}
		return cuda.Binary{Arch: cuda.PTXOnly + d.Only, File: cuda.PTXFile, Data: m.PTX}, nil
	}
	m, err := c.Compile(ctx, cuda.SourceFile, d.Source, library.PortablePTX)
	if err != nil {
		return cuda.Binary{}, err
	}
	ptx, err := nvrtc.LowerPTX(m.PTX)
	return cuda.Binary{Arch: library.PortablePTX, File: cuda.PTXFile, Data: ptx}, err
}

// ProgramOf is the binaries of a design as a device loads them.
func ProgramOf(d *cuda.Design, binaries []cuda.Binary) *gpu.Program {
	p := &gpu.Program{Name: d.Name}
	for _, b := range binaries {
		if strings.HasPrefix(b.Arch, "sm_") {
			p.Cubins = append(p.Cubins, gpu.Cubin{Arch: b.Arch, Data: b.Data})
		} else {
			p.PTX = b.Data
		}
	}
	return p
}

// WriteCUDA puts a design, its binaries and the programs that run them on samples into a folder, as Write does. missing
// says why there are no binaries.
func WriteCUDA(d *cuda.Design, binaries []cuda.Binary, missing string, s host.Samples, dir string) error {
	programs, err := host.Files(d, binaries, s)
	if err != nil {
		return err
	}
	files, err := d.Files(binaries, missing, programs)
	if err != nil {
		return err
	}
	return writeFolder(CUDA, files, dir)
}

// demoSamples is how many samples an emitted folder of kernels holds unless something else is asked for.
const demoSamples = 8

// partOfFloats is the part of the largest value of a sample by which float kernels may differ from the reference, as
// they add in another order.
const partOfFloats = 1e-5

// allowedPart is partOfFloats, or four steps of the 16 bits to which a graph rounds values after each operation, or of
// the blocks of its caches, relative to the largest of their values.
func allowedPart(g *ir.Graph) float64 {
	part := partOfFloats
	for _, n := range g.Nodes {
		if b, ok := n.Type.BlockFormat(); ok {
			if exp, _, ok := b.Element().Lattice(); ok {
				part = max(part, 4*math.Ldexp(1, exp))
			}
		}
		if h, ok := n.Type.Half(); ok {
			step := float64(h.Value(h.Bits(1)+1)) - 1
			part = max(part, 4*step)
		}
	}
	return part
}

// DemoSamples are what the demo of an emitted folder of kernels runs: the first of those given, else random ones of
// seed 0. Their outputs are those of the reference, where it does not compute for long.
func DemoSamples(ctx context.Context, g *ir.Graph, given []ref.Sample) (s host.Samples, err error) {
	s = host.Samples{Inputs: given[:min(len(given), demoSamples)], Part: allowedPart(g)}
	affordable := min(demoSamples, vectorWork/multiplications(g))
	switch {
	case len(given) > 0:
	case g.Stage == ir.StageFloat:
		s.Inputs = randomFloats(g, max(affordable, 1))
	default:
		if s.Inputs, err = RandomSamples(g, max(affordable, 1), 0); err != nil {
			return s, err
		}
	}
	if affordable >= len(s.Inputs) {
		s.Outputs, err = Evaluate(ctx, g, s.Inputs)
	}
	return s, err
}

// randomFloats draws samples of a float graph: values from -1 to 1, and whole numbers that it takes; nil for the inputs
// that are left out.
func randomFloats(g *ir.Graph, n int, without ...*ir.Node) []ref.Sample {
	samples := make([]ref.Sample, n)
	for k, in := range g.In {
		if slices.Contains(without, in) {
			for s := range samples {
				samples[s] = append(samples[s], nil)
			}
			continue
		}
		if isWhole(g, in.Type) {
			appendRandom(samples, g, in, uint64(k)<<32)
			continue
		}
		for s := range samples {
			r, t := rand.New(rand.NewPCG(uint64(k)<<32, uint64(s))), ir.NewTensor(ir.Float(in.Type.Shape...))
			for i := range t.Floats {
				t.Floats[i] = 2*r.Float32() - 1
			}
			samples[s] = append(samples[s], t.Entered(in.Type))
		}
	}
	return samples
}

// demoSteps is how many tokens an emitted folder of kernels computes one by one behind the first ones.
const demoSteps = 16

// Steps imports the model twice, on caches that have room for Transformer.Room tokens: the graph of the first Seq
// tokens, 128 or half of the room unless it is given, and that of one more token at a position.
func (s Source) Steps() (first, step *ir.Graph, err error) {
	if s.Transformer.Seq == 0 {
		const most = 128
		s.Transformer.Seq = max(1, min(s.Transformer.Room/2, most))
	}
	s.Transformer.First = true
	if first, err = s.Import(); err != nil {
		return nil, nil, err
	}
	s.Transformer.Seq, s.Transformer.First = 1, false
	step, err = s.Import()
	return first, step, err
}

// DemoSteps are DemoSamples of the first tokens, and of random ones behind them, as far as caches have room. Graphs are
// those of Steps, or made of them; their caches are inputs and outputs in one order. Samples have no values of caches
// and positions, which nobody sees, unless the reference computes.
func DemoSteps(ctx context.Context, first, step *ir.Graph) (s host.Samples, err error) {
	affordable := min(demoSamples, vectorWork/multiplications(first))
	before, c := cachesOf(first), cachesOf(step)
	s = host.Samples{Part: allowedPart(first), First: before.tokens}
	s.Inputs = randomFloats(first, max(affordable, 1), before.inputs...)
	if affordable > 0 {
		for _, sample := range s.Inputs {
			for _, n := range before.inputs {
				sample[slices.Index(first.In, n)] = ir.NewTensor(n.Type)
			}
		}
		if s.Outputs, err = Evaluate(ctx, first, s.Inputs); err != nil {
			return s, err
		}
	}
	values, drawn := s.Outputs, randomFloats(step, len(s.Inputs), append(c.inputs, c.position)...)
	for at := s.First; at < min(c.room, s.First+demoSteps); at++ {
		next := host.Step{}
		for i := range drawn {
			next.Inputs = append(next.Inputs, c.next(step, drawn[i], at, values, i))
		}
		if values != nil {
			if values, err = Evaluate(ctx, step, next.Inputs); err != nil {
				return s, err
			}
			next.Outputs = values
		}
		s.Steps = append(s.Steps, next)
	}
	return s, nil
}

// caches are the inputs of a graph that it writes in place, in order, with what it reads beside them: their room, the
// position, and how many tokens go there.
type caches struct {
	inputs       []*ir.Node
	position     *ir.Node
	room, tokens int
}

func cachesOf(g *ir.Graph) (c caches) {
	for _, n := range g.Nodes {
		if sequence.Updates(n.Op) {
			c.position, c.room, c.tokens = n.Args[2], n.Type.Shape[2], n.Args[1].Type.Shape[2]
			c.inputs = append(c.inputs, n.Args[0])
		}
	}
	slices.SortFunc(c.inputs, func(a, b *ir.Node) int { return slices.Index(g.In, a) - slices.Index(g.In, b) })
	return c
}

// next is sample i of one more token at a position: caches are the last outputs of the token before, if there are any,
// and tokens other ones in each step.
func (c caches) next(g *ir.Graph, drawn ref.Sample, at int, before []ref.Sample, i int) ref.Sample {
	sample := slices.Clone(drawn)
	for k, n := range g.In {
		cache := slices.Index(c.inputs, n)
		switch {
		case n == c.position:
			sample[k] = &ir.Tensor{Type: n.Type, Codes: []int64{int64(at)}}
		case cache >= 0 && before != nil:
			sample[k] = before[i][len(before[i])-len(c.inputs)+cache]
		case cache < 0 && isWhole(g, n.Type):
			sample[k] = &ir.Tensor{Type: n.Type}
			for _, v := range drawn[k].Codes {
				sample[k].Codes = append(sample[k].Codes, (v+int64(at))%max(int64(g.Positions(n)), 1))
			}
		}
	}
	return sample
}
