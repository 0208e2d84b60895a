// SPDX-License-Identifier: Apache-2.0

package data

import (
	"os"
	"path/filepath"
	"strings"

	"lathe/internal/diag"
	"lathe/internal/npz"
	"lathe/train/tokens"
)

// sequences are token numbers of samples, by input of the model.
type sequences struct {
	*Wanted
	path     string
	n        int
	ids      []int64
	types    []int64
	mask     []int64
	farthest int64
}

// Of are the inputs that a tokenizer makes, as models of Hugging Face name them.
var Of = []string{"input_ids", "attention_mask", "token_type_ids"}

func (w *Wanted) readText(path string, k kind) (*Data, error) {
	s := &sequences{Wanted: w, path: path}
	d := &Data{}
	var err error
	switch k {
	case table, lines:
		err = s.records(d)
	case prose:
		err = s.next(d, path)
	case folder:
		err = s.folder(d)
	default:
		return nil, diag.New(diag.ArrayShape, path, "the model takes text: .jsonl, .tsv, .csv, .txt or a folder, or token "+
			"numbers in an .npz file")
	}
	if err != nil {
		return nil, err
	}
	d.File, err = s.file()
	return d, err
}

// add adds a sample.
func (s *sequences) add(k tokens.Tokens) {
	for _, id := range k.IDs {
		s.farthest = max(s.farthest, id)
	}
	k = s.Tokens.Fill(k, s.Length)
	s.n++
	s.ids, s.types, s.mask = append(s.ids, k.IDs...), append(s.types, k.Types...), append(s.mask, k.Mask...)
}

// file has an array for each input.
func (s *sequences) file() (*npz.File, error) {
	if s.n == 0 {
		return nil, diag.New(diag.ArrayShape, s.path, "there is no sample")
	}
	if s.Vocabulary > 0 && s.farthest >= int64(s.Vocabulary) {
		return nil, diag.New(diag.TokenizerFile, s.path, "the tokenizer makes token %d of it, and the model knows %d tokens",
			s.farthest, s.Vocabulary).WithHint("--tokenizer names the tokenizer.json of this model")
	}
	f := &npz.File{Path: s.path}
	for _, name := range s.Inputs {
		values := map[string][]int64{Of[0]: s.ids, Of[1]: s.mask, Of[2]: s.types}[name]
		if values == nil && len(s.Inputs) == 1 {
			values = s.ids
		}
		f.Arrays = append(f.Arrays, npz.Int64Array(name, []int{s.n, s.Length}, values))
	}
	return f, nil
}

// next makes samples of a text for learning the next token: blocks of the length of the model. What follows a block is
// the label of its last token; where the last block ends early, labels are below 0 and count for nothing.
func (s *sequences) next(d *Data, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return unreadable(path, err)
	}
	ids := s.Tokens.Encode(0, string(text)).IDs
	var labels []int64
	if d.Labels != nil {
		labels, _ = d.Labels.Int64s()
	}
	for at := 0; at+1 < len(ids); at += s.Length {
		end := min(at+s.Length, len(ids)-1)
		k := tokens.Tokens{IDs: ids[at:end:end], Types: make([]int64, end-at), Mask: make([]int64, end-at)}
		for i := range k.Mask {
			k.Mask[i] = 1
		}
		labels = append(labels, ids[at+1:end+1]...)
		for range s.Length - (end - at) {
			k.IDs, k.Types, k.Mask = append(k.IDs, s.Tokens.Pad), append(k.Types, 0), append(k.Mask, 0)
			labels = append(labels, -100)
		}
		s.add(k)
	}
	a := npz.Int64Array("labels", []int{len(labels) / s.Length, s.Length}, labels)
	d.Labels = &a
	return nil
}

// folder reads the texts of a folder: each a sample, where folders in it are the classes, or each for learning the next
// token.
func (s *sequences) folder(d *Data) error {
	entries, err := os.ReadDir(s.path)
	if err != nil {
		return unreadable(s.path, err)
	}
	var classes []int64
	for _, e := range entries {
		path := filepath.Join(s.path, e.Name())
		if strings.HasPrefix(e.Name(), ".") || !e.IsDir() {
			if e.IsDir() || kindOf(path) != prose {
				continue
			}
			if err := s.next(d, path); err != nil {
				return err
			}
			continue
		}
		files, err := os.ReadDir(path)
		if err != nil {
			return unreadable(path, err)
		}
		for _, file := range files {
			f := filepath.Join(path, file.Name())
			if file.IsDir() || strings.HasPrefix(file.Name(), ".") || kindOf(f) != prose {
				continue
			}
			text, err := os.ReadFile(f)
			if err != nil {
				return unreadable(f, err)
			}
			s.add(s.Tokens.Encode(s.Length, string(text)))
			classes = append(classes, int64(len(d.Classes)))
		}
		d.Classes = append(d.Classes, e.Name())
	}
	switch {
	case s.n == 0:
		return diag.New(diag.ArrayOpen, s.path, "there are no texts (.txt), neither here nor in folders, one a class")
	case d.Labels != nil && len(classes) > 0:
		return diag.New(diag.ArrayOpen, s.path, "texts lie here and in folders: the next token is learnt of the former, the "+
			"class of the latter")
	case d.Labels != nil:
		d.Classes = nil
		return nil
	}
	a := npz.Int64Array("labels", []int{len(classes)}, classes)
	d.Labels = &a
	return nil
}
