// SPDX-License-Identifier: Apache-2.0

package hf

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"

	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
)

// Sizes are those of the model that a folder describes.
func Sizes(dir string) (n source.NewModel, err error) {
	c, arch, _, err := describe(dir, "")
	if err != nil {
		return n, err
	}
	s := arch.sizes(c)
	return source.NewModel{Layers: s.layers, Heads: s.headCount, Hidden: s.hidden, Intermediate: s.inner}, c.err
}

// resize puts the sizes of a new model above those of the file, under all names that architectures have for them.
func (c *config) resize(n *source.NewModel) {
	c.over = map[string]int{}
	for _, size := range []struct {
		n    int
		keys []string
	}{
		{n.Layers, []string{"num_hidden_layers", "n_layers", "n_layer"}},
		{n.Heads, []string{"num_attention_heads", "n_heads", "n_head", "num_key_value_heads"}},
		{n.Hidden, []string{"hidden_size", "n_embd", "dim", "word_embed_proj_dim"}},
		{n.Intermediate, []string{"intermediate_size", "hidden_dim", "n_inner", "ffn_dim"}},
	} {
		for _, key := range size.keys {
			if size.n > 0 {
				c.over[key] = size.n
			}
		}
	}
	if v := c.find("head_dim"); v != nil && (n.Heads > 0 || n.Hidden > 0) { // it follows from the others
		delete(c.over, "head_dim")
		heads, hidden := c.count(1, "num_attention_heads"), c.count(1, "hidden_size")
		c.over["head_dim"] = c.divided(hidden, heads, "attention heads")
	}
}

// random is a new parameter, as transformers makes it: normal with the deviation of config.json, gains of norms 1,
// biases 0. It depends on the seed and the name alone.
func (m *model) random(name string, shape []int) *ir.Node {
	if n := m.w.used[name]; n != nil {
		return n
	}
	values := make([]float32, ir.Type{Shape: shape}.Elems())
	switch {
	case len(shape) > 1:
		h := fnv.New64a()
		h.Write([]byte(name))
		r := rand.New(rand.NewPCG(m.opts.New.Seed, h.Sum64()))
		deviation := m.positive(0.02, "initializer_range")
		for i := range values {
			values[i] = float32(r.NormFloat64() * deviation)
		}
	case !strings.HasSuffix(name, "bias"):
		for i := range values {
			values[i] = 1
		}
	}
	n, err := m.b.Stored(name, ir.FloatBlob(values), shape, ir.Parameter)
	if err != nil {
		m.fail(diag.At(err, diag.BadDimension, m.b.File))
		return m.none
	}
	m.w.used[name] = n
	return n
}

// passes says that a linear layer is left out of a new model. Error L0284 where it changes sizes.
func (m *model) passes(path string, in, out int) bool {
	if m.opts.New == nil || !slices.Contains(m.opts.New.Identity, path) {
		return false
	}
	m.passed = append(m.passed, path)
	if in != out {
		m.choice("%s has %d inputs and %d outputs: no identity can take its place", path, in, out)
	}
	return true
}

// leftOut refuses names of layers to leave out that the model does not have.
func (m *model) leftOut() {
	if m.opts.New == nil || m.err != nil {
		return
	}
	for _, path := range m.opts.New.Identity {
		if !slices.Contains(m.passed, path) {
			m.choice("there is no linear layer %q to leave out", path)
		}
	}
}
