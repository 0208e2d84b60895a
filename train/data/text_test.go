// SPDX-License-Identifier: Apache-2.0

package data_test

import (
	"path/filepath"
	"slices"
	"testing"

	"lathe/train/data"
	"lathe/train/tokens"
)

// letters makes a token of each of a to e: 1 to 5; 0 fills, and 6 stands in front.
const letters = `{"added_tokens":[{"id":0,"content":"[PAD]","special":true}],
"model":{"type":"BPE","vocab":{"[PAD]":0,"a":1,"b":2,"c":3,"d":4,"e":5,"[CLS]":6},"merges":[]},
"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"[CLS]"}},{"Sequence":{"id":"A"}}],
"pair":[{"Sequence":{"id":"A"}},{"Sequence":{"id":"B","type_id":1}}],"special_tokens":{"[CLS]":{"ids":[6]}}}}`

// wanted are sequences of four tokens.
func wanted(t *testing.T, labels string) *data.Wanted {
	t.Helper()
	k, err := tokens.Read(file(t, t.TempDir(), "tokenizer.json", []byte(letters)))
	if err != nil {
		t.Fatal(err)
	}
	return &data.Wanted{Tokens: k, Inputs: data.Of, Length: 4, Vocabulary: 7, Labels: labels}
}

// holds demands arrays of samples, and labels.
func holds(t *testing.T, d *data.Data, err error, want map[string][]int64, labels []int64) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for name, w := range want {
		a, err := d.File.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := a.Int64s(); !slices.Equal(got, w) || a.Shape[1] != 4 {
			t.Errorf("%s is %v, not %v", name, got, w)
		}
	}
	if got, _ := d.Labels.Int64s(); !slices.Equal(got, labels) {
		t.Errorf("labels %v, not %v", got, labels)
	}
}

func TestTexts(t *testing.T) {
	dir := t.TempDir()
	ids := map[string][]int64{"input_ids": {6, 1, 2, 0, 6, 3, 3, 3}, "attention_mask": {1, 1, 1, 0, 1, 1, 1, 1}}
	for name, content := range map[string]string{
		"x.csv":   "\ufeffkind,text\n1,ab\n0,\"cccccc\"\n",
		"x.tsv":   "text\tkind\nab\t1\r\ncccccc\t0\n",
		"x.jsonl": "{\"n\": 7, \"text\": \"ab\", \"kind\": 1}\n\n{\"kind\": \"0\", \"text\": \"cccccc\", \"n\": null}\n",
	} {
		d, err := data.Read(file(t, dir, name, []byte(content)), wanted(t, "kind"))
		holds(t, d, err, ids, []int64{1, 0})
	}
	both := file(t, dir, "both.tsv", []byte("one\ttwo\tkind\na\tb\tsame\nabc\tde\tother\n"))
	d, err := data.Read(both, wanted(t, "kind"))
	holds(t, d, err, map[string][]int64{"input_ids": {1, 2, 0, 0, 1, 2, 4, 5}, "token_type_ids": {0, 1, 0, 0, 0, 0, 1, 1}},
		[]int64{1, 0})
	if !slices.Equal(d.Classes, []string{"other", "same"}) {
		t.Errorf("classes %v", d.Classes)
	}
	table := file(t, dir, "ids.csv", []byte("id,text,kind\n17,abc,0\n18,9,1\n"))
	if d, err = data.Read(table, wanted(t, "kind")); err != nil || !slices.Equal(d.Texts, []string{"text"}) {
		t.Errorf("texts %v, %v", d, err)
	}
	w := wanted(t, "kind")
	w.Text, w.Classes = []string{"two"}, []string{"other", "odd", "same"}
	d, err = data.Read(both, w)
	holds(t, d, err, map[string][]int64{"input_ids": {6, 2, 0, 0, 6, 4, 5, 0}}, []int64{2, 0})
	w.Classes = []string{"same"}
	_, err = data.Read(both, w)
	refused(t, err, `line 3, column "kind": "other" is not a class of the samples that are trained on: same`)
	_, err = data.Read(both, wanted(t, ""))
	refused(t, err, "both.tsv: L0910: line 2: 3 columns hold texts: one, two, kind")
	w = wanted(t, "kind")
	w.Vocabulary = 4
	_, err = data.Read(both, w)
	refused(t, err, "both.tsv: L1012: the tokenizer makes token 5 of it, and the model knows 4 tokens")
	_, err = data.Read(both, &data.Wanted{Shape: []int{4}})
	refused(t, err, "the file holds text, and the model takes no token numbers")
	_, err = data.Read(file(t, dir, "x.idx", nil), wanted(t, ""))
	refused(t, err, "the model takes text: .jsonl")
	for _, bad := range []struct{ name, content, text string }{
		{"a.tsv", "text\tkind\na\n", "a.tsv: L0902: line 2 has 1 columns, the header has 2"},
		{"a.tsv", "text\tkind\n", "there is no sample"},
		{"a.tsv", "text\tkind\na\t1\na\tb\n", `line 3, column "kind": "b" is not the number of a class`},
		{"a.tsv", "text\tkind\na\tb\na\t\n", `line 3, column "kind": "" is no name of a class`},
		{"a.tsv", "text\tsort\na\tb\n", `there is no column "kind"; columns begin with text, sort`},
		{"a.jsonl", "[1]\n", "line 1: this is no object in JSON"},
		{"a.jsonl", "{\"text\": \"a\", \"kind\": 1}\n{\"text\": 3, \"kind\": 1}\n", `line 2, column "text": 3 is no text`},
		{"a.jsonl", "{\"text\": \"a\", \"kind\": 1\n", "line 1: "},
		{"a.csv", "text,kind\na\n", "wrong number of fields"},
	} {
		_, err := data.Read(file(t, dir, bad.name, []byte(bad.content)), wanted(t, "kind"))
		refused(t, err, bad.text)
	}
}

// TestNext demands the label of each token to be the next one, and none where there is none.
func TestNext(t *testing.T) {
	dir := t.TempDir()
	x, y := []int64{6, 1, 2, 3, 4, 5, 0, 0}, []int64{1, 2, 3, 4, 5, 1, -100, -100}
	mask := []int64{1, 1, 1, 1, 1, 1, 0, 0}
	path := file(t, dir, "x.txt", []byte("abcdea"))
	d, err := data.Read(path, wanted(t, ""))
	holds(t, d, err, map[string][]int64{"input_ids": x, "attention_mask": mask}, y)
	file(t, dir, "y.txt", []byte("b"))
	file(t, dir, "z.csv", []byte("b"))
	d, err = data.Read(dir, wanted(t, ""))
	holds(t, d, err, map[string][]int64{"input_ids": append(x, 6, 0, 0, 0)}, append(y, 2, -100, -100, -100))
	file(t, dir, "b/1.txt", []byte("b"))
	_, err = data.Read(dir, wanted(t, ""))
	refused(t, err, "texts lie here and in folders")

	sorted := t.TempDir()
	file(t, sorted, "good/1.txt", []byte("a"))
	file(t, sorted, "bad/1.txt", []byte("bcde"))
	d, err = data.Read(sorted, wanted(t, ""))
	holds(t, d, err, map[string][]int64{"input_ids": {6, 2, 3, 4, 6, 1, 0, 0}}, []int64{0, 1})
	if !slices.Equal(d.Classes, []string{"bad", "good"}) {
		t.Errorf("classes %v", d.Classes)
	}
	_, err = data.Read(t.TempDir(), wanted(t, ""))
	refused(t, err, "there are no texts")
	_, err = data.Read(filepath.Join(dir, "none.txt"), wanted(t, ""))
	refused(t, err, "none.txt: L")
}

// TestTargets reads numbers of one or more columns.
func TestTargets(t *testing.T) {
	path := file(t, t.TempDir(), "x.csv", []byte("a,y,b,z\n1,0.5,2,-1\n3,0.25,4,1e3\n"))
	d, err := data.Read(path, &data.Wanted{Shape: []int{2}, Labels: "z,y", Targets: true})
	if err != nil {
		t.Fatal(err)
	}
	if x := d.File.Arrays[0].Float32s(); !slices.Equal(x, []float32{1, 2, 3, 4}) {
		t.Errorf("samples %v", x)
	}
	y := d.Labels.Float32s()
	if !slices.Equal(y, []float32{-1, 0.5, 1000, 0.25}) || !slices.Equal(d.Labels.Shape, []int{2, 2}) {
		t.Errorf("targets %v of shape %v", y, d.Labels.Shape)
	}
	_, err = data.Read(path, &data.Wanted{Shape: []int{2}, Labels: "y,z"})
	refused(t, err, "x.csv: L1005: labels in 2 columns, and the loss takes the number of a class")
	path = file(t, t.TempDir(), "x.csv", []byte("a,y\n1,inf\n"))
	_, err = data.Read(path, &data.Wanted{Shape: []int{1}, Labels: "y", Targets: true})
	refused(t, err, `line 2, column "y": "inf" is not a finite number`)
}
