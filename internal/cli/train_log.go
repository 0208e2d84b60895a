// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lathe/internal/diag"
	"lathe/internal/training"
	"lathe/internal/training/events"
	"lathe/train"
)

// trainLog writes what training does to a folder, and shows it.
type trainLog struct {
	app      *App
	model    string
	folder   string
	progress *progress
	file     *os.File // a line a call
	board    *os.File // the same for TensorBoard
	events   *events.Writer
	err      error
}

// Files of a folder: a line a call, and the curves drawn of them.
const (
	logName    = "train.jsonl"
	curvesPage = "curves.html"
	curvesPlot = "curves"
)

// watch notes a call.
func (l *trainLog) watch(p train.Progress) {
	l.progress.Report("training", p.Step, p.Steps)
	if p.Metric != nil {
		l.progress.clearLine()
		fmt.Fprintf(l.app.Err, "epoch %d: loss %s, %s %.4f\n", p.Epoch, diag.Number(p.Loss, 3), p.Figure, *p.Metric)
	}
	if l.err == nil && l.file == nil {
		l.err = l.begin(p.Resumed > 0)
	}
	line := training.LineOf(p)
	if l.err == nil {
		l.err = json.NewEncoder(l.file).Encode(line)
	}
	if l.err == nil {
		l.err = l.events.Add(time.Now(), p.Step, line.Scalars()...)
	}
}

// begin opens the files. Where this run goes on from an earlier one, what that one wrote stays.
func (l *trainLog) begin(resumed bool) error {
	if err := os.MkdirAll(l.folder, 0o755); err != nil {
		return err
	}
	mode := os.O_CREATE | os.O_RDWR | os.O_APPEND
	if !resumed {
		mode |= os.O_TRUNC
		if err := l.forget(); err != nil {
			return err
		}
	}
	var err error
	if l.file, err = os.OpenFile(filepath.Join(l.folder, logName), mode, 0o644); err != nil {
		return err
	}
	now := time.Now()
	if l.board, err = os.Create(filepath.Join(l.folder, events.Name(now))); err != nil {
		return err
	}
	l.events, err = events.New(l.board, now)
	return err
}

// forget removes what an earlier run wrote for TensorBoard, which would draw both.
func (l *trainLog) forget() error {
	files, err := os.ReadDir(l.folder)
	if err != nil {
		return err
	}
	for _, f := range files {
		if strings.HasPrefix(f.Name(), events.Prefix) {
			if err := os.Remove(filepath.Join(l.folder, f.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// close ends the log and draws the curves of all runs in the folder.
func (l *trainLog) close() error {
	var curves training.Curves
	if l.file != nil && l.err == nil {
		if _, l.err = l.file.Seek(0, io.SeekStart); l.err == nil {
			curves, l.err = training.ReadCurves(l.file)
		}
	}
	for _, f := range []*os.File{l.file, l.board} {
		if f != nil {
			l.err = errors.Join(l.err, f.Close())
		}
	}
	if l.err != nil {
		return diag.New(diag.FileWrite, filepath.Join(l.folder, logName), "cannot write: %v", reason(l.err))
	}
	if len(curves) == 0 {
		return nil
	}
	if _, err := writeDrawn(filepath.Join(l.folder, curvesPlot), curves.SVG(), nil); err != nil {
		return err
	}
	path := filepath.Join(l.folder, curvesPage)
	page, err := curves.Page("Training of "+filepath.Base(l.model), Version).HTML()
	if err != nil {
		return diag.New(diag.UnitFault, path, "cannot print the page: %v", err)
	}
	return writeFile(path, page)
}
