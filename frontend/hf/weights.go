// SPDX-License-Identifier: Apache-2.0

package hf

import (
	"slices"
	"strings"

	"lathe/frontend/safetensors"
	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
)

// weights are the tensors of a folder by name, and what became of them.
type weights struct {
	tensors map[string]*safetensors.Tensor
	// base is the prefix that a model with a head gives to the names of the bare model: "bert.".
	base   string
	used   map[string]*ir.Node
	absent []string // names that the model needs and the files lack
	odd    diag.List
	left   map[string]bool // names of parameters that the graph does not need
}

func newWeights(all []safetensors.Tensor, base string) *weights {
	w := &weights{tensors: make(map[string]*safetensors.Tensor, len(all)), base: base, used: map[string]*ir.Node{},
		left: map[string]bool{}}
	for i := range all {
		w.tensors[all[i].Name] = &all[i]
	}
	return w
}

// prefixed says that the files name the tensors of the bare model with its prefix.
func (w *weights) prefixed() bool {
	for name := range w.tensors {
		if strings.HasPrefix(name, w.base) {
			return true
		}
	}
	return false
}

// old are the endings of the parameters of norms in files of before 2019.
var old = strings.NewReplacer("LayerNorm.weight", "LayerNorm.gamma", "LayerNorm.bias", "LayerNorm.beta")

// find returns the tensor called name, with the prefix of the bare model or without it; nil if there is none.
func (w *weights) find(name string) *safetensors.Tensor {
	bare := strings.TrimPrefix(name, w.base)
	for _, n := range []string{name, bare, w.base + bare, old.Replace(name), old.Replace(bare)} {
		if t := w.tensors[n]; t != nil {
			return t
		}
	}
	return nil
}

// skip notes a parameter that the graph leaves out, such as the table of embeddings where it takes embedded tokens.
func (w *weights) skip(name string) {
	if t := w.find(name); t != nil {
		w.left[t.Name] = true
	}
}

// has says that there is a tensor called name.
func (w *weights) has(name string) bool { return w.find(name) != nil }

// leftovers are tensors of files that hold no parameters: buffers of older versions of the library.
var leftovers = []string{".position_ids", ".token_type_ids", "rotary_emb.inv_freq", ".attn.bias", ".attn.masked_bias",
	".attention.bias", ".attention.masked_bias"}

// heads are the beginnings of the names of heads, which a graph of another task leaves out.
var heads = []string{"cls.", "classifier.", "lm_head.", "qa_outputs.", "score.", "pre_classifier.", "vocab_",
	"pooler.", "multiple_choice_head.", "decoder.mask_token"}

// extra says that a tensor nobody uses is one too many.
func (w *weights) extra(name string) bool {
	if w.used[name] != nil || w.left[name] {
		return false
	}
	bare := strings.TrimPrefix(name, w.base)
	return !slices.ContainsFunc(leftovers, func(s string) bool { return strings.HasSuffix("."+name, s) }) &&
		!slices.ContainsFunc(heads, func(s string) bool { return strings.HasPrefix(bare, s) })
}

// shown is the number of tensors that an error names.
const shown = 5

// check reports tensors that are missing or too many, and those of another shape or type than the configuration says.
func (w *weights) check(pos string) error {
	var extra []string
	for name := range w.tensors {
		if w.extra(name) {
			extra = append(extra, name)
		}
	}
	slices.Sort(extra)
	var list diag.List
	if len(w.absent) > 0 {
		e := diag.New(diag.FolderTensors, pos, "lacks %d of the tensors that %s asks for", len(w.absent), configName)
		for _, name := range w.absent[:min(len(w.absent), shown)] {
			near := diag.Nearest(name, extra)
			if near == "" {
				e = e.WithNote("%s", name)
			} else {
				e = e.WithNote("%s; the nearest that is there: %s", name, near)
			}
		}
		e = e.WithHint("the weights and %s must come from the same model: fetch both again", configName)
		list = append(list, e)
	}
	if len(extra) > 0 {
		e := diag.New(diag.FolderTensors, pos, "tensors that belong to nothing in the model that %s describes: %d",
			configName,
			len(extra))
		for _, name := range extra[:min(len(extra), shown)] {
			e = e.WithNote("%s", source.Quote(name))
		}
		e = e.WithHint("the weights and %s must come from the same model: fetch both again", configName)
		list = append(list, e)
	}
	list = append(list, w.odd[:min(len(w.odd), shown)]...)
	return list.Err()
}
