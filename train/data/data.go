// SPDX-License-Identifier: Apache-2.0

// Package data reads samples and labels for training: NumPy arrays, tables (CSV), IDX files as MNIST ships, and folders
// of pictures, one a class.
package data

import (
	"os"
	"path/filepath"
	"strings"

	"lathe/internal/diag"
	"lathe/internal/npz"
	"lathe/ir"
)

// Data is what a file or folder holds.
type Data struct {
	File *npz.File
	// Labels are classes that came with the samples; nil where another file has them.
	Labels *npz.Array
	// Classes are the names of the classes, where folders have them.
	Classes []string
}

// kind is a format of files.
type kind int

const (
	arrays kind = iota // .npz, .npy, and what else is none of the others: its first bytes decide
	table
	idx
	folder
)

func kindOf(path string) kind {
	name := strings.ToLower(filepath.Base(path))
	bare := strings.TrimSuffix(name, ".gz")
	switch {
	case strings.HasSuffix(name, ".csv"):
		return table
	case strings.HasSuffix(bare, "ubyte") || strings.HasSuffix(bare, ".idx"):
		return idx
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return folder
	}
	return arrays
}

// Plain says that a file is one that every command reads: NumPy arrays.
func Plain(path string) bool { return kindOf(path) == arrays }

// Labelled says that labels come with the samples, as folders have them.
func Labelled(path string) bool { return kindOf(path) == folder }

// Read reads samples for an input of a shape. label is the column of a table that holds classes, or empty.
func Read(path, label string, shape []int) (*Data, error) {
	switch kindOf(path) {
	case table:
		return readTable(path, label, shape)
	case idx:
		a, err := readIDX(path)
		if err != nil {
			return nil, err
		}
		return a.samples(path, shape)
	case folder:
		return readFolder(path, shape)
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
