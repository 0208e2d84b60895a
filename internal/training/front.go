// SPDX-License-Identifier: Apache-2.0

package training

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/emit/pdf"
	"lathe/emit/plot"
	"lathe/internal/atomicfile"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/text"
	"lathe/lower"
	"lathe/lower/plan"
	"lathe/lower/schedule"
)

// Point is a graph on the way of training with a price for bits.
type Point struct {
	Epoch    int     `json:"epoch"`
	Accuracy float64 `json:"accuracy"`
	LUT      int     `json:"lut"`
	DSP      int     `json:"dsp"`
	File     string  `json:"file"` // of the front; empty for points beside it

	graph *ir.Graph // nil where the file holds it
}

// frontPoints bounds the epochs after which hardware is predicted: it takes longer than an epoch of a small model.
const frontPoints = 100

// front collects points.
type front struct {
	plan   *plan.Plan
	epochs int
	figure string // what the points keep as their accuracy
	points []Point
}

// add predicts the hardware of g, after an epoch of those that count.
func (f *front) add(ctx context.Context, g *ir.Graph, epoch int, accuracy float64) error {
	every := (f.epochs + frontPoints - 1) / frontPoints
	if epoch%every != 0 && epoch != f.epochs {
		return nil
	}
	lut, dsp, err := Hardware(ctx, g, f.plan)
	if err != nil {
		return err
	}
	f.points = append(f.points, Point{Epoch: epoch, Accuracy: accuracy, LUT: lut, DSP: dsp, graph: g})
	return nil
}

// Hardware predicts LUTs and DSPs of a quantized graph under a plan.
func Hardware(ctx context.Context, g *ir.Graph, p *plan.Plan) (lut, dsp int, err error) {
	_, r, err := lower.Schedule(ctx, g, p, schedule.Options{})
	if err != nil {
		return 0, 0, err
	}
	c := r.Cost()
	return c.LUT, c.DSP, nil
}

// worth is the accuracy of a point, or what else is the greater the better.
func (f *front) worth(p *Point) float64 {
	if f.figure == rmse {
		return -p.Accuracy
	}
	return p.Accuracy
}

// best says that no other point is as accurate with less hardware, or more accurate with as much.
func (f *front) best(p *Point) bool {
	for i := range f.points {
		o := &f.points[i]
		if o != p && f.worth(o) >= f.worth(p) && o.LUT <= p.LUT && (f.worth(o) > f.worth(p) || o.LUT < p.LUT ||
			o.Epoch > p.Epoch) {
			return false
		}
	}
	return true
}

// front are the best points, the least hardware first.
func (f *front) front() []Point {
	var out []Point
	for i := range f.points {
		if f.best(&f.points[i]) {
			out = append(out, f.points[i])
		}
	}
	slices.SortFunc(out, func(a, b Point) int { return cmp.Compare(a.LUT, b.LUT) })
	return out
}

// dir is the folder of the front within that of training.
func dir(folder string) string { return filepath.Join(folder, "front") }

// read takes the points that an interrupted run has left.
func (f *front) read(folder string) error {
	path := filepath.Join(dir(folder), "front.csv")
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil
	}
	rows, e := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err = errors.Join(err, e); err != nil || len(rows) == 0 {
		return diag.New(diag.CheckpointFile, path, "cannot be read: %v", err)
	}
	for _, row := range rows[1:] {
		p := Point{File: row[4]}
		if _, err := fmt.Sscan(strings.Join(row[:4], " "), &p.Epoch, &p.Accuracy, &p.LUT, &p.DSP); err != nil {
			return diag.New(diag.CheckpointFile, path, "has a row %q", row)
		}
		f.points = append(f.points, p)
	}
	return nil
}

// write saves the graphs of the front into a folder, with a table of all points and a picture.
func (f *front) write(folder string) error {
	dir := dir(folder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return diag.New(diag.FileWrite, dir, "cannot write: %v", err)
	}
	table := "epoch," + f.figure + ",lut,dsp,file\n"
	all, best := plot.Series{Name: "each epoch", Loose: true}, plot.Series{Name: "front"}
	for i := range f.points {
		p := &f.points[i]
		if err := f.file(p, dir); err != nil {
			return err
		}
		at := plot.Point{X: float64(p.LUT), Y: p.Accuracy, Label: fmt.Sprintf("epoch %d", p.Epoch)}
		all.Points = append(all.Points, at)
		if p.File != "" {
			best.Points = append(best.Points, at)
		}
		table += fmt.Sprintf("%d,%g,%d,%d,%s\n", p.Epoch, p.Accuracy, p.LUT, p.DSP, p.File)
	}
	slices.SortFunc(best.Points, func(a, b plot.Point) int { return cmp.Compare(a.X, b.X) })
	chart := plot.Chart{Title: f.figure + " against predicted LUTs", X: "LUT", Y: f.figure,
		Series: []plot.Series{all, best}}
	picture := chart.SVG()
	printed, err := pdf.Of(picture)
	if err != nil {
		return diag.New(diag.UnitFault, dir, "cannot print the picture: %v", err)
	}
	for name, data := range map[string][]byte{"front.csv": []byte(table), "front.svg": picture, "front.pdf": printed} {
		if err := atomicfile.WriteBytes(filepath.Join(dir, name), data); err != nil {
			return diag.New(diag.FileWrite, filepath.Join(dir, name), "cannot write: %v", err)
		}
	}
	return nil
}

// file keeps the graph of a point of the front in a file, and of no other.
func (f *front) file(p *Point, dir string) error {
	best := f.best(p)
	if !best && p.File != "" {
		err := os.Remove(p.File)
		if p.File = ""; err != nil && !os.IsNotExist(err) {
			return diag.New(diag.FileWrite, dir, "cannot remove: %v", err)
		}
	}
	if !best {
		p.graph = nil // what is beaten once stays so
	}
	if p.graph == nil {
		return nil
	}
	p.File = filepath.Join(dir, fmt.Sprintf("epoch-%04d.lathe", p.Epoch))
	err := text.Save(p.File, p.graph)
	p.graph = nil
	return err
}
