// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"lathe/internal/driver"
	"lathe/ir"
	"lathe/ir/ref"
)

// labelsUsage explains --labels where it stands for samples of either file.
const labelsUsage = "class numbers of the samples of --inputs, or else of --calibrate (.npy), for accuracy"

// needsSamples refuses labels without the samples that they belong to.
func needsSamples(labels, samples, flags string) error {
	if labels != "" && samples == "" {
		return usagef("--labels needs %s", flags)
	}
	return nil
}

// printRightness prints how right a model is before and after quantization, if that is known.
func (a *App) printRightness(r *driver.Right) {
	if name, text := rightText(r); name != "" {
		fmt.Fprintf(a.Out, "%s: %s\n", name, text)
	}
}

// rightText is what outputs were judged by and both figures in words; "" where they were not.
func rightText(r *driver.Right) (name, text string) {
	both, print := r.Accuracy, func(v float64) string { return fmt.Sprintf("%.4f", v) }
	name = accuracyName
	if r.Score != nil {
		name, both, print = r.Metric, r.Score, func(v float64) string { return fmt.Sprintf("%.4g", v) }
	}
	if both == nil {
		return "", ""
	}
	if text = "quantized " + print(both.Quantized); both.Float != nil {
		text = fmt.Sprintf("float %s, %s", print(*both.Float), text)
	}
	return name, text
}

// rightly adds how right a model is to facts.
func rightly(r driver.Right, facts map[string]any) map[string]any {
	facts["accuracy"] = r.Accuracy
	if r.Score != nil {
		facts["metric"], facts["less_is_better"], facts["score"] = r.Metric, r.Least, r.Score
	}
	return facts
}

// printRight prints the share of outputs that are right, or what another metric says of them; nothing without labels.
func (a *App) printRight(g *ir.Graph, outputs []ref.Sample, r *runFlags) (facts rightFacts, err error) {
	if r.labels == "" {
		return facts, nil
	}
	metric, err := r.metric.of(a, r.labels)
	if err != nil {
		return facts, err
	}
	if metric == nil {
		facts.Accuracy, err = a.printAccurate(g, outputs, r.labels)
		return facts, err
	}
	if err := metric.Labelled(len(outputs), r.labels); err != nil {
		return facts, err
	}
	known := driver.Known{Metric: metric}
	for i := range outputs {
		known.Use = append(known.Use, i)
	}
	facts.Metric = metric.Name
	if facts.Score, err = known.Score(g, outputs); err == nil {
		fmt.Fprintf(a.Out, "%s: %.4g\n", metric.Name, *facts.Score)
	}
	return facts, err
}

// printAccurate prints the share of outputs that are right.
func (a *App) printAccurate(g *ir.Graph, outputs []ref.Sample, path string) (*float64, error) {
	labels, err := driver.Labels(path)
	if err != nil {
		return nil, err
	}
	if err := driver.CheckLabels(path, labels, len(outputs), g); err != nil {
		return nil, err
	}
	right, err := driver.Accuracy(g, outputs, labels)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(a.Out, "accuracy: %.4f\n", right)
	return &right, nil
}
