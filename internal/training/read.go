// SPDX-License-Identifier: Apache-2.0

package training

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/train/data"
	"lathe/train/tokens"
)

// Files are models and data that have been read: tasks of one sweep, which differ in their plans, read them once.
type Files struct {
	graphs map[string]*ir.Graph // by path, as imported
	data   map[string]*data.Data
}

// graph imports the model of s, or copies what it was.
func (f *Files) graph(s driver.Source) (*ir.Graph, error) {
	if f == nil || s.Transformer.New != nil {
		return s.Import()
	}
	g, known := f.graphs[s.Model]
	if !known {
		var err error
		if g, err = s.Import(); err != nil {
			return nil, err
		}
		if f.graphs == nil {
			f.graphs = map[string]*ir.Graph{}
		}
		f.graphs[s.Model] = g
	}
	return g.Clone(), nil
}

// read reads samples of any format for the inputs of the graph as it was imported. labels is a file, columns, or empty.
func (t *Task) read(p *prepared, path, labels string, targets bool) (*data.Data, error) {
	if t.Files == nil {
		return t.readFile(p, path, labels, targets)
	}
	key := fmt.Sprintln(path, labels, targets)
	d, known := t.Files.data[key]
	if !known {
		var err error
		if d, err = t.readFile(p, path, labels, targets); err != nil {
			return nil, err
		}
		if t.Files.data == nil {
			t.Files.data = map[string]*data.Data{}
		}
		t.Files.data[key] = d
	}
	return d, nil
}

func (t *Task) readFile(p *prepared, path, labels string, targets bool) (*data.Data, error) {
	if data.Plain(path) {
		return data.Read(path, &data.Wanted{})
	}
	g := p.imported
	w := &data.Wanted{Targets: targets}
	if p.data != nil {
		w.Classes, w.Features = p.data.Classes, p.data.Features
	}
	if !isFile(labels) {
		w.Labels = labels
	}
	if takesTokens(g) {
		if err := t.ofText(p, w); err != nil {
			return nil, err
		}
		return data.Read(path, w)
	}
	if len(g.In) != 1 {
		return nil, diag.New(diag.ArrayShape, path, "the model has %d inputs", len(g.In)).
			WithHint("pass an .npz file with an array for each input")
	}
	w.Shape = g.In[0].Type.Shape
	return data.Read(path, w)
}

// takesTokens says that the inputs of a graph are whole numbers, as token numbers and masks are.
func takesTokens(g *ir.Graph) bool {
	return len(g.In) > 0 && !slices.ContainsFunc(g.In, func(n *ir.Node) bool { return !ir.IsWhole(n.Type.Format) })
}

// ofText completes what is wanted of texts: a tokenizer, and the inputs of the model.
func (t *Task) ofText(p *prepared, w *data.Wanted) error {
	g := p.imported
	if w.Text = t.Text; len(t.Text) == 0 && p.data != nil {
		w.Text = p.data.Texts
	}
	for _, n := range g.In {
		if !slices.Contains(data.Of, n.Name) && len(g.In) > 1 {
			return diag.New(diag.ArrayShape, t.Source.Model, "no tokenizer makes the input %q: it makes %s", n.Name,
				strings.Join(data.Of, ", ")).WithHint("pass an .npz file with an array for each input")
		}
		w.Inputs, w.Length = append(w.Inputs, n.Name), n.Type.Elems()
		for _, u := range g.Nodes {
			if len(u.Args) == 2 && u.Args[1] == n && u.Args[0].IsConst() && (n.Name == data.Of[0] || len(g.In) == 1) {
				w.Vocabulary = u.Args[0].Type.Shape[0]
			}
		}
	}
	if p.tokens == nil {
		path := t.TokenizerFile()
		if t.Tokenizer == "" && !isFile(path) {
			return diag.New(diag.TokenizerFile, path, "the data are text, and beside the model there is no tokenizer").
				WithHint("--tokenizer names the tokenizer.json of the model")
		}
		k, err := tokens.Read(path)
		if err != nil {
			return err
		}
		p.tokens = k
	}
	w.Tokens = p.tokens
	return nil
}

// TokenizerFile is the file that makes tokens: by default, that in the folder of the model.
func (t *Task) TokenizerFile() string {
	if t.Tokenizer != "" {
		return t.Tokenizer
	}
	dir := t.Source.Model
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		dir = filepath.Dir(dir)
	}
	return filepath.Join(dir, "tokenizer.json")
}

func isFile(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// labelled are the labels of samples, and the file that they stand in: one of their own, or that of the samples.
func labelled(d *data.Data, samples, labels string) (a *npz.Array, path string, err error) {
	if d.Labels != nil && (labels == "" || !isFile(labels)) {
		if info, err := os.Stat(samples); labels != "" && err == nil && info.IsDir() {
			return nil, "", diag.New(diag.TrainLabels, labels, "no such file; a folder has no columns, and its folders are "+
				"the classes").WithHint("leave the labels out, or name a file")
		}
		return d.Labels, samples, nil
	}
	a, err = data.ReadLabels(labels)
	return a, labels, err
}

// evaluation reads samples, and the classes of each, to measure accuracy on.
func (t *Task) evaluation(p *prepared) (*npz.File, [][]int64, error) {
	d, err := t.read(p, t.Eval, t.EvalLabels, false)
	if err != nil {
		return nil, nil, err
	}
	if d.Classes != nil && p.data.Classes == nil && p.data.Labels != nil {
		return nil, nil, diag.New(diag.Labels, t.Eval, "classes have names, %s, and those of %s numbers",
			strings.Join(d.Classes, ", "), t.Data)
	}
	if d.Classes != nil && p.data.Classes != nil && !slices.Equal(d.Classes, p.data.Classes) {
		return nil, nil, diag.New(diag.Labels, t.Eval, "classes are %s, and those of %s %s",
			strings.Join(d.Classes, ", "), t.Data, strings.Join(p.data.Classes, ", "))
	}
	a, path, err := labelled(d, t.Eval, t.EvalLabels)
	if err != nil {
		return nil, nil, err
	}
	labels, err := driver.LabelsOf(a, path)
	return d.File, labels, err
}
