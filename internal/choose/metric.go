// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"fmt"
	"math"
	"strings"

	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/internal/npz"
	"lathe/ir"
)

// metrics are those that outputs may be judged by in place of the accuracy, each of output 0 alone.
var metrics = []struct {
	name  string
	least bool
	// of is for class numbers, ofValues for labels that are numbers like the outputs.
	of       func(*judge) (float64, error)
	ofValues func(outputs, labels []float64) float64
}{
	{name: "top5", of: (*judge).top5},
	{name: "iou", of: (*judge).iou},
	{name: "f1", of: (*judge).f1},
	{name: "perplexity", least: true, of: (*judge).perplexity},
	{name: "rmse", least: true, ofValues: rmse},
}

// MetricNames are the metrics of NewMetric.
func MetricNames() (names []string) {
	for _, m := range metrics {
		names = append(names, m.name)
	}
	return names
}

// NewMetric is a metric by name, with labels from a .npy file: class numbers as for the accuracy or, for rmse, the
// wanted values of output 0. iou and f1 leave out places whose label is no class.
func NewMetric(name, labels string) (*driver.Metric, error) {
	for _, m := range metrics {
		if m.name != name {
			continue
		}
		file, err := npz.Read(labels)
		if err != nil {
			return nil, err
		}
		if len(file.Arrays) != 1 || len(file.Arrays[0].Shape) == 0 || file.Arrays[0].Len() == 0 {
			return nil, diag.New(diag.Labels, labels, "%s takes one array of labels with an axis of samples", name)
		}
		want := &file.Arrays[0]
		return &driver.Metric{Name: name, Least: m.least, Samples: want.Shape[0],
			Of: func(outputs []npz.Array, use []int) (float64, error) {
				j := &judge{path: labels, shape: outputs[0].Shape, got: outputs[0].Float64s(), samples: len(use)}
				if m.ofValues != nil {
					return j.values(want, use, m.ofValues)
				}
				if err := j.classes(want, use); err != nil {
					return 0, err
				}
				return m.of(j)
			}}, nil
	}
	return nil, diag.New(diag.Labels, labels, "there is no metric %q: %s", name, strings.Join(MetricNames(), ", "))
}

// judge holds outputs beside class numbers.
type judge struct {
	path    string // of the labels
	shape   []int  // of the outputs, samples first
	got     []float64
	samples int
	labels  []int64
	// n is the number of classes, and stride how far apart the values of one place lie; n is 0 where the outputs are
	// numbers of classes themselves.
	n, stride int
}

// values is a metric of outputs and labels of the same shape.
func (j *judge) values(want *npz.Array, use []int, of func(outputs, labels []float64) float64) (float64, error) {
	all, each := want.Float64s(), want.Len()/want.Shape[0]
	if each*j.samples != len(j.got) {
		return 0, diag.New(diag.Labels, j.path, "%d numbers a sample: output 0 has shape %s, samples first", each,
			ir.ShapeString(j.shape))
	}
	var labels []float64
	for _, at := range use {
		labels = append(labels, all[at*each:(at+1)*each]...)
	}
	return of(j.got, labels), nil
}

// classes reads the labels, and finds the axis of the classes: of a place for each label the last one or, as pictures
// have it, the first behind the samples.
func (j *judge) classes(want *npz.Array, use []int) error {
	all, err := want.Int64s()
	if err != nil {
		return diag.At(err, diag.Labels, j.path)
	}
	each := want.Len() / want.Shape[0]
	for _, at := range use {
		j.labels = append(j.labels, all[at*each:(at+1)*each]...)
	}
	values := len(j.got) / j.samples
	switch j.n = values / each; {
	case values == each:
		j.n = 0
	case each == 1 || j.shape[len(j.shape)-1]*each == values:
		j.stride = 1
	case j.shape[1]*each == values:
		j.stride = each
	default:
		return diag.New(diag.Labels, j.path, "%d labels a sample: output 0 of shape %s, samples first, has no classes for "+
			"as many places", each, ir.ShapeString(j.shape))
	}
	return nil
}

// row are the values of all classes at the place of label i.
func (j *judge) row(i int) []float64 {
	if j.stride == 1 {
		return j.got[i*j.n : (i+1)*j.n]
	}
	row := make([]float64, j.n)
	for k := range row {
		row[k] = j.got[i/j.stride*j.stride*j.n+k*j.stride+i%j.stride]
	}
	return row
}

// mean is the mean of a figure over the places of labels. Of several places a sample those with a label below 0 do not
// count, as the padding of tokens.
func (j *judge) mean(metric string, figure func(row []float64, label int) float64) (float64, error) {
	if j.n == 0 {
		return 0, diag.New(diag.Labels, j.path, "%s needs a value for each class, and output 0 of shape %s, samples "+
			"first, has as many values as there are labels", metric, ir.ShapeString(j.shape))
	}
	sum, count := 0.0, 0
	for i, l := range j.labels {
		if l < 0 && len(j.labels) > j.samples {
			continue
		}
		if l < 0 || l >= int64(j.n) {
			return 0, diag.New(diag.Labels, j.path, "label %d is not a class: output 0 has %d for each label", l, j.n)
		}
		sum, count = sum+figure(j.row(i), int(l)), count+1
	}
	if count == 0 {
		return 0, diag.New(diag.Labels, j.path, "all labels are below 0, and such places do not count")
	}
	return sum / float64(count), nil
}

// top5 is the share of labels that are among the five largest values; of equal ones the first count.
func (j *judge) top5() (float64, error) {
	return j.mean("top5", func(row []float64, label int) float64 {
		before := 0
		for k, v := range row {
			if v > row[label] || v == row[label] && k < label {
				before++
			}
		}
		if before < 5 {
			return 1
		}
		return 0
	})
}

// perplexity is the exponential of the mean cross-entropy of the labels, of outputs before softmax.
func (j *judge) perplexity() (float64, error) {
	lost, err := j.mean("perplexity", func(row []float64, label int) float64 {
		most, sum := math.Inf(-1), 0.0
		for _, v := range row {
			most = max(most, v)
		}
		for _, v := range row {
			sum += math.Exp(v - most)
		}
		return most + math.Log(sum) - row[label]
	})
	return math.Exp(lost), err
}

// iou is the mean, over classes that labels or outputs have, of the places that both have over those that either has.
func (j *judge) iou() (float64, error) {
	return j.overlap(func(both, either float64) float64 { return both / either })
}

// f1 is the mean, over the same classes, of the harmonic mean of precision and recall (Sørensen-Dice).
func (j *judge) f1() (float64, error) {
	return j.overlap(func(both, either float64) float64 { return 2 * both / (both + either) })
}

// overlap is the mean over classes of a figure of the places that labels and outputs both have, and either has.
func (j *judge) overlap(of func(both, either float64) float64) (float64, error) {
	both, either := map[int64]int{}, map[int64]int{}
	for i, l := range j.labels {
		var c int64
		if j.n == 0 {
			c = int64(math.Round(j.got[i]))
		} else {
			row := j.row(i)
			for k, v := range row {
				if v > row[c] {
					c = int64(k)
				}
			}
		}
		if l < 0 || j.n > 0 && l >= int64(j.n) {
			continue // no class, such as 255 at borders
		}
		if either[l]++; c == l {
			both[l]++
		} else {
			either[c]++
		}
	}
	if len(either) == 0 {
		return 0, diag.New(diag.Labels, j.path, "no label is a class of output 0, which has %d", j.n)
	}
	sum := 0.0
	for c := range either {
		sum += of(float64(both[c]), float64(either[c]))
	}
	return sum / float64(len(either)), nil
}

// rmse is the root of the mean squared error.
func rmse(outputs, labels []float64) float64 {
	sum := 0.0
	for i, v := range outputs {
		sum += (v - labels[i]) * (v - labels[i])
	}
	return math.Sqrt(sum / float64(len(outputs)))
}

// figure prints a score.
func figure(v float64) string { return fmt.Sprintf("%.4g", v) }

// scored is a score of a plot; NaN is not drawn.
func scored(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}
