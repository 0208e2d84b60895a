// SPDX-License-Identifier: Apache-2.0

// Package data reads samples and labels for training: NumPy arrays, tables (CSV), IDX files as MNIST ships, folders of
// pictures, one a class, and text.
package data

import (
	"os"
	"path/filepath"
	"strings"

	"lathe/internal/diag"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/train/tokens"
)

// Wanted is what a model takes, and what of a file it gets.
type Wanted struct {
	// Shape is that of the only input, where samples are numbers.
	Shape []int
	// Labels are columns of a table that hold labels, apart by commas; "" for none. Targets says that they are numbers,
	// and no classes.
	Labels  string
	Targets bool
	// Classes are names of classes in the order of their numbers, where other samples have given them.
	Classes []string
	// Features are columns of numbers in the order of the input, where other samples have given them.
	Features []string
	// Tokens, if not nil, makes token numbers of texts. Text are the columns of a table that hold them, one or two; none
	// for all but those of labels.
	Tokens *tokens.Tokenizer
	Text   []string
	// Inputs are those of a model of text, by name, and Length is how many tokens each takes.
	Inputs []string
	Length int
	// Vocabulary is the number of tokens that the model knows; 0 if that is not known.
	Vocabulary int
}

// Data is what a file or folder holds.
type Data struct {
	File *npz.File
	// Labels are classes that came with the samples; nil where another file has them.
	Labels *npz.Array
	// Classes are the names of the classes, where folders have them.
	Classes []string
	// Features are the columns of numbers, in the order of the input, of a table.
	Features []string
	// Texts are the columns that hold texts, of a table of them.
	Texts []string
}

// kind is a format of files.
type kind int

const (
	arrays kind = iota // .npz, .npy, and what else is none of the others: its first bytes decide
	table
	idx
	folder
	lines // .jsonl, .tsv: they hold texts
	prose // .txt
)

func kindOf(path string) kind {
	name := strings.ToLower(filepath.Base(path))
	bare := strings.TrimSuffix(name, ".gz")
	switch {
	case strings.HasSuffix(name, ".csv"):
		return table
	case strings.HasSuffix(bare, "ubyte") || strings.HasSuffix(bare, ".idx"):
		return idx
	case strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".tsv"):
		return lines
	case strings.HasSuffix(name, ".txt"):
		return prose
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return folder
	}
	return arrays
}

// Plain says that a file is one that every command reads: NumPy arrays.
func Plain(path string) bool { return kindOf(path) == arrays }

// Labelled says that labels come with the samples, as folders have them, and text whose next token is learnt.
func Labelled(path string) bool { return kindOf(path) == folder || kindOf(path) == prose }

// Read reads samples.
func Read(path string, w *Wanted) (*Data, error) {
	k := kindOf(path)
	switch {
	case w.Tokens != nil && k != arrays:
		return w.readText(path, k)
	case k == lines || k == prose:
		return nil, diag.New(diag.ArrayShape, path, "the file holds text, and the model takes no token numbers")
	case k == table:
		return readTable(path, w)
	case k == idx:
		a, err := readIDX(path)
		if err != nil {
			return nil, err
		}
		return a.samples(path, w.Shape)
	case k == folder:
		return readFolder(path, w.Shape)
	}
	f, err := npz.Read(path)
	return &Data{File: f}, err
}

// ReadLabels reads a file of labels.
func ReadLabels(path string) (*npz.Array, error) {
	if kindOf(path) == idx {
		a, err := readIDX(path)
		if err != nil {
			return nil, err
		}
		out := npz.Int64Array("labels", a.dims, a.wholes())
		return &out, nil
	}
	f, err := npz.Read(path)
	if err != nil {
		return nil, err
	}
	if len(f.Arrays) != 1 {
		return nil, diag.New(diag.TrainLabels, path, "%d arrays where one of labels is needed", len(f.Arrays))
	}
	return &f.Arrays[0], nil
}

// one is a file of one array of n samples, in the shape of the input that they have as many elements for.
func one(path string, n int, each, shape []int, x []float32) (*npz.File, error) {
	if n == 0 {
		return nil, diag.New(diag.ArrayShape, path, "there is no sample")
	}
	want := 1
	for _, d := range shape {
		want *= d
	}
	if want != len(x)/n {
		return nil, diag.New(diag.ArrayShape, path, "a sample has %s elements, the input takes %s", ir.ShapeString(each),
			ir.ShapeString(shape))
	}
	a := npz.Float32Array("x", append([]int{n}, shape...), x)
	return &npz.File{Path: path, Arrays: []npz.Array{a}}, nil
}
