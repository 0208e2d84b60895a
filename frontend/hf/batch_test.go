// SPDX-License-Identifier: Apache-2.0

package hf_test

import (
	"path/filepath"
	"slices"
	"testing"

	"lathe/frontend"
	"lathe/internal/npz"
)

// rows takes rows of all arrays of a file that a graph may read.
func rows(f *npz.File, which ...int) *npz.File {
	out := &npz.File{Path: f.Path}
	for _, a := range f.Arrays {
		if len(a.Shape) < 2 {
			continue
		}
		shape := slices.Clone(a.Shape)
		shape[0] = len(which)
		size := a.Len() / a.Shape[0]
		if codes, err := a.Int64s(); err == nil && a.Name != "pixel_values" {
			var all []int64
			for _, r := range which {
				all = append(all, codes[r*size:(r+1)*size]...)
			}
			out.Arrays = append(out.Arrays, npz.Int64Array(a.Name, shape, all))
			continue
		}
		var all []float32
		for _, r := range which {
			all = append(all, a.Float32s()[r*size:(r+1)*size]...)
		}
		out.Arrays = append(out.Arrays, npz.Float32Array(a.Name, shape, all))
	}
	return out
}

// TestBatch demands that a graph of four samples (--dim batch=4) computes what one of a single sample does of each.
func TestBatch(t *testing.T) {
	for _, c := range []testCase{{folder: "bert-classifier"}, {folder: "bert", task: "encoder"},
		{folder: "roberta-masked"}, {folder: "distilbert-classifier"}, {folder: "vit-classifier"},
		{folder: "gpt2-classifier"}, {folder: "gpt2", inputs: "input_ids attention_mask"},
		{folder: "opt", inputs: "input_ids attention_mask"}, {folder: "llama-classifier"}, {folder: "llama"},
		{folder: "mistral", inputs: "inputs_embeds"}, {folder: "qwen2"},
		{folder: "qwen3", inputs: "input_ids attention_mask"}} {
		t.Run(c.folder+" "+c.inputs, func(t *testing.T) {
			t.Parallel()
			o := c.options()
			o.Dims = map[string]int{"batch": 4}
			g, err := frontend.Load(filepath.Join("testdata", c.folder), o)
			if err != nil {
				t.Fatal(err)
			}
			f := c.arrays(t)
			four := run(t, g, rows(f, 0, 1, 2, 1))
			if g.In[0].Type.Shape[0] != 4 || four[0].Shape[0] != 4 {
				t.Fatalf("input %v, output %v", g.In[0].Type.Shape, four[0].Shape)
			}
			var each []float64
			for _, r := range []int{0, 1, 2, 1} {
				each = append(each, run(t, c.graph(t), rows(f, r))[0].Float64s()...)
			}
			compare(t, four[0].Name, four[0].Float64s(), each)
			if slices.Equal(each[:len(each)/4], each[len(each)/4:len(each)/2]) {
				t.Error("two samples have the same outputs")
			}
		})
	}
}
