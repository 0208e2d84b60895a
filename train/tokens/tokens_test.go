// SPDX-License-Identifier: Apache-2.0

package tokens_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/train/tokens"
)

// reference is what the library tokenizers makes of texts, by tokenizer: numbers, and types unless all are 0.
type reference struct {
	Lines   []string
	Couples [][]string
	Tokens  map[string][][][]int64
	OfTwo   map[string][][][]int64 `json:"of_two"` // of each couple
	Bounded map[string][][][]int64 // of each couple, cut and filled to 8, 9 and 24 tokens
}

func readReference(t *testing.T, path string) *reference {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := &reference{}
	if err := json.Unmarshal(raw, r); err != nil {
		t.Fatal(err)
	}
	return r
}

func read(t *testing.T, name string) *tokens.Tokenizer {
	t.Helper()
	k, err := tokens.Read("testdata/" + name + ".tokenizer.json")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// same demands numbers and types of texts.
func same(t *testing.T, k *tokens.Tokenizer, want [][]int64, texts ...string) {
	t.Helper()
	got := k.Encode(0, texts...)
	types := make([]int64, len(got.IDs))
	if len(want) > 1 {
		types = want[1]
	}
	if !slices.Equal(got.IDs, want[0]) {
		t.Errorf("%q is %v, and %v in the library", texts, got.IDs, want[0])
	} else if !slices.Equal(got.Types, types) {
		t.Errorf("types of %q are %v, and %v in the library", texts, got.Types, types)
	}
}

// TestReference compares awkward lines with the library (testdata/reference.py).
func TestReference(t *testing.T) {
	r := readReference(t, "testdata/reference.json")
	if len(r.Tokens) != 8 {
		t.Fatalf("%d tokenizers", len(r.Tokens))
	}
	for name, lines := range r.Tokens {
		t.Run(name, func(t *testing.T) {
			k := read(t, name)
			for i, want := range lines {
				same(t, k, want, r.Lines[i])
			}
			for i, want := range r.OfTwo[name] {
				same(t, k, want, r.Couples[i]...)
			}
			for i, want := range r.Bounded[name] {
				length := []int{8, 9, 24}[i%3]
				got := k.Fill(k.Encode(length, r.Couples[i/3]...), length)
				if !slices.Equal(got.IDs, want[0]) || !slices.Equal(got.Types, want[1]) || !slices.Equal(got.Mask, want[2]) {
					t.Errorf("%q in %d tokens: %v, and %v in the library", r.Couples[i/3], length, got, want)
				}
			}
		})
	}
}

// TestParts demands a message that names the part of the file that is wrong or not supported.
func TestParts(t *testing.T) {
	const (
		rest  = `"model":{"type":"BPE","vocab":{"a":0,"b":1},"merges":[]}}`
		steps = `{"pre_tokenizer":{"type":"Sequence","pretokenizers":[`
		frame = `{"post_processor":{"type":"TemplateProcessing","single":[`
		seq   = `{"post_processor":{"type":"Sequence","processors":[`
		norm  = `{"normalizer":{"type":"Sequence","normalizers":[`
		part  = `{"type":"TemplateProcessing"}`
	)
	for text, content := range map[string]string{
		"model: there is none":                     `{}`,
		`model: type "Unigram" is not supported`:   `{"model":{"type":"Unigram"}}`,
		`normalizer: type "Nmt"`:                   `{"normalizer":{"type":"Nmt"},` + rest,
		`normalizer.normalizers[1]: type "Odd"`:    norm + `{"type":"NFC"},{"type":"Odd"}]}}`,
		`pre_tokenizer: type "Metaspace"`:          `{"pre_tokenizer":{"type":"Metaspace"},` + rest,
		`pre_tokenizer.pretokenizers[0]: the beh`:  steps + `{"type":"Split","pattern":{"String":"a"},"behavior":"Odd"}]}}`,
		`pre_tokenizer: there is no pattern`:       `{"pre_tokenizer":{"type":"Split"}}`,
		`the pattern "a(?=b)" is not supported`:    `{"pre_tokenizer":{"type":"Split","pattern":{"Regex":"a(?=b)"}}}`,
		`the pattern "^a" is not supported: it as`: `{"pre_tokenizer":{"type":"Split","pattern":{"Regex":"^a"}}}`,
		`"[\\S]" is not supported: \S stands in a`: `{"pre_tokenizer":{"type":"Split","pattern":{"Regex":"[\\S]"}}}`,
		`a class stands in a class`:                `{"pre_tokenizer":{"type":"Split","pattern":{"Regex":"[a[b]]"}}}`,
		`model: unk_token "u" is not in vocab`:     `{"model":{"type":"BPE","unk_token":"u"}}`,
		`model: unk_token "[UNK]" is not in vocab`: `{"model":{"type":"WordPiece"}}`,
		`model: dropout is random`:                 `{"model":{"type":"BPE","dropout":0.1}}`,
		`model: continuing_subword_prefix "##"`:    `{"model":{"type":"BPE","continuing_subword_prefix":"##"}}`,
		`model: end_of_word_suffix "</w>"`:         `{"model":{"type":"BPE","end_of_word_suffix":"</w>"}}`,
		`model.merges[0]: "a" and "b", and both `:  `{"model":{"type":"BPE","vocab":{"a":0,"b":1},"merges":["a b"]}}`,
		`model.merges[0]: 7 is no pair`:            `{"model":{"type":"BPE","merges":[7]}}`,
		`post_processor: type "Odd"`:               `{"post_processor":{"type":"Odd"},` + rest,
		`post_processor: cls and sep are a token`:  `{"post_processor":{"type":"BertProcessing"},` + rest,
		`post_processor.single[0]: special_tokens`: frame + `{"SpecialToken":{"id":"x"}}]},` + rest,
		`post_processor.single[0]: this is neithe`: frame + `{"Sequence":{"id":"B"}}]},` + rest,
		`post_processor.processors[1]: a second f`: seq + part + `,` + part + `]},` + rest,
		`model: json: cannot unmarshal`:            `{"model":{"type":"WordPiece","vocab":["a"]}}`,
		`t.json: L1012: invalid character`:         `tokenizer`,
		`t.json: L1012: unexpected end of JSON`:    ``,
	} {
		path := filepath.Join(t.TempDir(), "t.json")
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := tokens.Read(path)
		if err == nil || !strings.Contains(err.Error(), text) || diag.CodeOf(err) != diag.TokenizerFile {
			t.Errorf("%v does not say %q", err, text)
		}
	}
	if _, err := tokens.Read("none.json"); err == nil || err.Error() != "none.json: L1012: no such file or directory" {
		t.Error(err)
	}
}

// TestLeft fills in front where the file says so.
func TestLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.json")
	content := `{"padding":{"direction":"Left","pad_id":7},"model":{"type":"BPE","vocab":{"a":0,"b":1},"merges":[]}}`
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	k, err := tokens.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	got := k.Fill(k.Encode(3, "ba"), 4)
	if !slices.Equal(got.IDs, []int64{7, 7, 1, 0}) || !slices.Equal(got.Mask, []int64{0, 0, 1, 1}) || k.Size() != 2 {
		t.Error(got)
	}
}
