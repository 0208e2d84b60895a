// SPDX-License-Identifier: Apache-2.0

package area

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"lathe/internal/atomicfile"
	"lathe/internal/diag"
	"lathe/sim/area/paths"
	"lathe/sim/child"
)

// run is one Yosys run: its folder holds script, log and results, and stays behind only when the run failed.
type run struct {
	yosysPath string
	version   string
	folder    string // where Yosys runs and writes
	sources   string // the folder of the design, its files and their modules
	files     []string
	modules   []string
	timeout   time.Duration
	steps     int
	progress  func(done, total int)
}

// newRun finds Yosys and makes the folder.
func newRun(ctx context.Context, opts Options) (*run, error) {
	if opts.Timeout == 0 {
		opts.Timeout = 10 * time.Minute
	}
	if opts.Yosys == "" {
		opts.Yosys = "yosys"
	}
	path, err := exec.LookPath(opts.Yosys)
	if err != nil {
		return nil, diag.New(diag.NoYosys, "", "Yosys is not installed: %v", err).
			WithHint("run scripts/setup, or install the package yosys")
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	said, err := exec.CommandContext(ctx, path, "-V").Output()
	words := strings.Fields(string(said))
	if err != nil || len(words) < 2 || words[0] != "Yosys" {
		return nil, diag.New(diag.NoYosys, "", "%s -V does not name a version of Yosys (%v)", opts.Yosys, err)
	}
	folder, err := atomicfile.Folder(opts.LogDir, "lathe-yosys-")
	if err != nil {
		return nil, diag.New(diag.YosysFailed, "", "no folder for the log: %v", err)
	}
	return &run{yosysPath: path, version: strings.Join(words[:2], " "), folder: folder, timeout: opts.Timeout,
		progress: opts.Progress}, nil
}

func (r *run) file(name string) string { return filepath.Join(r.folder, name) }

// yosys runs the script. The whole process group ends with the context, since the mapper runs as a child of Yosys.
func (r *run) yosys(ctx context.Context, script string) error {
	if err := os.WriteFile(r.file("run.ys"), []byte(script), 0o644); err != nil {
		return r.failed(diag.YosysFailed, "%v", err)
	}
	// -e: the warning means that Yosys made up an undriven wire for a hierarchical name.
	tool := child.Tool{Path: r.yosysPath, Args: []string{"-e", "implicitly declared", "-s", "run.ys"}, Folder: r.folder,
		Log: r.file("log"), Timeout: r.timeout}
	ended, followed := make(chan struct{}), make(chan struct{})
	go func() {
		follow(r.file("log"), r.steps, r.progress, ended)
		close(followed)
	}()
	err := tool.Run(ctx)
	close(ended)
	<-followed // nothing is reported of a count that is over
	switch {
	case errors.Is(err, child.ErrTimeout):
		return r.failed(diag.YosysTimeout, "Yosys did not finish within %v", r.timeout).
			WithHint("a flat or unrolled design can take minutes: lathe area has --timeout")
	case ctx.Err() != nil:
		_ = atomicfile.Remove(r.folder) // nobody asks why
		return ctx.Err()
	case err != nil:
		return r.explain(err)
	}
	return nil
}

// explain turns the first error line of the log into the message.
func (r *run) explain(cause error) error {
	log, err := os.ReadFile(r.file("log"))
	if err != nil {
		return r.failed(diag.YosysFailed, "Yosys failed (%v) and its log cannot be read: %v", cause, err)
	}
	for line := range bytes.Lines(log) {
		text := strings.TrimSpace(string(line))
		if _, message, ok := strings.Cut(text, "ERROR: "); ok {
			code := diag.YosysFailed
			if strings.Contains(message, "implicitly declared") {
				code = diag.HierarchicalName
			}
			e := r.failed(code, "Yosys: %s", message)
			if place, _, ok := strings.Cut(text, ": ERROR: "); ok {
				e.Pos = place
			}
			return e
		}
	}
	return r.failed(diag.YosysFailed, "Yosys failed without an error message: %v", cause)
}

// failed is a diag.Error that names the log.
func (r *run) failed(code diag.Code, msg string, args ...any) *diag.Error {
	atomicfile.Keep(r.folder)
	return diag.New(code, "", msg, args...).WithNote("the whole output of Yosys: %s", r.file("log"))
}

// statistics is the part of `stat -json` that a count needs; Yosys 0.23 lists submodules among the cells, later
// versions apart.
type statistics struct {
	Modules map[string]moduleStatistics `json:"modules"`
	Design  *moduleStatistics           `json:"design"`
}

type moduleStatistics struct {
	Cells      map[string]int `json:"num_cells_by_type"`
	Submodules map[string]int `json:"num_submodules_by_type"`
}

// hierarchy is the part of a JSON netlist that holds which module instantiates which.
type hierarchy struct {
	Modules map[string]struct {
		Cells map[string]struct {
			Type  string            `json:"type"`
			Ports map[string]string `json:"port_directions"`
		} `json:"cells"`
	} `json:"modules"`
}

func (r *run) results() (*statistics, *hierarchy, error) {
	var s statistics
	var h hierarchy
	for name, into := range map[string]any{"stat": &s, "hier": &h} {
		data, err := os.ReadFile(r.file(name))
		if err == nil {
			err = json.Unmarshal(jsonLines(data), into)
		}
		if err != nil {
			return nil, nil, r.failed(diag.YosysOutput, "the result of Yosys cannot be read: %v", err)
		}
	}
	return &s, &h, nil
}

// paths fills in what the netlist shows.
func (r *run) paths(top string, report *Report) error {
	f, err := os.Open(r.file("netlist"))
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := paths.Read(f, top)
	if err != nil {
		return err
	}
	if report.Longest, err = n.Longest(); err != nil {
		return err
	}
	report.Through, err = n.Through()
	return err
}

// jsonLines drops the lines that are no JSON: where modules nest more than one deep, `stat -json` of Yosys 0.23 prints
// the tree of modules as text into its own output.
func jsonLines(data []byte) []byte {
	var kept bytes.Buffer
	for line := range bytes.Lines(data) {
		if text := bytes.TrimSpace(line); len(text) > 0 && bytes.IndexByte([]byte("\"{}[]"), text[0]) >= 0 {
			kept.Write(line)
		}
	}
	return kept.Bytes()
}
