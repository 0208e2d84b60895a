// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"lathe/cuda/cases"
)

// measurement is a line of docs/measurements.
type measurement struct {
	Case, Commit, GPU, Status string
	Median                    float64 `json:"us_median"`
	PctFloor                  float64 `json:"pct_floor"`
	Baselines                 []struct {
		Name string
		Us   float64
	} `json:"baseline"`
}

// measurements are the last line of each case, and what was predicted of it before.
type measurements struct {
	last      map[string]measurement
	predicted []cases.Prediction
}

// text is a cell: what was measured of a case.
func (t *measurements) text(name string) string {
	m := t.last[name]
	switch m.Status {
	case "":
		return "-"
	case "ok":
	default:
		return fmt.Sprintf("%s: %s, %s", m.Status, m.GPU, m.Commit)
	}
	text := fmt.Sprintf("%.1f us, %.0f %% of the floor: %s, %s", m.Median, m.PctFloor, m.GPU, m.Commit)
	if at := t.find(name); at >= 0 {
		text += fmt.Sprintf("; predicted %.1f us", t.predicted[at].Us)
	}
	for _, b := range m.Baselines {
		text += fmt.Sprintf("; %s %.2f x", b.Name, b.Us/m.Median)
	}
	return text
}

func (t *measurements) find(name string) int {
	return slices.IndexFunc(t.predicted, func(p cases.Prediction) bool { return p.Case == name })
}

// layerCases begin the names of cases that are whole passes.
const layerCases = "layer/"

// writeLayers writes a line for each whole pass.
func (t *measurements) writeLayers(b *strings.Builder) {
	layers := slices.Collect(maps.Keys(t.last))
	for _, p := range t.predicted {
		layers = append(layers, p.Case)
	}
	layers = slices.DeleteFunc(layers, func(name string) bool { return !strings.HasPrefix(name, layerCases) })
	if len(layers) == 0 {
		return
	}
	slices.Sort(layers)
	b.WriteString("\n## Whole passes\n\nA transformer of one layer at its real size, in bf16, 128 tokens a sample: " +
		"all kernels that `lathe emit-cuda`\nchooses, in a row.\n\n" +
		"| pass | predicted, us | for | measured |\n|---|--:|---|---|\n")
	for _, name := range slices.Compact(layers) {
		predicted, gpu := "-", "-"
		if at := t.find(name); at >= 0 {
			predicted, gpu = fmt.Sprintf("%.1f", t.predicted[at].Us), t.predicted[at].GPU
		}
		pass := cell(strings.TrimPrefix(name, layerCases))
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", pass, predicted, gpu, t.text(name))
	}
}

// writeSlower lists what another library does faster.
func (t *measurements) writeSlower(b *strings.Builder) {
	var slower []string
	for name, m := range t.last {
		for _, l := range m.Baselines {
			if m.Status == "ok" && l.Us < m.Median {
				slower = append(slower, fmt.Sprintf("- %s: %.1f us, %s %.1f us\n", name, m.Median, l.Name, l.Us))
			}
		}
	}
	if len(slower) > 0 {
		slices.Sort(slower)
		b.WriteString("\n## Slower than another library\n\n" + strings.Join(slower, ""))
	}
}

// measured reads docs/measurements; the last line of a case counts.
func measured(tree fs.FS) (*measurements, error) {
	t := &measurements{last: map[string]measurement{}}
	text, err := fs.ReadFile(tree, "predictions.json")
	if err == nil {
		err = json.Unmarshal(text, &t.predicted)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("predictions.json: %w", err)
	}
	names, err := fs.Glob(tree, "*.jsonl")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		data, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, 1<<20)
		for n := 1; lines.Scan(); n++ {
			var m measurement
			if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, n, err)
			}
			t.last[m.Case] = m
		}
	}
	return t, nil
}
