// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"lathe/internal/choose"
	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/internal/npz"
)

// metricFlags say what outputs are judged by.
type metricFlags struct{ name, calls string }

const (
	// accuracy is the metric that labels have without --metric.
	accuracyName = "accuracy"
	// callsFlag is for programs that compute a metric themselves, such as the Python package.
	callsFlag = "metric-calls"
	// askPrefix begins the line that asks such a program.
	askPrefix = "metric of "
)

func (m *metricFlags) add(c *cobra.Command) {
	m.addName(c)
	c.Flags().StringVar(&m.calls, callsFlag, "", "folder for outputs of which the caller computes the metric: each line "+
		"\""+askPrefix+"FILE\" on standard error asks for one, as a number on standard input")
	c.Flags().Lookup(callsFlag).Hidden = true
}

// addName declares the flag alone that names a metric.
func (m *metricFlags) addName(c *cobra.Command) {
	c.Flags().StringVar(&m.name, "metric", accuracyName, "what outputs are judged by: accuracy, "+
		strings.Join(choose.MetricNames(), ", ")+"; for rmse, --labels has the wanted outputs")
}

// other says that something takes the place of the accuracy.
func (m *metricFlags) other() bool { return m.name != accuracyName || m.calls != "" }

// check refuses an unknown metric, one without labels, and labels without the samples that they belong to, which flags
// name.
func (m *metricFlags) check(labels, samples, flags string) error {
	if m.calls != "" && samples == "" {
		return usagef("--metric %s needs %s", m.name, flags)
	}
	if err := needsSamples(labels, samples, flags); err != nil || !m.other() || m.calls != "" {
		return err
	}
	if err := oneOf("--metric", m.name, append([]string{accuracyName}, choose.MetricNames()...)...); err != nil {
		return err
	}
	if labels == "" {
		return usagef("--metric %s needs --labels", m.name)
	}
	return nil
}

// of is the metric; nil for the accuracy.
func (m *metricFlags) of(a *App, labels string) (*driver.Metric, error) {
	switch {
	case m.calls != "":
		answers := bufio.NewReader(a.In)
		return &driver.Metric{Name: m.name, Of: func(outputs []npz.Array, use []int) (float64, error) {
			return a.ask(m.calls, answers, outputs, use)
		}}, nil
	case m.other():
		return choose.NewMetric(m.name, labels)
	}
	return nil, nil
}

// placesName is the array of the file that says which samples of the inputs the outputs are of.
const placesName = "samples of the file"

// ask has the caller compute a metric.
func (a *App) ask(folder string, answers *bufio.Reader, outputs []npz.Array, use []int) (float64, error) {
	places := make([]int64, len(use))
	for i, at := range use {
		places[i] = int64(at)
	}
	path := filepath.Join(folder, "outputs.npz")
	arrays := append(outputs[:len(outputs):len(outputs)], npz.Int64Array(placesName, []int{len(use)}, places))
	if err := npz.Write(path, arrays); err != nil {
		return 0, err
	}
	fmt.Fprintf(a.Err, "%s%s\n", askPrefix, path)
	line, err := answers.ReadString('\n')
	if err != nil && err != io.EOF {
		return 0, diag.New(diag.Labels, path, "no answer of the caller: %v", err)
	}
	score, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
	if err != nil {
		return 0, diag.New(diag.Labels, path, "the caller's answer %q is not a number", strings.TrimSpace(line))
	}
	return score, nil
}
