// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"context"
	"slices"
	"strings"
	"sync"

	kernels "lathe/cuda"
	"lathe/emit/cuda"
	"lathe/emit/cuda/host"
	"lathe/ir"
	"lathe/lower"
	"lathe/lower/fuse"
	"lathe/sim/gpu"
	"lathe/sim/nvrtc"
)

// Kernels is the graph that kernels of a float or quantized graph compute, a float one in precision p, and the borders
// between them: see lower.Kernels.
func Kernels(ctx context.Context, g *ir.Graph, p lower.Precision) (*ir.Graph, []fuse.Border, error) {
	g, err := Evaluable(g)
	if err != nil {
		return nil, nil, err
	}
	g, report, err := lower.Kernels(ctx, g, p, lower.Options{})
	if err != nil {
		return nil, nil, err
	}
	return g, report.Borders, nil
}

// compilers is how many compilations run at once: each takes about 100 MB.
const compilers = 2

// CompileCUDA compiles the kernels of d for the named architectures, and as the PTX that every GPU takes, which is the
// last of the binaries. Errors L0934 for an unknown architecture, L0936 where the compiler refuses.
func CompileCUDA(ctx context.Context, c *nvrtc.Compiler, d *cuda.Design, archs []string, p Progress) ([]cuda.Binary,
	error) {
	for _, a := range archs {
		if _, err := kernels.FindArch(a); err != nil {
			return nil, err
		}
	}
	out := make([]cuda.Binary, len(archs)+1)
	errs := make([]error, len(out))
	var group sync.WaitGroup
	work := make(chan int)
	for range min(compilers, len(out)) {
		group.Go(func() {
			for i := range work {
				if i < len(archs) {
					out[i], errs[i] = compileCubin(ctx, c, d, archs[i])
				} else {
					out[i], errs[i] = compilePTX(ctx, c, d)
				}
			}
		})
	}
	for i := range out {
		p.report("compile kernels", i, len(out))
		work <- i
	}
	close(work)
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func compileCubin(ctx context.Context, c *nvrtc.Compiler, d *cuda.Design, arch string) (cuda.Binary, error) {
	m, err := c.Compile(ctx, cuda.SourceFile, d.Source, arch)
	if err != nil {
		return cuda.Binary{}, err
	}
	b := cuda.Binary{Arch: arch, File: "kernels." + arch + ".cubin", Data: m.Cubin}
	for _, u := range d.Units { // in the order of the source
		seen := slices.ContainsFunc(b.Kernels, func(k cuda.Usage) bool { return k.Kernel == u.Kernel })
		if k, ok := m.Kernel(u.Kernel); ok && !seen {
			b.Kernels = append(b.Kernels, cuda.Usage{Kernel: k.Kernel, Registers: k.Registers,
				Spill: k.SpillStores + k.SpillLoads, Stack: k.Stack})
		}
	}
	return b, nil
}

func compilePTX(ctx context.Context, c *nvrtc.Compiler, d *cuda.Design) (cuda.Binary, error) {
	m, err := c.Compile(ctx, cuda.SourceFile, d.Source, kernels.PortablePTX)
	if err != nil {
		return cuda.Binary{}, err
	}
	ptx, err := nvrtc.LowerPTX(m.PTX)
	return cuda.Binary{Arch: kernels.PortablePTX, File: cuda.PTXFile, Data: ptx}, err
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
