// SPDX-License-Identifier: Apache-2.0

package board

import (
	"lathe/emit"
	"lathe/internal/diag"
	"lathe/ir/ref"
	"lathe/sim"
)

// Frames are the bytes that a board takes for each sample: the frames of all inputs, one behind the other.
func Frames(d *emit.Design, samples []ref.Sample) [][]byte {
	frames := make([][]byte, len(samples))
	at := 0
	for _, p := range d.Ports {
		if !p.Input {
			continue
		}
		for i := range samples {
			frames[i] = append(frames[i], sim.PackStream(p, samples[i:i+1], at)...)
		}
		at++
	}
	return frames
}

// Results takes apart what a board gave for each sample. Error L0707 where a result has another length.
func Results(d *emit.Design, frames [][]byte) ([]ref.Sample, error) {
	samples := make([]ref.Sample, len(frames))
	for _, p := range d.Ports {
		if p.Input {
			continue
		}
		size := p.TData / 8 * p.Beats
		for i := range frames {
			values := sim.UnpackValues(frames[i], p.Type, p.Lanes, 1)
			if values == nil {
				return nil, diag.New(diag.SimulationEnded, "", "%d bytes are left of the results of sample %d, and %s has %d",
					len(frames[i]), i, p.Name, size)
			}
			samples[i], frames[i] = append(samples[i], values[0]), frames[i][size:]
		}
	}
	return samples, nil
}
