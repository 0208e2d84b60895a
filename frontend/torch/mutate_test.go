// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lathe/frontend/source"
	"lathe/frontend/torch/pt2test"
)

// tree is a JSON value that is changed at one place.
type tree struct {
	r     *rand.Rand
	place int      // counts down to the value that changes
	words []string // strings of the text, which take each other's place
}

// change returns v with the value at the place changed.
func (m *tree) change(v any) any {
	m.place--
	if m.place == 0 {
		return m.other(v)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if v[k] = m.change(v[k]); m.place == 0 && m.r.IntN(8) == 0 {
				delete(v, k)
			}
		}
		return v
	case []any:
		for i := range v {
			v[i] = m.change(v[i])
		}
		return v
	}
	return v
}

// other is another value in the place of v, of the same kind as a rule.
func (m *tree) other(v any) any {
	numbers := []any{-1, 0, 1, 2, 3, 5, 7, 64, -9, 1 << 20, 1 << 31, -1 << 31, 1 << 40, int64(1) << 62, int64(-1) << 63,
		0.5}
	number := numbers[m.r.IntN(len(numbers))]
	switch v := v.(type) {
	case json.Number:
		return number
	case string:
		return m.words[m.r.IntN(len(m.words))]
	case bool:
		return !v
	case []any:
		switch m.r.IntN(4) {
		case 0:
			return []any{}
		case 1:
			return append(v, v...)
		case 2:
			return v[:len(v)/2]
		}
		return append(v, number)
	case map[string]any:
		if m.r.IntN(2) == 0 {
			return map[string]any{"as_none": true}
		}
		return map[string]any{"as_int": number}
	}
	return number
}

// count is how many values v holds, itself included, and its strings.
func count(v any, words *[]string) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			n += count(v[k], words)
		}
	case []any:
		for _, item := range v {
			n += count(item, words)
		}
	case string:
		*words = append(*words, v)
	}
	return n
}

// TestMutated changes the texts of the programs of testdata one value at a time: the outcome is a graph or an error
// with a code.
func TestMutated(t *testing.T) {
	for name, data := range opMembers(t) {
		if !strings.HasSuffix(name, ".pt2") {
			continue
		}
		a, err := source.OpenArchive(data)
		if err != nil {
			t.Fatal(err)
		}
		hash := fnv.New64()
		hash.Write([]byte(name))
		r := rand.New(rand.NewPCG(hash.Sum64(), mutationSeed))
		for range mutations {
			var members []pt2test.Member
			for i, m := range a.Members() {
				text, err := a.Read(&a.Members()[i])
				if err != nil {
					t.Fatal(err)
				}
				if strings.HasSuffix(m.Name, ".json") && (strings.Contains(m.Name, "/models/") || r.IntN(4) == 0) {
					text = mutated(t, r, text)
				}
				members = append(members, pt2test.Member{Name: m.Name, Data: text})
			}
			archive := pt2test.Zip(members...)
			func() {
				defer func() {
					if p := recover(); p != nil {
						t.Errorf("%s: %v", name, p)
						panic(p)
					}
				}()
				_ = parsed(t, archive)
			}()
		}
	}
}

// mutations is how many changes each program goes through; mutationSeed chooses them.
const (
	mutations    = 4
	mutationSeed = 1
)

// mutated changes one value of a JSON text.
func mutated(t *testing.T, r *rand.Rand, text []byte) []byte {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	words := []string{""}
	n := count(v, &words)
	m := tree{r: r, place: 1 + r.IntN(n), words: words}
	out, err := json.Marshal(m.change(v))
	if err != nil {
		t.Fatal(err)
	}
	return out
}
