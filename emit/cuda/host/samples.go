// SPDX-License-Identifier: Apache-2.0

package host

import (
	"encoding/binary"
	"math"
	"slices"

	"lathe/emit/cuda"
	"lathe/ir"
	"lathe/ir/ref"
)

const samplesFile = "samples.bin"

// Samples are what the demo runs: inputs, and the outputs of the reference; of those there may be none. Float values
// may differ from them by Part of the largest value of a sample. Inputs and outputs that are caches or positions are
// not kept.
type Samples struct {
	Inputs, Outputs []ref.Sample
	Part            float64
	// Steps are one token of all samples each, at positions from First on.
	Steps []Step
	First int
}

// Step are the samples of one more token.
type Step struct {
	Inputs, Outputs []ref.Sample
}

// encode is the text of the file, as demo.c reads it.
func (s Samples) encode(d *cuda.Design) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(s.Inputs)))
	b = binary.LittleEndian.AppendUint64(b, uint64(min(len(s.Outputs), 1)))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(s.Steps)))
	b = binary.LittleEndian.AppendUint64(b, uint64(s.First))
	for _, p := range d.Outputs {
		if p.Cache {
			continue
		}
		part := 0.0
		if p.Node.Type.IsFloat() {
			part = s.Part
		}
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(part))
		if p.Scales >= 0 {
			b = binary.LittleEndian.AppendUint64(b, 0)
		}
	}
	b = appendSamples(b, d.Inputs, s.Inputs)
	b = appendSamples(b, d.Outputs, s.Outputs)
	for _, t := range s.Steps {
		b = appendSamples(b, d.Step.Inputs, t.Inputs)
		b = appendSamples(b, d.Step.Outputs, t.Outputs)
	}
	return b
}

// appendSamples lays the values of ports out, all samples of the first one before those of the next.
func appendSamples(b []byte, ports []cuda.Port, samples []ref.Sample) []byte {
	if len(samples) == 0 {
		return b
	}
	for i, p := range ports {
		if p.Cache || p.Position {
			continue
		}
		values := make([]*ir.Tensor, len(samples))
		for s := range samples {
			values[s] = samples[s][i]
		}
		codes, scales := p.Encode(values)
		b = slices.Concat(b, codes, scales)
	}
	return b
}
