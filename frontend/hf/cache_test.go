// SPDX-License-Identifier: Apache-2.0

package hf_test

import (
	"path/filepath"
	"strings"
	"testing"

	"lathe/frontend"
	"lathe/frontend/source"
	"lathe/internal/npz"
	"lathe/ir"
)

// cut takes count tokens of an array [samples, tokens, ...] from start on.
func cut(a *npz.Array, name string, start, count int) npz.Array {
	size := 1
	for _, d := range a.Shape[2:] {
		size *= d
	}
	var out []float32
	for s := range a.Shape[0] {
		row := a.Float32s()[s*a.Shape[1]*size:]
		out = append(out, row[start*size:(start+count)*size]...)
	}
	return npz.Float32Array(name, append([]int{a.Shape[0], count}, a.Shape[2:]...), out)
}

// part loads the graph that takes count tokens behind past ones, with caches.
func part(t *testing.T, folder string, past, count int, inputs ...string) *ir.Graph {
	t.Helper()
	choice := source.Transformer{Seq: count, Cache: true, Past: past, Inputs: inputs}
	g, err := frontend.Load(filepath.Join("testdata", folder), source.Options{Transformer: choice})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestCache computes the first tokens, then the rest from their keys and values: the logits are those of all at once.
func TestCache(t *testing.T) {
	for _, folder := range decoders {
		for _, chosen := range []string{"input_ids", "input_ids position_ids", "attention_mask inputs_embeds"} {
			for _, past := range []int{tokens - 1, 4} {
				t.Run(strings.Join([]string{folder, chosen}, " "), func(t *testing.T) {
					t.Parallel()
					testCache(t, folder, past, strings.Fields(chosen))
				})
			}
		}
	}
}

func testCache(t *testing.T, folder string, past int, chosen []string) {
	file := testCase{folder: folder}.arrays(t)
	want, err := file.Get("logits")
	if err != nil {
		t.Fatal(err)
	}
	positions, ones := make([]int64, 3*tokens), make([]int64, 3*tokens)
	for i := range positions {
		positions[i], ones[i] = int64(i%tokens), 1
	}
	all := map[string]npz.Array{
		"position_ids":   npz.Int64Array("position_ids", []int{3, tokens}, positions),
		"attention_mask": npz.Int64Array("attention_mask", []int{3, tokens}, ones),
	}
	for _, name := range []string{"input_ids", "inputs_embeds"} {
		a, err := file.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = *a
	}
	var cached []npz.Array
	for _, step := range []struct{ from, count int }{{0, past}, {past, tokens - past}} {
		in := &npz.File{Arrays: cached}
		for _, name := range chosen {
			a, from, count := all[name], step.from, step.count
			if name == "attention_mask" {
				from, count = 0, step.from+step.count
			}
			in.Arrays = append(in.Arrays, cut(&a, name, from, count))
		}
		out := run(t, part(t, folder, step.from, step.count, chosen...), in)
		expect := cut(want, "logits", step.from, step.count)
		compare(t, "logits", out[0].Float64s(), expect.Float64s())
		cached = nil
		for _, a := range out[1:] {
			a.Name = strings.Replace(a.Name, "present", "past", 1)
			cached = append(cached, a)
		}
		if len(cached) != 4 || cached[0].Shape[2] != step.from+step.count {
			t.Fatalf("%d caches, the first %v", len(cached), cached[0].Shape)
		}
	}
}

// TestRoom computes the first tokens into caches that have room for all, then the rest one by one in place: the logits
// are those of all at once. What the caches held before is not seen.
func TestRoom(t *testing.T) {
	for _, folder := range decoders {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			file := testCase{folder: folder}.arrays(t)
			want, err := file.Get("logits")
			if err != nil {
				t.Fatal(err)
			}
			ids, err := file.Get("input_ids")
			if err != nil {
				t.Fatal(err)
			}
			const first = 3
			var cached []npz.Array
			for at, count := 0, first; at < tokens; at, count = at+count, 1 {
				g := room(t, folder, count)
				in := &npz.File{Arrays: append(cached, cut(ids, "input_ids", at, count))}
				for _, n := range g.In {
					switch {
					case n.Name == "position":
						in.Arrays = append(in.Arrays, npz.Int64Array("position", []int{3, 1}, []int64{int64(at), int64(at), int64(at)}))
					case at == 0 && n.Name != "input_ids":
						junk := make([]float32, 3*n.Type.Elems())
						for i := range junk {
							junk[i] = float32(i%7) - 3
						}
						in.Arrays = append(in.Arrays, npz.Float32Array(n.Name, append([]int{3}, n.Type.Shape[1:]...), junk))
					}
				}
				out := run(t, g, in)
				expect := cut(want, "logits", at, count)
				compare(t, "logits", out[0].Float64s(), expect.Float64s())
				cached = nil
				for _, a := range out[1:] {
					a.Name = strings.Replace(a.Name, "present", "past", 1)
					cached = append(cached, a)
				}
				if len(cached) != 4 || cached[0].Shape[2] != tokens {
					t.Fatalf("%d caches, the first %v", len(cached), cached[0].Shape)
				}
			}
		})
	}
}

// room loads the graph that takes count tokens, with caches for all.
func room(t *testing.T, folder string, count int) *ir.Graph {
	t.Helper()
	choice := source.Transformer{Seq: count, Room: tokens}
	g, err := frontend.Load(filepath.Join("testdata", folder), source.Options{Transformer: choice})
	if err != nil {
		t.Fatal(err)
	}
	return g
}
