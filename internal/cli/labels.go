// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
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

// accuracies are the shares of samples of a file that a model gets right; nil where there are no labels.
func accuracies(ctx context.Context, q *driver.Quantized, samples, labels string) (*driver.Accuracies, error) {
	if labels == "" {
		return nil, nil
	}
	return q.Accuracies(ctx, samples, labels)
}

// printAccuracy prints both shares, if they are known.
func (a *App) printAccuracy(r *driver.Accuracies) {
	if r != nil {
		fmt.Fprintf(a.Out, "accuracy: %s\n", accuracyText(r))
	}
}

// accuracyText is both shares in words.
func accuracyText(r *driver.Accuracies) string {
	text := fmt.Sprintf("quantized %.4f", r.Quantized)
	if r.Float != nil {
		text = fmt.Sprintf("float %.4f, %s", *r.Float, text)
	}
	return text
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
