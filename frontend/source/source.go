// SPDX-License-Identifier: Apache-2.0

// Package source opens model files for the importers and holds what all importers share: options and error codes.
package source

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edsrzf/mmap-go"

	"lathe/frontend/layers"
	"lathe/internal/diag"
	"lathe/internal/npz"
)

// Options bind what a model leaves open.
type Options struct {
	// Dims gives sizes to symbolic dimensions by name; a symbolic first axis is 1 by default.
	Dims map[string]int
	// Shapes gives whole shapes to inputs by name; they must agree with the dimensions that the model fixes.
	Shapes map[string][]int
	// Unroll is up to how many rounds a loop of a model is written out; 0 refuses loops.
	Unroll int
	// Outputs are the names of the values at which the user ends the model; nil for the outputs that it has.
	Outputs []string
	// Bind are arrays that stand for inputs of the model, which so become constants; nil for none.
	Bind *npz.File
	// Layers are the operations that the user declares; nil: none.
	Layers *layers.File
	// Transformer is what a Hugging Face folder leaves open.
	Transformer Transformer
	// Adapter is a folder of an adapter that is added to the matrices of the model (package peft), or empty.
	Adapter string
}

// Known refuses names of options that the model does not have; kind says what they name. Names are those that it has.
func Known(kind string, given, names []string) error {
	for _, name := range given {
		if name != "" && slices.Contains(names, name) {
			continue
		}
		e := diag.New(diag.BadBinding, "", "the model has no %s called %s", kind, Quote(name))
		if near := diag.Nearest(name, names); near != "" {
			return e.WithHint("did you mean %s?", Quote(near))
		}
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "" })
		if len(names) > 0 && len(names) < 10 {
			return e.WithHint("it has %s", strings.Join(names, ", "))
		}
		return e
	}
	return nil
}

// Near is the one of many names that is nearest to name, "" for none. Names of machine-made length are left out,
// because comparing them is slow.
func Near(name string, candidates []string) string {
	const long, many = 64, 5000
	if len(name) > long {
		return ""
	}
	short := make([]string, 0, min(len(candidates), many))
	for _, c := range candidates {
		if len(c) <= long && len(short) < many {
			short = append(short, c)
		}
	}
	return diag.Nearest(name, short)
}

// Transformer chooses a graph among those that a Hugging Face folder describes.
type Transformer struct {
	// Seq is the number of tokens; 0 stands for the default.
	Seq int
	// Inputs are the names of the inputs; nil stands for those that the model needs.
	Inputs []string
	// Task names the head; "" stands for that of the configuration.
	Task string
	// Cache makes keys and values outputs. Past is the number of tokens whose keys and values are inputs.
	Cache bool
	Past  int
	// Room, where it is not 0, is the number of tokens that caches have room for: they are inputs and, with the new tokens
	// in them, outputs of that size. Where Seq is 1 the position of the token is an input, unless it is the First; else it
	// is 0.
	Room  int
	First bool
	// Loss adds the input labels and the output loss.
	Loss bool
	// New, where it is not nil, is made in place of the model that is stored, whose weights are not read.
	New *NewModel
}

// NewModel is a model of the architecture that a Hugging Face folder names, with sizes of its own and random weights.
type NewModel struct {
	// Layers, Heads, Hidden and Intermediate are sizes; 0 leaves that of the folder.
	Layers, Heads, Hidden, Intermediate int
	// Identity names linear layers that are left out: what they read passes. They have as many outputs as inputs.
	Identity []string
	Seed     uint64
}

// Chosen says that something was chosen.
func (t Transformer) Chosen() bool {
	return t.Seq != 0 || t.Inputs != nil || t.Task != "" || t.Cache || t.Past != 0 || t.Room != 0 || t.Loss ||
		t.New != nil
}

// File is a model file in memory. Data is a read-only mapping that lives as long as the process, because graphs keep
// views of it.
type File struct {
	// Path is as given; Base is its last element, for messages.
	Path, Base string
	Data       []byte
}

// Open maps a regular file.
func Open(path string) (*File, error) {
	file := &File{Path: path, Base: filepath.Base(path)}
	info, err := os.Stat(path)
	if err != nil {
		return nil, openError(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, diag.New(diag.ModelOpen, path, "is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, openError(path, err)
	}
	defer f.Close()
	file.Data, err = Map(f)
	if err != nil {
		return nil, diag.At(err, diag.ModelOpen, path)
	}
	return file, nil
}

// Map maps an open file, which may be closed afterwards. An empty file gives no bytes.
func Map(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, openError("", err)
	case !info.Mode().IsRegular():
		return nil, diag.New(diag.ModelOpen, "", "is not a regular file")
	case info.Size() == 0:
		return nil, nil
	}
	data, err := mmap.Map(f, mmap.RDONLY, 0)
	if err != nil {
		return nil, openError("", err)
	}
	return data, nil
}

// openError is an error about a file that cannot be opened.
func openError(path string, err error) *diag.Error {
	return diag.New(diag.ModelOpen, path, "cannot be opened: %v", Reason(err))
}

// Reason drops the path that messages of the operating system repeat.
func Reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// looks are files that users mistake for models.
var looks = [...]struct{ prefix, what, hint string }{
	{"version https://git-lfs", "a Git LFS pointer", "fetch the file itself: git lfs pull"},
	{"<!DOCTYPE", "a web page", "download the file itself"},
	{"<!doctype", "a web page", "download the file itself"},
	{"<html", "a web page", "download the file itself"},
	{"\x80\x02", "a Python pickle", "save the model by torch.export.save"},
	{"\x80\x03", "a Python pickle", "save the model by torch.export.save"},
	{"\x80\x04", "a Python pickle", "save the model by torch.export.save"},
	{"\x89HDF\r\n", "an HDF5 file", "export the model to ONNX: model.export(\"model.onnx\", format=\"onnx\") in Keras 3"},
	{"\x93NUMPY", "a NumPy array", ""},
	{"PK\x03\x04", "a zip archive", ""},
	{"\x1f\x8b", "gzip-compressed data", "unpack it first"},
	{"lathe ", "a saved Lathe graph", "name it .lathe"},
}

// LooksLike names what data are in words, with a hint, if they are one of the usual mistakes; else "".
func LooksLike(data []byte) (what, hint string) {
	for _, l := range looks {
		if bytes.HasPrefix(data, []byte(l.prefix)) {
			return l.what, l.hint
		}
	}
	return "", ""
}
