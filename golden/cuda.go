// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"context"

	"lathe/emit/cuda"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/ref"
	"lathe/sim/gpu"
)

// Bounds of the samples that are on a device at once. The emulated device gains nothing by many, and tells of its
// progress after each batch.
const (
	cudaBatch     = 4096
	emulatedBatch = 32
)

// CUDABatch is how many of so many samples are on a device at once, if its memory holds them.
func CUDABatch(device gpu.Device, samples int) int {
	if device.Name() == gpu.EmulatedName {
		return min(samples, emulatedBatch)
	}
	return min(samples, cudaBatch)
}

// RunCUDA evaluates samples with the kernels of d, compiled as p, on a device, and returns the outputs of each (or,
// with trace, the values of d.Traced). progress, if not nil, gets the number of samples done. ctx is looked at between
// batches. Errors are those of the device; L0977 where not even one sample fits its memory.
func RunCUDA(ctx context.Context, device gpu.Device, d *cuda.Design, p *gpu.Program, samples []ref.Sample, trace bool,
	progress func(done int)) (out []ref.Sample, err error) {
	if len(samples) == 0 {
		return nil, nil
	}
	size, err := fitting(device, d, len(samples))
	if err != nil {
		return nil, err
	}
	r := cudaRun{device: device, d: d, size: size, ports: d.Outputs}
	if trace {
		r.ports = d.Traced
	}
	defer func() { err = first(err, r.free()) }()
	if err := r.prepare(p); err != nil {
		return nil, err
	}
	for from := 0; from < len(samples); from += size {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		part, err := r.batch(samples[from:min(from+size, len(samples))])
		if err != nil {
			return nil, err
		}
		out = append(out, part...)
		if progress != nil {
			progress(len(out))
		}
	}
	return out, nil
}

// first is the first error.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// fitting is how many samples are on the device at once.
func fitting(device gpu.Device, d *cuda.Design, samples int) (int, error) {
	free, _, err := device.MemInfo()
	if err != nil {
		return 0, err
	}
	size := CUDABatch(device, samples)
	for size > 1 && d.Total(size) > free/2 { // the driver needs some for itself
		size /= 2
	}
	if need := d.Total(size); need > free {
		return 0, diag.New(diag.GPUMemory, device.Name(), "the kernels of %s need %d bytes for one sample, %d are free",
			d.Name,
			need, free).WithHint("take a device with more memory, or another engine")
	}
	return size, nil
}

type cudaRun struct {
	device  gpu.Device
	d       *cuda.Design
	code    gpu.Code
	size    int
	ports   []cuda.Port
	buffers []gpu.Buffer
}

// prepare loads the kernels, of which a graph that only reshapes has none, and allocates the buffers.
func (r *cudaRun) prepare(p *gpu.Program) (err error) {
	if len(r.d.Units) > 0 {
		if r.code, err = r.device.Load(p); err != nil {
			return err
		}
	}
	for i := range r.d.Buffers {
		b, err := r.device.Alloc(r.d.Size(i, r.size))
		if err != nil {
			return err
		}
		r.buffers = append(r.buffers, b)
	}
	if len(r.d.Tables) == 0 {
		return nil
	}
	return r.device.Write(r.buffers[0], r.d.Tables)
}

func (r *cudaRun) free() error {
	var failed error
	if r.code != nil {
		failed = r.device.Unload(r.code)
	}
	for _, b := range r.buffers {
		failed = first(failed, r.device.Free(b))
	}
	return failed
}

// batch runs the kernels once, on up to size samples.
func (r *cudaRun) batch(samples []ref.Sample) ([]ref.Sample, error) {
	for i, p := range r.d.Inputs {
		values := make([]*ir.Tensor, len(samples))
		for s := range samples {
			values[s] = samples[s][i]
		}
		codes, scales := p.Encode(values)
		if err := r.write(p.Codes, codes); err != nil {
			return nil, err
		}
		if err := r.write(p.Scales, scales); err != nil {
			return nil, err
		}
	}
	if r.code != nil {
		if err := r.device.Launch(r.code, r.buffers, r.d.Launches(len(samples))...); err != nil {
			return nil, err
		}
	}
	if err := r.device.Sync(); err != nil {
		return nil, err
	}
	out := make([]ref.Sample, len(samples))
	for _, p := range r.ports {
		codes, err := r.read(p.Codes, len(samples))
		if err != nil {
			return nil, err
		}
		scales, err := r.read(p.Scales, len(samples))
		if err != nil {
			return nil, err
		}
		for s, v := range p.Decode(codes, scales, len(samples)) {
			out[s] = append(out[s], v)
		}
	}
	return out, nil
}

// write fills the start of a buffer; nothing where there is none.
func (r *cudaRun) write(buffer int, data []byte) error {
	if buffer < 0 || len(data) == 0 {
		return nil
	}
	return r.device.Write(r.buffers[buffer], data)
}

func (r *cudaRun) read(buffer, samples int) ([]byte, error) {
	if buffer < 0 {
		return nil, nil
	}
	data := make([]byte, r.d.Size(buffer, samples))
	if len(data) == 0 {
		return data, nil
	}
	return data, r.device.Read(r.buffers[buffer], data)
}
