// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lathe/internal/diag"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/ir/ref"
	"lathe/lower/float"
	"lathe/lower/pass"
	"lathe/lower/quantize/loss"
)

// quality compares with the float graph, where there is one and real inputs, and both with the labels.
func (c *Check) quality(ctx context.Context, j Job, outputs []ref.Sample) error {
	judge := judge{j.Labels, j.Metric}
	quantized, err := judge.score(j.HW.Scheduled, outputs)
	if err != nil {
		return err
	}
	c.Right = judge.right(quantized, nil)
	if j.HW.Float == nil || j.Floats == nil {
		return nil
	}
	j.Progress.report("float model", 0, len(j.Floats))
	floats, err := Evaluate(ctx, j.HW.Float, j.Floats)
	if err != nil {
		return err
	}
	outputs = outputs[:len(floats)]
	signals, err := signals(j.HW.Float, floats, j.HW.Scheduled, outputs)
	if err != nil {
		return err
	}
	var each []*float64
	c.SQNR, each = ratios(j.HW.Scheduled, signals)
	for i, v := range each {
		name := j.HW.Scheduled.Out[i].Name
		if v == nil {
			continue
		}
		format := j.HW.Scheduled.Out[i].Node.Type.Format
		if text := loss.Coarse(name, format, signals[i].Spread(), signals[i].Peak); text != "" &&
			!slices.Contains(j.HW.told(), text) {
			c.Warnings = append(c.Warnings, text)
		}
		c.OutputSQNR = append(c.OutputSQNR, OutputSQNR{name, *v})
		if *v < LowSQNR {
			c.Warnings = append(c.Warnings, fmt.Sprintf("output %q keeps only %.1f dB against the float model: lathe "+
				"quantize shows the error of each node", name, *v))
		}
	}
	c.saturated(j)
	float, err := judge.score(j.HW.Float, floats)
	c.Right = judge.right(quantized, float)
	return err
}

// judge scores what graphs give for the first samples of a file: by class numbers, or by a metric in their place.
type judge struct {
	labels [][]int64
	metric *Metric
}

// score is the figure of a graph; nil where there is nothing to judge by.
func (j judge) score(g *ir.Graph, outputs []ref.Sample) (*float64, error) {
	switch {
	case j.metric != nil:
		if n := j.metric.Samples; n > 0 {
			outputs = outputs[:min(n, len(outputs))]
		}
		known := Known{Metric: j.metric}
		for i := range outputs {
			known.Use = append(known.Use, i)
		}
		return known.Score(g, outputs)
	case j.labels != nil:
		right, err := Accuracy(g, outputs[:min(len(j.labels), len(outputs))], j.labels)
		return &right, err
	}
	return nil, nil
}

// right puts the figures where they belong.
func (j judge) right(quantized, float *float64) (r Right) {
	if quantized == nil {
		return r
	}
	both := &Accuracies{Float: float, Quantized: *quantized}
	if j.metric == nil {
		return Right{Accuracy: both}
	}
	return Right{Metric: j.metric.Name, Least: j.metric.Least, Score: both}
}

// told are the warnings of quantization.
func (q *Quantized) told() []string {
	if q.Report == nil {
		return nil
	}
	return q.Report.Warnings
}

// LowSQNR is the output quality in decibel below which a plan is doubtful.
const LowSQNR = 20

// saturated warns of inputs of which a noticeable share lies beyond the format that they enter in.
func (c *Check) saturated(j Job) {
	for i, n := range j.HW.Float.In {
		if _, blocks := j.HW.Scheduled.In[i].Type.BlockFormat(); blocks {
			continue // every block has a range of its own
		}
		lo, hi := j.HW.Scheduled.In[i].Type.Format.Limits()
		least, most := lo.Float64(), hi.Float64()
		step := most / (1 << 6) // the last step is lost to rounding anyway
		beyond, total := 0, 0
		for _, s := range j.Floats {
			for _, v := range s[i].Floats {
				total++
				if float64(v) < least-step || float64(v) > most+step {
					beyond++
				}
			}
		}
		if beyond*100 > total {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%.0f %% of the values of input %q lie beyond %s, that is %s to %s",
				100*float64(beyond)/float64(total), n.Name, j.HW.Scheduled.In[i].Type.Format,
				diag.Number(float64(least), 4), diag.Number(float64(most), 4)))
		}
	}
}

// values are the decoded elements of output i in the caller's layout.
func values(g *ir.Graph, s ref.Sample, i int) ([]float64, error) {
	o := g.Out[i]
	v, err := s[i].Decode()
	if err != nil {
		return nil, o.Node.Errorf(diag.FormatData, "%v", err)
	}
	return pick(v, outputIndex(o.Node.Type.Shape, o.Perm)), nil
}

// classes is the number of classes that output 0 tells apart in each of so many places of a sample, 0 where it does not
// have so many, and how far apart the values of one place lie: classes stand along the last axis or, as pictures have
// them, along the first behind the samples. place says that it is the number of one, and not a value for each.
func classes(g *ir.Graph, places int) (n, stride int, place bool) {
	first := g.Out[0]
	elems, shape := first.Node.Type.Elems(), outputShape(&first)
	if n, place = float.Places(first.Node); place && elems == places {
		return n, 1, true
	}
	switch {
	case places == 1, len(shape) > 0 && elems/shape[len(shape)-1] == places:
		return elems / places, 1, false
	case len(shape) > 2 && shape[1]*places == elems:
		return shape[1], places, false
	}
	return 0, 1, false
}

// Accuracy is the share of labels that output 0 has: the place, or that of the largest element; of equal elements the
// first counts. Labels below 0 are left out.
func Accuracy(g *ir.Graph, outputs []ref.Sample, labels [][]int64) (float64, error) {
	if len(labels) != len(outputs) || len(labels) == 0 {
		return 0, diag.New(diag.Labels, g.Name, "%d labels for %d samples", len(labels), len(outputs))
	}
	right, count, each := 0, 0, len(labels[0])
	n, stride, place := classes(g, each)
	row := make([]float64, n)
	for s, out := range outputs {
		v, err := values(g, out, 0)
		if err != nil {
			return 0, err
		}
		for i, label := range labels[s] {
			if label < 0 {
				continue
			}
			count++
			best := 0
			if place {
				best = int(v[i])
			} else {
				from := i / stride * stride * n
				for k := range row {
					row[k] = v[from+k*stride+i%stride]
				}
				best = largest(row)
			}
			if int64(best) == label {
				right++
			}
		}
	}
	return float64(right) / float64(max(count, 1)), nil
}

// largest is the place of the largest element, the first of equal ones.
func largest(v []float64) int {
	best := 0
	for i := range v {
		if v[i] > v[best] {
			best = i
		}
	}
	return best
}

// Right is how right the model is before and after quantization, on the samples and labels of two files; nothing
// without labels and metric. A metric has read the labels.
func (q *Quantized) Right(ctx context.Context, samples, labels string, metric *Metric) (r Right, err error) {
	judge := judge{metric: metric}
	if labels == "" && metric == nil {
		return r, nil
	}
	file, err := npz.Read(samples)
	if err != nil {
		return r, err
	}
	if metric == nil {
		if judge.labels, err = Labels(labels); err != nil {
			return r, err
		}
	}
	of := func(g *ir.Graph) (*float64, error) {
		x, _, err := Samples(g, file)
		if err != nil {
			return nil, err
		}
		if err := metric.Labelled(len(x), labels); err != nil {
			return nil, err
		}
		if metric == nil {
			if err := CheckLabels(labels, judge.labels, len(x), g); err != nil {
				return nil, err
			}
		}
		y, err := Evaluate(ctx, g, x)
		if err != nil {
			return nil, err
		}
		return judge.score(g, y)
	}
	quantized, err := of(q.Graph)
	if err != nil || q.Float == nil {
		return judge.right(quantized, nil), err
	}
	float, err := of(q.Float)
	return judge.right(quantized, float), err
}

// SQNRLimit bounds what SQNR returns, since JSON has no infinity: +SQNRLimit is no error at all, -SQNRLimit error
// without a signal.
const SQNRLimit = 300

// SQNR is the ratio in decibel of what float outputs vary by to their quantization error (see pass.Signal), within
// SQNRLimit: of all together, and of each alone. Both are nil for numbers of classes, of which a neighbour is no nearer
// than another. Where the float graph gives NaN or an infinity, nothing counts.
func SQNR(model *ir.Graph, want []ref.Sample, quantized *ir.Graph, got []ref.Sample) (all *float64, each []*float64,
	err error) {
	signals, err := signals(model, want, quantized, got)
	if err != nil {
		return nil, nil, err
	}
	all, each = ratios(quantized, signals)
	return all, each, nil
}

// ratios are those of SQNR.
func ratios(quantized *ir.Graph, signals []pass.Signal) (all *float64, each []*float64) {
	var power, lost float64
	each = make([]*float64, len(signals))
	for i, o := range quantized.Out {
		if _, place := float.Places(o.Node); place {
			continue
		}
		v := ratio(signals[i].Power(), signals[i].Noise)
		each[i] = &v
		power, lost = power+signals[i].Power(), lost+signals[i].Noise
		both := ratio(power, lost)
		all = &both
	}
	return all, each
}

// signals are the outputs of a float graph and their errors in a quantized one, which has channels along the last axis
// of what its nodes compute: there the caller's arrays are compared.
func signals(model *ir.Graph, want []ref.Sample, quantized *ir.Graph, got []ref.Sample) ([]pass.Signal, error) {
	out := make([]pass.Signal, len(model.Out))
	for i, o := range quantized.Out {
		index, shape := outputIndex(o.Node.Type.Shape, o.Perm), o.Node.Type.Shape
		for s := range want {
			x, err := values(model, want[s], i)
			if err != nil {
				return nil, err
			}
			y, err := got[s][i].Decode()
			if err != nil {
				return nil, o.Node.Errorf(diag.FormatData, "%v", err)
			}
			out[i].Add(unpick(x, index), y, pass.Channels(shape))
		}
	}
	return out, nil
}

// unpick undoes pick.
func unpick[T any](values []T, index []int) []T {
	if index == nil {
		return values
	}
	out := make([]T, len(index))
	for i, k := range index {
		out[k] = values[i]
	}
	return out
}

// ratio is in decibel, within SQNRLimit.
func ratio(signal, noise float64) float64 {
	if noise == 0 {
		return SQNRLimit
	}
	return max(-SQNRLimit, min(SQNRLimit, pass.Decibels(signal, noise)))
}

// Labels reads class numbers from a .npy file or the only array of an .npz file, for each sample one, or one for each
// token or other place.
func Labels(path string) ([][]int64, error) {
	f, err := npz.Read(path)
	if err != nil {
		return nil, err
	}
	if len(f.Arrays) != 1 {
		return nil, diag.New(diag.Labels, path, "%d arrays where one of labels is needed", len(f.Arrays))
	}
	return LabelsOf(&f.Arrays[0], path)
}

// LabelsOf are the labels of an array of the file path, by samples.
func LabelsOf(a *npz.Array, path string) ([][]int64, error) {
	all, err := a.Int64s()
	if err != nil {
		err = diag.At(err, diag.Labels, path)
		if e := (*diag.Error)(nil); errors.As(err, &e) {
			e.Hint = "class numbers are whole: y.astype(numpy.int64), or one_hot.argmax(-1); numbers that the outputs should " +
				"be go with --metric rmse"
		}
		return nil, err
	}
	samples := 1
	if shape := a.Shape; len(shape) > 0 {
		samples = shape[0]
	}
	if len(all) == 0 {
		return nil, diag.New(diag.Labels, path, "no labels: the array has shape %s", ir.ShapeString(a.Shape))
	}
	return slices.Collect(slices.Chunk(all, len(all)/samples)), nil
}

// CheckLabels demands a label a sample, or one for each place of output 0, all of them classes of it. Of several places
// those with a label below 0 do not count, as the padding of tokens; some must. path is where they come from.
func CheckLabels(path string, labels [][]int64, samples int, g *ir.Graph) error {
	if len(labels) != samples {
		return diag.New(diag.Labels, path, "%d labels for %d samples", len(labels)*len(labels[0]), samples).
			WithHint("take labels and samples of one set, in one order: x[:n] goes with y[:n]")
	}
	first, counted := g.Out[0], false
	n, _, place := classes(g, len(labels[0]))
	if n == 0 {
		return diag.New(diag.Labels, path, "%d labels a sample: output %q of shape %s has not as many rows", len(labels[0]),
			first.Name, ir.ShapeString(outputShape(&first))).
			WithHint("class numbers are one for each sample, or for each place of the output; of one-hot rows: y.argmax(-1)")
	}
	what := fmt.Sprintf("has %d elements", n)
	if place {
		what = fmt.Sprintf("tells %d classes apart", n)
	}
	for i, of := range labels {
		for _, l := range of {
			if l < 0 && len(of) > 1 {
				continue
			}
			if counted = true; l < 0 || l >= int64(n) {
				return diag.New(diag.Labels, path, "label %d of sample %d is not a class: output %q %s", l, i, first.Name,
					what).WithHint("classes count from 0 to %d; where the first is 1: y - 1", n-1)
			}
		}
	}
	if !counted {
		return diag.New(diag.Labels, path, "all labels are below 0, and such places do not count")
	}
	return nil
}
