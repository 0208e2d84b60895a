// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"

	library "lathe/cuda"
	"lathe/emit/cuda"
	"lathe/golden"
	"lathe/internal/driver"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/ref"
	"lathe/sim/gpu"
	"lathe/sim/gpu/record"
)

// runKernels runs the kernels of a graph on a GPU, or else on the emulated device. Where r says so, it leaves a
// recording, with machine code for the architectures that r names.
func (a *App) runKernels(ctx context.Context, p *progress, g *ir.Graph, samples []ref.Sample, r runFlags) (
	out []ref.Sample, err error) {
	device, note, err := gpu.Choose(gpu.DriverOptions{}, emulation(ctx))
	if err != nil {
		return nil, err
	}
	*r.device = fmt.Sprintf("%s (%s)", device.Name(), device.Arch())
	d, err := cuda.Emit(g, cuda.Options{Version: Version, Samples: golden.CUDABatch(device, len(samples)),
		BatchInvariant: r.invariant, AllowSlow: true})
	if err != nil {
		_ = device.Close() // the first error is the one to tell
		return nil, err
	}
	if r.record != "" {
		if device, err = recording(device, d, g, r.record); err != nil {
			return nil, err
		}
	}
	defer func() { // a recording appears when it is closed, and only of a whole run
		if r, ok := device.(*record.Recorder); ok && err != nil {
			r.Fail(err)
		}
		if e := device.Close(); err == nil {
			err = e
		}
	}()
	var archs []string
	if note != "" {
		fmt.Fprintf(a.Err, "note: %s\n", note)
	} else if arch, err := library.FindArch(device.Arch()); err == nil {
		archs = []string{arch.Name} // other GPUs take the PTX
	}
	if r.record != "" {
		archs = r.archs
	}
	binaries, err := a.compileKernels(ctx, d, archs, r.record == "")
	if err != nil {
		return nil, err
	}
	return golden.RunCUDA(ctx, device, d, driver.ProgramOf(d, binaries), samples, false,
		func(n int) { p.Report("kernels", n, len(samples)) })
}

// recording writes down what the kernels of d ask of a device. Codes must be the same on every device; outputs in
// floats may differ by what docs/gpu.md says of them.
func recording(device gpu.Device, d *cuda.Design, g *ir.Graph, folder string) (gpu.Device, error) {
	r, err := record.New(device, folder)
	if err != nil {
		_ = device.Close() // the first error is the one to tell
		return nil, err
	}
	share := 1e-5
	for _, n := range g.Nodes {
		switch n.Type.Format {
		case format.BF16:
			share = max(share, 0x1p-6)
		case format.F16:
			share = max(share, 0x1p-9)
		}
	}
	buffers := make([]record.Tolerance, len(d.Buffers))
	for _, p := range d.Outputs {
		if p.Node.Type.IsFloat() {
			buffers[p.Codes] = record.Tolerance{Type: string(p.Store), OfMax: share}
		}
	}
	r.AllowNext(buffers)
	return r, nil
}
