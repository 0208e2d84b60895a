// SPDX-License-Identifier: Apache-2.0

// Package frontend opens models of all supported formats.
package frontend

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/frontend/build"
	"lathe/frontend/hf"
	"lathe/frontend/onnx"
	"lathe/frontend/peft"
	"lathe/frontend/source"
	"lathe/frontend/stablehlo"
	"lathe/frontend/torch"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/text"
)

// Options bind what a model leaves open: symbolic dimensions and input shapes.
type Options = source.Options

// format is one row of the table of model formats.
type format struct {
	name string
	exts []string // file name extensions in lower case
	// sniff recognises the first bytes of a file whose extension says nothing.
	sniff func(head []byte) bool
	load  func(path string, opts Options) (*ir.Graph, error)
}

// formats lists the model formats; those with the surest marks are asked first.
func formats() []format {
	return []format{
		{"Lathe graph", []string{".lathe"}, text.Sniff, loadText},
		{"PyTorch exported program", []string{".pt2", ".pt", ".pth"}, torch.Sniff, torch.Load},
		{"StableHLO", []string{".mlir", ".stablehlo"}, stablehlo.Sniff, stablehlo.Load},
		{"ONNX", []string{".onnx"}, onnx.Sniff, onnx.Load},
	}
}

// Load imports the model at path as a float graph, or loads a saved graph as it is. The extension of the file name
// decides the format, else its first bytes. Errors are *diag.Error or diag.List.
func Load(path string, opts Options) (*ir.Graph, error) {
	g, err := imported(path, opts)
	if err == nil && opts.Adapter != "" {
		err = peft.Merge(g, opts.Adapter)
	}
	if err != nil {
		return nil, err
	}
	return g, nil
}

func imported(path string, opts Options) (*ir.Graph, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, missing(path)
	case err != nil:
		return nil, diag.New(diag.ModelOpen, path, "cannot be opened: %v", source.Reason(err))
	case info.IsDir():
		return folder(path, opts)
	case !info.Mode().IsRegular():
		return nil, diag.New(diag.ModelOpen, path, "is not a regular file")
	}
	if opts.Transformer.New != nil {
		return nil, diag.New(diag.BadBinding, path, "new models are made of folders of Hugging Face only").
			WithHint("pass the folder with config.json, or leave the table [model] out of the space")
	}
	if opts.Transformer.Chosen() {
		return nil, diag.New(diag.BadBinding, path, "tokens, inputs, task, cache and loss are chosen for folders of "+
			"Hugging Face only")
	}
	ext := strings.ToLower(filepath.Ext(path))
	all := formats()
	i := slices.IndexFunc(all, func(f format) bool { return slices.Contains(f.exts, ext) })
	if i < 0 {
		head, err := firstBytes(path)
		if err != nil {
			return nil, err
		}
		if i = slices.IndexFunc(all, func(f format) bool { return f.sniff(head) }); i < 0 {
			return nil, unknown(path, head, all)
		}
	}
	return all[i].load(path, opts)
}

// unknown says what the file looks like.
func unknown(path string, head []byte, all []format) error {
	e := diag.New(diag.NotModel, path, "is of no known model format")
	if isNPZ(head) {
		return diag.New(diag.NotModel, path, "is not a model: it is an archive of NumPy arrays").
			WithHint("give the model here, and arrays by --inputs or --calibrate")
	}
	if what, hint := source.LooksLike(head); what != "" {
		return diag.New(diag.NotModel, path, "is not a model: it is %s", what).WithHint("%s", hint)
	}
	var exts []string
	for _, f := range all {
		exts = append(exts, f.exts...)
	}
	hint := "known extensions: " + strings.Join(exts, " ")
	if other := exported[strings.ToLower(filepath.Ext(path))]; other != "" {
		hint = "export the model to ONNX: " + other
	}
	return e.WithHint("%s", hint)
}

// exported says how models of other tools, by extension, become ONNX.
var exported = map[string]string{
	".keras":  "model.export(\"model.onnx\", format=\"onnx\") in Keras 3, or python -m tf2onnx.convert",
	".h5":     "model.export(\"model.onnx\", format=\"onnx\") in Keras 3, or python -m tf2onnx.convert",
	".hdf5":   "model.export(\"model.onnx\", format=\"onnx\") in Keras 3, or python -m tf2onnx.convert",
	".tflite": "python -m tf2onnx.convert --tflite model.tflite --output model.onnx",
	".pb":     "python -m tf2onnx.convert --graphdef model.pb --inputs x:0 --outputs y:0 --output model.onnx",
	".joblib": "skl2onnx.to_onnx(model, x), and write what it returns by SerializeToString()",
	".pkl":    "skl2onnx.to_onnx(model, x) of scikit-learn, or torch.export of PyTorch",
}

// missing suggests a file of the same folder.
func missing(path string) error {
	e := diag.New(diag.ModelOpen, path, "no such file")
	if near := diag.NearestFile(path); near != "" {
		return e.WithHint("did you mean %s?", near)
	}
	return e
}

// folder loads a folder of a model. Only those of Hugging Face are known.
func folder(path string, opts Options) (*ir.Graph, error) {
	if hf.IsFolder(path) {
		g, err := hf.Load(path, opts)
		if err == nil {
			err = build.BindInputs(g, opts.Bind)
		}
		if err == nil {
			err = build.EndGraph(g, opts.Outputs, path)
		}
		return g, err
	}
	if _, err := os.Stat(filepath.Join(path, "saved_model.pb")); err == nil {
		return nil, diag.New(diag.ModelFormat, path, "is a folder of TensorFlow, which is not supported in this version").
			WithHint("export the model to ONNX: python -m tf2onnx.convert --saved-model %s --output model.onnx", path)
	}
	return nil, diag.New(diag.ModelOpen, path, "is a folder without config.json; a model file or folder is needed")
}

// loadText loads a saved graph, whose shapes are all fixed: given ones must be the same.
func loadText(path string, opts Options) (*ir.Graph, error) {
	g, err := text.Load(path)
	if err != nil {
		return nil, err
	}
	if len(opts.Dims) > 0 {
		return nil, diag.New(diag.BadBinding, path, "a saved graph has no open dimensions to set")
	}
	if opts.Bind != nil {
		if g.Stage != ir.StageFloat {
			return nil, diag.New(diag.BadBinding, path, "the graph is %s: arrays can become constants in float graphs only",
				g.Stage).WithHint("give --bind with the model, to lathe quantize")
		}
		if err := build.BindInputs(g, opts.Bind); err != nil {
			return nil, err
		}
	}
	var names []string
	for _, n := range g.In {
		names = append(names, n.Name)
	}
	if err := source.Known("input", slices.Sorted(maps.Keys(opts.Shapes)), names); err != nil {
		return nil, diag.At(err, diag.BadBinding, path)
	}
	for _, n := range g.In {
		if want, ok := opts.Shapes[n.Name]; ok && !slices.Equal(want, n.Type.Shape) {
			return nil, diag.New(diag.BadBinding, path, "input %q has the shape %s, not %s", n.Name,
				ir.ShapeString(n.Type.Shape), ir.ShapeString(want))
		}
	}
	return g, build.EndGraph(g, opts.Outputs, path)
}

// firstBytes reads enough of a file to recognise it.
func firstBytes(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, diag.New(diag.ModelOpen, path, "cannot be opened: %v", source.Reason(err))
	}
	defer f.Close()
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, diag.New(diag.ModelOpen, path, "cannot be read: %v", source.Reason(err))
	}
	return head[:n], nil
}

// isNPZ knows archives whose first member, named at byte 30 of the first header, is a NumPy array.
func isNPZ(head []byte) bool {
	if len(head) < 30 || !bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		return false
	}
	size := int(head[26]) | int(head[27])<<8
	return bytes.HasSuffix(head[30:min(30+size, len(head))], []byte(".npy"))
}
