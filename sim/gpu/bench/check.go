// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"lathe/cuda"
	"lathe/sim/gpu"
)

// guard is how many bytes before and behind an operand must stay as they are.
const guard = 512

// poison fills outputs and guards.
const poison = 0xFF

// operands are the buffers of a case on a device, each between two guards.
type operands struct {
	whole, inner []gpu.Buffer
}

// round is n rounded up to a multiple of 256, so that what stands behind a guard is aligned.
func round(n int64) int64 { return (n + 255) / 256 * 256 }

// place allocates the operands of a case, poisoned.
func place(d gpu.Device, c *cuda.Case) (*operands, error) {
	o := &operands{}
	for i := range c.Buffers {
		n := c.Buffers[i].Bytes
		b, err := d.Alloc(guard + n + guard)
		if err != nil {
			_ = o.free(d) // the first error is the one to tell
			return nil, err
		}
		o.whole = append(o.whole, b)
		o.inner = append(o.inner, b.Slice(guard, n))
		if err := d.Fill(b, poison); err != nil {
			_ = o.free(d)
			return nil, err
		}
	}
	return o, nil
}

func (o *operands) free(d gpu.Device) error {
	var first error
	for _, b := range o.whole {
		if err := d.Free(b); first == nil {
			first = err
		}
	}
	o.whole, o.inner = nil, nil
	return first
}

// content is what a buffer holds before the launches.
func content(b *cuda.CaseBuffer) []byte {
	data := bytes.Repeat([]byte{poison}, int(b.Bytes))
	if b.Fill != nil {
		b.Fill(data)
	}
	return data
}

// load writes the inputs, and returns their hashes to compare with later; an output without content has none.
func (r *run) load(o *operands, c *cuda.Case) ([]string, error) {
	sums := make([]string, len(c.Buffers))
	for i := range c.Buffers {
		b := &c.Buffers[i]
		if b.Fill == nil && b.Output {
			continue
		}
		var data []byte
		r.alone(func() {
			data = content(b)
			sums[i] = digest(data)
		})
		if err := r.device.Write(o.inner[i], data); err != nil {
			return nil, err
		}
	}
	return sums, nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// verify reads everything back and has the case compare its outputs. The kernel must not have touched a guard or an
// input.
func (r *run) verify(o *operands, c *cuda.Case, sums []string) (v cuda.Verdict, err error) {
	var outputs [][]byte
	for i := range c.Buffers {
		b := &c.Buffers[i]
		all := make([]byte, o.whole[i].Bytes)
		if err := r.device.Read(o.whole[i], all); err != nil {
			return v, err
		}
		inner := all[guard : guard+b.Bytes]
		if at := slices.IndexFunc(all[:guard], isTouched); at >= 0 {
			return wrong("%d bytes before %s were written", guard-at, b.Name), nil
		}
		if at := slices.IndexFunc(all[guard+b.Bytes:], isTouched); at >= 0 {
			return wrong("byte %d after the end of %s was written", at, b.Name), nil
		}
		if b.Output {
			outputs = append(outputs, inner)
		} else if digest(inner) != sums[i] {
			return wrong("the input %s was written", b.Name), nil
		}
	}
	r.alone(func() { v = c.Check(outputs) })
	return v, nil
}

func isTouched(b byte) bool { return b != poison }

func wrong(format string, args ...any) cuda.Verdict {
	return cuda.Verdict{Wrong: fmt.Sprintf(format, args...)}
}

// measure checks a case, and times it where it is to be timed and was right.
func (r *run) measure(c *cuda.Case, rec *Record) (err error) {
	p, err := r.o.Program(c)
	if err != nil {
		return err
	}
	code, err := r.device.Load(p)
	if err != nil {
		return err
	}
	defer func() {
		if e := r.device.Unload(code); err == nil {
			err = e
		}
	}()
	r.describe(c, rec, p, code)
	o, err := place(r.device, c)
	if err != nil {
		return err
	}
	defer func() {
		if e := o.free(r.device); err == nil {
			err = e
		}
	}()
	sums, err := r.load(o, c)
	if err != nil {
		return err
	}
	if err := r.device.Launch(code, o.inner, c.Launches...); err != nil {
		return err
	}
	if err := r.device.Sync(); err != nil {
		return err
	}
	v, err := r.verify(o, c, sums)
	if err != nil {
		return err
	}
	rec.Correct = Correct{MaxErr: v.MaxErr, Tol: v.Tol, BitEqual: v.BitEqual}
	if v.Wrong != "" {
		rec.Status, rec.Error = "wrong", v.Wrong
		return nil
	}
	if !c.Timed || r.timer == nil || r.o.CheckOnly {
		return nil
	}
	before, err := o.outputs(r.device, c)
	if err != nil {
		return err
	}
	if err := r.time(c, rec, code, o); err != nil {
		return err
	}
	again, err := o.outputs(r.device, c)
	if err == nil && again != before {
		rec.Status, rec.Error = "wrong", "the outputs were others after many launches"
	}
	return err
}

// outputs is a hash of all outputs that do not depend on what they were before.
func (o *operands) outputs(d gpu.Device, c *cuda.Case) (string, error) {
	var all []byte
	for i := range c.Buffers {
		if !c.Buffers[i].Output || c.Buffers[i].Fill != nil {
			continue
		}
		data := make([]byte, c.Buffers[i].Bytes)
		if err := d.Read(o.inner[i], data); err != nil {
			return "", err
		}
		all = append(all, digest(data)...)
	}
	return digest(all), nil
}

// describe notes what was loaded and what the kernels use: the most of any.
func (r *run) describe(c *cuda.Case, rec *Record, p *gpu.Program, code gpu.Code) {
	rec.Image = code.Image()
	rec.Hash = digest(p.Image(rec.Image))
	for _, k := range code.Kernels() {
		for i := range c.Launches {
			if c.Launches[i].Kernel == k.Name {
				rec.Registers = max(rec.Registers, k.Registers)
				rec.Shared = max(rec.Shared, k.Shared+int(c.Launches[i].Shared))
			}
		}
	}
}
