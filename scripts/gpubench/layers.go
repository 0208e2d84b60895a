// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/cuda"
	emit "lathe/emit/cuda"
	"lathe/frontend/source"
	"lathe/internal/driver"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/ref"
	"lathe/lower"
	"lathe/lower/kernels"
)

// layer is a transformer of one layer, in bf16, with random weights: what a whole pass of such models is made of.
type layer struct {
	name, config string
	tokens       int
	tensors      []weights
}

// weights are a tensor of a model: rows of cols values, or cols values.
type weights struct {
	name       string
	rows, cols int
}

// bert is a layer of BERT (Devlin and others, 2018) behind the embedding of positions, which it normalizes.
func bert(name string, hidden, heads, inner, tokens int) layer {
	l := layer{name: name, tokens: tokens, config: fmt.Sprintf(`{"model_type": "bert", "hidden_size": %d, `+
		`"num_attention_heads": %d, "num_hidden_layers": 1, "intermediate_size": %d, "vocab_size": 1, `+
		`"type_vocab_size": 1, "max_position_embeddings": %d}`, hidden, heads, inner, tokens)}
	l.tensors = []weights{{"embeddings.word_embeddings.weight", 1, hidden},
		{"embeddings.position_embeddings.weight", tokens, hidden}, {"embeddings.token_type_embeddings.weight", 1, hidden},
		{"embeddings.LayerNorm.weight", 0, hidden}, {"embeddings.LayerNorm.bias", 0, hidden}}
	add := func(name string, rows, cols int) {
		name = "encoder.layer.0." + name
		results := rows
		if rows == 0 { // a norm
			results = cols
		}
		l.tensors = append(l.tensors, weights{name + ".weight", rows, cols}, weights{name + ".bias", 0, results})
	}
	for _, part := range []string{"self.query", "self.key", "self.value", "output.dense"} {
		add("attention."+part, hidden, hidden)
	}
	add("intermediate.dense", inner, hidden)
	add("output.dense", hidden, inner)
	add("attention.output.LayerNorm", 0, hidden)
	add("output.LayerNorm", 0, hidden)
	return l
}

// llama is a layer of Llama 3 (Grattafiori and others, 2024) and the norm behind the last layer.
func llama(name string, hidden, heads, kv, inner, tokens int) layer {
	l := layer{name: name, tokens: tokens, config: fmt.Sprintf(`{"model_type": "llama", "hidden_size": %d, `+
		`"num_attention_heads": %d, "num_key_value_heads": %d, "num_hidden_layers": 1, "intermediate_size": %d, `+
		`"vocab_size": 1, "max_position_embeddings": %d, "rope_theta": 500000.0, "rms_norm_eps": 1e-5}`,
		hidden, heads, kv, inner, tokens)}
	shared := hidden / heads * kv
	l.tensors = []weights{{"embed_tokens.weight", 1, hidden}, {"norm.weight", 0, hidden}}
	for _, w := range []weights{{"self_attn.q_proj", hidden, hidden}, {"self_attn.k_proj", shared, hidden},
		{"self_attn.v_proj", shared, hidden}, {"self_attn.o_proj", hidden, hidden}, {"mlp.gate_proj", inner, hidden},
		{"mlp.up_proj", inner, hidden}, {"mlp.down_proj", hidden, inner}, {"input_layernorm", 0, hidden},
		{"post_attention_layernorm", 0, hidden}} {
		l.tensors = append(l.tensors, weights{"layers.0." + w.name + ".weight", w.rows, w.cols})
	}
	return l
}

// pass is a layer on a number of samples at a time.
type pass struct {
	layer
	samples int
}

// passes are those that are timed and whose names hold a text.
func passes(match string) (out []pass) {
	for _, l := range []layer{bert("bert-base", 768, 12, 3072, 128), llama("llama-8b", 4096, 32, 8, 14336, 128)} {
		for _, samples := range []int{1, 16} {
			if p := (pass{l, samples}); strings.Contains(p.name(), match) {
				out = append(out, p)
			}
		}
	}
	return out
}

func (p pass) name() string { return fmt.Sprintf("layer/%s/batch=%d", p.layer.name, p.samples) }

// write makes the folder of the model. Weights are within 0.04 of 0, or of 1 where they are factors of a norm.
func (l layer) write(dir string) error {
	type entry struct {
		DType   string `json:"dtype"`
		Shape   []int  `json:"shape"`
		Offsets [2]int `json:"data_offsets"`
	}
	entries, size := map[string]entry{}, 0
	for _, w := range l.tensors {
		shape, bytes := []int{w.cols}, 2*max(w.rows, 1)*w.cols
		if w.rows > 0 {
			shape = []int{w.rows, w.cols}
		}
		entries[w.name] = entry{"BF16", shape, [2]int{size, size + bytes}}
		size += bytes
	}
	header, err := json.Marshal(entries)
	if err != nil {
		return err
	}
	file := binary.LittleEndian.AppendUint64(make([]byte, 0, 8+len(header)+size), uint64(len(header)))
	file = append(file, header...)
	r := rand.New(rand.NewPCG(1, 2))
	for _, w := range l.tensors {
		middle := float32(0)
		if w.rows == 0 && strings.Contains(strings.ToLower(w.name), "norm") && strings.HasSuffix(w.name, "weight") {
			middle = 1
		}
		for range max(w.rows, 1) * w.cols {
			file = binary.LittleEndian.AppendUint16(file, uint16(math.Float32bits(middle+0.08*(r.Float32()-0.5))>>16))
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(l.config), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "model.safetensors"), file, 0o644)
}

// described is the case of the pass, yet without what it runs.
func (p pass) described(timed bool) cuda.Case {
	return cuda.Case{Name: p.name(), Shape: fmt.Sprintf("batch=%d tokens=%d", p.samples, p.tokens),
		Formats: "bf16 -> bf16", Timed: timed}
}

// design is the pass as kernels, and its graph.
func (p pass) design(ctx context.Context) (*ir.Graph, *emit.Design, error) {
	temporary, err := os.MkdirTemp("", "layer-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(temporary)                 // what was read stays mapped
	dir := filepath.Join(temporary, p.layer.name) // kernels name the file that they come from
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, nil, err
	}
	if err := p.write(dir); err != nil {
		return nil, nil, err
	}
	s := driver.Source{Model: dir, Transformer: source.Transformer{Seq: p.tokens, Inputs: []string{"inputs_embeds"}}}
	g, err := s.Import()
	if err != nil {
		return nil, nil, err
	}
	if g, _, err = lower.Kernels(ctx, g, kernels.Precision{Act: format.BF16, Weight: format.BF16},
		cuda.Portable(), kernels.Options{Options: s.Passes}); err != nil {
		return nil, nil, err
	}
	d, err := emit.Emit(g, emit.Options{Name: p.layer.name, Samples: p.samples, KeepInputs: true})
	return g, d, err
}

// made is the case of the pass, and the design that it runs.
func (p pass) made(ctx context.Context, timed bool) (c cuda.Case, d *emit.Design, err error) {
	g, d, err := p.design(ctx)
	if err != nil {
		return c, nil, err
	}
	demo, err := driver.DemoSamples(ctx, g, nil)
	if err != nil {
		return c, nil, err
	}
	c = p.described(timed)
	c.Source, c.Launches, c.Bytes = d.Source, d.Launches(p.samples), int64(len(d.Tables))
	var inputs []ref.Sample
	for i := range p.samples {
		inputs = append(inputs, demo.Inputs[i%len(demo.Inputs)])
	}
	c.Buffers = buffers(d, inputs)
	for _, port := range slices.Concat(d.Inputs, d.Outputs) {
		c.Bytes += c.Buffers[port.Codes].Bytes
	}
	for _, u := range d.Units {
		c.Flops += u.Flops * int64(p.samples)
	}
	c.Check = func(outputs [][]byte) cuda.Verdict { return compare(ctx, g, d, inputs, demo.Part, outputs) }
	return c, d, nil
}

// buffers are those of a design; what is neither constant nor input is computed.
func buffers(d *emit.Design, inputs []ref.Sample) []cuda.CaseBuffer {
	var out []cuda.CaseBuffer
	for i, b := range d.Buffers {
		out = append(out, cuda.CaseBuffer{Name: b.Name, Bytes: d.Size(i, len(inputs)), Output: i > 0})
	}
	out[0].Fill = func(into []byte) { copy(into, d.Tables) }
	for k, p := range d.Inputs {
		var values []*ir.Tensor
		for _, s := range inputs {
			values = append(values, s[k])
		}
		b := &out[p.Codes]
		b.Output, b.Fill = false, func(into []byte) {
			codes, _ := p.Encode(values)
			copy(into, codes)
		}
	}
	return out
}

// compare holds the first and the last sample to the reference: values may differ by a part of the largest.
func compare(ctx context.Context, g *ir.Graph, d *emit.Design, inputs []ref.Sample, part float64,
	computed [][]byte) cuda.Verdict {
	program, err := ref.New(g)
	if err != nil {
		return cuda.Verdict{Wrong: err.Error()}
	}
	v := cuda.Verdict{Tol: part, BitEqual: true}
	for _, i := range []int{0, len(inputs) - 1} {
		want, err := program.Run(ctx, inputs[i:i+1])
		if err != nil {
			return cuda.Verdict{Wrong: err.Error()}
		}
		for k, p := range d.Outputs {
			got := p.Decode(computed[written(d, p.Codes)], nil, len(inputs))[i]
			off, equal := distance(got.Floats, want[0][k].Floats)
			v.MaxErr, v.BitEqual = max(v.MaxErr, off), v.BitEqual && equal
			if !(off <= part) {
				v.Wrong = fmt.Sprintf("%s of sample %d differs by %g of its largest value, %g are allowed", p.Name, i, off, part)
			}
		}
	}
	return v
}

// distance is the largest difference as a part of the largest value that is wanted, NaN where either has one, and
// whether all are equal.
func distance(got, want []float32) (part float64, equal bool) {
	largest, most, equal := 0.0, 0.0, true
	for i, x := range want {
		largest, most = max(largest, math.Abs(float64(x))), max(most, math.Abs(float64(x)-float64(got[i])))
		equal = equal && x == got[i]
	}
	if equal {
		return 0, true
	}
	return most / largest, false
}

// written is the place of a buffer among those that are outputs of the case.
func written(d *emit.Design, buffer int) int {
	at := buffer - 1 // the tables are none
	for _, p := range d.Inputs {
		if p.Codes < buffer {
			at--
		}
	}
	return at
}
