// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"lathe/cuda"
	emit "lathe/emit/cuda"
	"lathe/sim/gpu"
)

// Pass is how long a model takes on a GPU for one sample, in microseconds: each of its units, and all of them as one
// graph. Weights are real, inputs zeros, and what the cache holds it keeps.
type Pass struct {
	Units []float64
	Whole float64
}

// Pass measures the units of d, compiled as p.
func (o Protocol) Pass(t gpu.Timer, d *emit.Design, p *gpu.Program) (out Pass, err error) {
	if len(d.Units) == 0 {
		return out, nil
	}
	code, err := t.Load(p)
	if err != nil {
		return out, err
	}
	var buffers []gpu.Buffer
	defer func() {
		for _, b := range buffers {
			if e := t.Free(b); err == nil {
				err = e
			}
		}
		if e := t.Unload(code); err == nil {
			err = e
		}
	}()
	for i := range d.Buffers {
		b, err := t.Alloc(d.Size(i, 1))
		if err != nil {
			return out, err
		}
		buffers = append(buffers, b)
		if err := t.Fill(b, 0); err != nil {
			return out, err
		}
	}
	if err := t.Write(buffers[0], d.Tables); err != nil {
		return out, err
	}
	launches := d.Launches(1)
	for i := range launches {
		us, err := o.repeated(t, code, buffers, launches[i:i+1])
		if err != nil {
			return out, err
		}
		out.Units = append(out.Units, us)
	}
	out.Whole, err = o.repeated(t, code, buffers, launches)
	return out, err
}

// repeated is the median time of launches, of which a graph holds several rounds.
func (o Protocol) repeated(t gpu.Timer, code gpu.Code, buffers []gpu.Buffer, launches []cuda.Launch) (us float64,
	err error) {
	g, err := t.Capture(func() error {
		for range graphLength {
			if err := t.Launch(code, buffers, launches...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	defer func() {
		if e := g.Close(); err == nil {
			err = e
		}
	}()
	times, err := o.sample(t, g.Launch, g.Launch, graphLength)
	if err != nil {
		return 0, err
	}
	return quantile(times, 0.5), nil
}
