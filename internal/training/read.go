// SPDX-License-Identifier: Apache-2.0

package training

import (
	"os"
	"slices"
	"strings"

	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/train/data"
)

// read reads samples of any format for the input of a graph as it was imported. labels is a file, a column, or empty.
func read(path, labels string, g *ir.Graph) (*data.Data, error) {
	if data.Plain(path) {
		return data.Read(path, "", nil)
	}
	if len(g.In) != 1 {
		return nil, diag.New(diag.ArrayShape, path, "the model has %d inputs", len(g.In)).
			WithHint("pass an .npz file with an array for each input")
	}
	column := ""
	if !isFile(labels) {
		column = labels
	}
	return data.Read(path, column, g.In[0].Type.Shape)
}

func isFile(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// labelled are the labels of samples, and the file that they stand in: one of their own, or that of the samples.
func labelled(d *data.Data, samples, labels string) (a *npz.Array, path string, err error) {
	if d.Labels != nil && (labels == "" || !isFile(labels)) {
		return d.Labels, samples, nil
	}
	a, err = data.ReadLabels(labels)
	return a, labels, err
}

// evaluation reads samples, and the classes of each, to measure accuracy on.
func (t *Task) evaluation(p *prepared) (*npz.File, [][]int64, error) {
	d, err := read(t.Eval, t.EvalLabels, p.imported)
	if err != nil {
		return nil, nil, err
	}
	if d.Classes != nil && p.data.Classes != nil && !slices.Equal(d.Classes, p.data.Classes) {
		return nil, nil, diag.New(diag.Labels, t.Eval, "folders of classes are %s, and those of %s %s",
			strings.Join(d.Classes, ", "), t.Data, strings.Join(p.data.Classes, ", "))
	}
	a, path, err := labelled(d, t.Eval, t.EvalLabels)
	if err != nil {
		return nil, nil, err
	}
	labels, err := driver.LabelsOf(a, path)
	return d.File, labels, err
}
