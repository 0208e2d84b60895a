// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"lathe/internal/diag"
	"lathe/train"
)

// trainLog writes what training does to a folder, and shows it.
type trainLog struct {
	app      *App
	folder   string
	progress *progress
	file     *os.File
	err      error
}

// logName is the file of a folder with a line a call.
const logName = "train.jsonl"

// logLine is a line of train.jsonl.
type logLine struct {
	Step     int      `json:"step"`
	Epoch    int      `json:"epoch"`
	Loss     float64  `json:"loss"`
	Rate     float64  `json:"lr"`
	Norm     float64  `json:"grad_norm"`
	Accuracy *float64 `json:"accuracy,omitempty"`
	Sparsity float64  `json:"sparsity,omitempty"`
}

// watch notes a call.
func (l *trainLog) watch(p train.Progress) {
	l.progress.Report("training", p.Step, p.Steps)
	if p.Metric != nil {
		l.progress.mu.Lock()
		l.progress.clear()
		l.progress.mu.Unlock()
		fmt.Fprintf(l.app.Err, "epoch %d: loss %s, accuracy %.4f\n", p.Epoch, diag.Number(p.Loss, 3), *p.Metric)
	}
	if l.err == nil && l.file == nil {
		if l.err = os.MkdirAll(l.folder, 0o755); l.err == nil {
			l.file, l.err = os.OpenFile(filepath.Join(l.folder, logName), l.mode(p), 0o644)
		}
	}
	if l.err == nil {
		l.err = json.NewEncoder(l.file).Encode(logLine{p.Step, p.Epoch, p.Loss, p.Rate, p.Norm, p.Metric, p.Sparsity})
	}
}

// mode has lines of an earlier run stay where this one goes on.
func (l *trainLog) mode(p train.Progress) int {
	if p.Resumed > 0 {
		return os.O_CREATE | os.O_WRONLY | os.O_APPEND
	}
	return os.O_CREATE | os.O_WRONLY | os.O_TRUNC
}

// close ends the log.
func (l *trainLog) close() error {
	if l.file != nil {
		if err := l.file.Close(); l.err == nil {
			l.err = err
		}
	}
	if l.err != nil {
		return diag.New(diag.FileWrite, filepath.Join(l.folder, logName), "cannot write: %v", reason(l.err))
	}
	return nil
}
