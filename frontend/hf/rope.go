// SPDX-License-Identifier: Apache-2.0

package hf

import (
	"math"

	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/sequence"
	"lathe/ir/op/whole"
)

// rope says how positions turn queries and keys.
type rope struct {
	size int // of a head
	// frequency j turns elements j and j + size/2.
	frequency []float32
}

// rope reads the settings of rotary embeddings, in the words of both major versions of the library. theta is the base
// that the class has by default.
func (m *model) rope(size int, theta float64) rope {
	table := m.find("rope_parameters", "rope_scaling")
	if v := table.Get("rope_theta"); !v.IsNull() {
		theta = m.positiveNumber(v, theta)
	} else {
		theta = m.positive(theta, "rope_theta")
	}
	kind := "default"
	for _, key := range []string{"type", "rope_type"} {
		if v := table.Get(key); !v.IsNull() {
			s, err := v.Str()
			m.fail(err)
			kind = s
		}
	}
	part := table.Get("partial_rotary_factor")
	if part.IsNull() {
		part = m.find("partial_rotary_factor")
	}
	if m.positiveNumber(part, 1) != 1 {
		m.fail(part.Errorf(diag.FolderSetting, "rotary embeddings of a part of each head are not supported"))
	}
	r := rope{size: size}
	for j := range size / 2 {
		power := float32(math.Pow(theta, float64(float32(2*j)/float32(size))))
		r.frequency = append(r.frequency, 1/power)
	}
	switch kind {
	case "default":
	case "linear":
		factor := m.scaling(table, "factor")
		for j := range r.frequency {
			r.frequency[j] /= float32(factor)
		}
	case "llama3":
		m.llama3(table, r.frequency)
	default:
		m.fail(table.Errorf(diag.FolderSetting, "rotary embeddings of type %s are not supported", source.Quote(kind)).
			WithHint("supported are default, linear and llama3"))
	}
	return r
}

// scaling reads a factor of scaled rotary embeddings.
func (m *model) scaling(table *source.JSON, key string) float64 {
	v, err := table.Need(key)
	m.fail(err)
	return m.positiveNumber(v, 1)
}

// llama3 slows the low frequencies by a factor and leaves the high ones, with a slope in between (Llama 3.1).
func (m *model) llama3(table *source.JSON, frequency []float32) {
	factor, low := m.scaling(table, "factor"), m.scaling(table, "low_freq_factor")
	high, before := m.scaling(table, "high_freq_factor"), m.scaling(table, "original_max_position_embeddings")
	if high <= low {
		m.fail(table.Errorf(diag.BadAttribute, "high_freq_factor %g is not above low_freq_factor %g", high, low))
		return
	}
	for j, f := range frequency {
		turns := before * float64(f) / (2 * math.Pi) // within the length that the model was first trained on
		smooth := min(max((turns-low)/(high-low), 0), 1)
		frequency[j] = float32((1-smooth)*float64(f)/factor + smooth*float64(f))
	}
}

// rotate turns q or k [batch, heads, tokens, size] by the positions of the tokens.
func (m *model) rotate(path string, x *ir.Node, r rope) *ir.Node {
	if m.angles == nil {
		m.angles = m.turns(r)
	}
	args := append([]*ir.Node{x}, m.angles...)
	if m.place != nil {
		args = append(args, m.place)
	}
	return m.emit(path, "apply_rotary_pos_emb", sequence.Rotary, &sequence.RotaryAttrs{}, args...)
}

// turns are the cosines and sines of the positions: tables, of all that caches have room for, or computed from the
// input position_ids.
func (m *model) turns(r rope) []*ir.Node {
	half, name := len(r.frequency), m.root+"rotary_emb"
	m.module(name, "RotaryEmbedding")
	if in := m.input("position_ids"); in != nil {
		x := m.emit(name+".float", "to", whole.Convert, &whole.ConvertAttrs{To: ir.F32}, in)
		x = m.reshape(name+".view", x, m.batch, m.seq, 1)
		x = m.mul(name, x, m.constant(name+".inv_freq", ir.FloatBlob(r.frequency), 1, 1, half))
		cos := m.emit(name+".cos", "cos", curve.Cos, nil, x)
		return []*ir.Node{cos, m.emit(name+".sin", "sin", curve.Sin, nil, x)}
	}
	count := m.seq
	if m.room > 0 {
		count = m.room
	}
	if m.err != nil || count > maxTurns/half {
		return []*ir.Node{m.bound("%d tokens have too many angles", count), m.none}
	}
	cos, sin := make([]float32, count*half), make([]float32, count*half)
	for t := range count {
		for j, f := range r.frequency {
			angle := float64(float32(t+max(m.past, 0)) * f) // the library multiplies in float32
			cos[t*half+j], sin[t*half+j] = float32(math.Cos(angle)), float32(math.Sin(angle))
		}
	}
	return []*ir.Node{m.constant(name+".cos", ir.FloatBlob(cos), count, half),
		m.constant(name+".sin", ir.FloatBlob(sin), count, half)}
}
