// SPDX-License-Identifier: Apache-2.0

package sweeps

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"lathe/internal/diag"
)

// What stands in the folder of a sweep: a line for each run, and graphs.
const (
	runsName = "runs.jsonl"
	graphs   = "graphs"
)

// readRuns are the runs that a folder knows, by key. What is no line, since a sweep was killed within it, is left out.
// Error L1007 where they are of another sweep.
func readRuns(folder, sweep string) (map[string]*Run, error) {
	known := map[string]*Run{}
	if folder == "" {
		return known, nil
	}
	f, err := os.Open(filepath.Join(folder, runsName))
	if errors.Is(err, os.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return nil, diag.New(diag.CheckpointFile, folder, "cannot be read: %v", err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for s.Scan() {
		r := &Run{}
		if json.Unmarshal(s.Bytes(), r) != nil {
			continue
		}
		if r.Sweep != sweep {
			return nil, diag.New(diag.CheckpointOther, folder, "the folder holds a sweep of another kind, model, plan or "+
				"data, or with other flags").WithHint("remove %s to begin anew, or name another folder by -o", folder)
		}
		known[r.Key] = r
	}
	return known, s.Err()
}

// keep adds a run to those of a folder.
func (r *Run) keep(folder string) error {
	if folder == "" {
		return nil
	}
	path := filepath.Join(folder, runsName)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err == nil {
		err = errors.Join(json.NewEncoder(f).Encode(r), f.Close())
	}
	if err != nil {
		return diag.New(diag.FileWrite, path, "cannot write: %v", err)
	}
	return nil
}

// fileName is a label without what shells read otherwise.
func fileName(label string) string {
	return strings.Trim(strings.NewReplacer("(", "-", ")", "", ",", "-", " ", "-", "[", "-", "]", "", "=", "-", "/", "-",
		"*", "", ":", "-").Replace(label), "-")
}
