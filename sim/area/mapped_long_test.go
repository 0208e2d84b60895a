// SPDX-License-Identifier: Apache-2.0

//go:build long

package area

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lathe/internal/tools"
	"lathe/ir/target"
	"lathe/sim/area/paths"
)

// figures are what a product takes. Cells are LUTs and the positions of carry chains whose sum is a bare net plus the
// carry: Yosys has no LUT in front of those, a device passes them through one. Longest are the most LUTs and carry
// chains behind one another between two registers.
type figures struct {
	LUT, INV, Cells, FF int
	Longest             paths.Levels
	Levels, Seconds     float64
}

// mapped counts the cells of a flat netlist without DSPs. Yosys takes minutes: what it and the code here made of the
// same texts before, under the same command, is kept in the cache folder.
func mapped(t *testing.T, dir string, files []string, top string) *figures {
	opts := Options{Flatten: true, NoDSP: true, Timeout: time.Hour}
	device, err := target.Find(target.Default)
	if err != nil {
		t.Fatal(err)
	}
	commands := device.Family.Yosys.Line(*device, top, true, true) + "\nwrite_json netlist\n"
	path := filepath.Join(tools.CacheDir(t), "area", key(t, dir, files, commands))
	f := new(figures)
	if data, err := os.ReadFile(path); err == nil && json.Unmarshal(data, f) == nil {
		return f
	}
	f = count(t, dir, files, top, commands, opts)
	data, err := json.Marshal(f)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path, data, 0o644)
	}
	if err != nil {
		t.Error(err)
	}
	return f
}

// key is the digest of all that a count depends on, and of how it is made.
func key(t *testing.T, dir string, files []string, commands string) string {
	version, err := exec.Command("yosys", "-V").Output()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s%s%q", version, commands, files)
	paths := []string{"mapped_long_test.go", "cells.go", "area.go", "run.go"}
	for _, name := range files {
		paths = append(paths, filepath.Join(dir, name))
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(sum, "%d %s", len(data), data)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// count runs Yosys.
func count(t *testing.T, dir string, files []string, top, commands string, opts Options) *figures {
	folder, _, err := Synthesize(t.Context(), dir, files, top, commands, opts)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(folder, "netlist"))
	if err != nil {
		t.Fatal(err)
	}
	var netlist struct {
		Modules map[string]struct {
			Cells map[string]struct {
				Type string           `json:"type"`
				Bits map[string][]any `json:"connections"`
			} `json:"cells"`
		} `json:"modules"`
	}
	if err := json.Unmarshal(data, &netlist); err != nil {
		t.Fatal(err)
	}
	var all Cells
	byLUT := map[any]bool{}
	for _, c := range netlist.Modules[top].Cells {
		if err := all.count(c.Type, 1); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(c.Type, "LUT") {
			byLUT[c.Bits["O"][0]] = true
		}
	}
	f := &figures{LUT: all.LUT, INV: all.INV, Cells: all.LUT, FF: all.FF}
	for _, c := range netlist.Modules[top].Cells {
		for _, bit := range c.Bits["S"] {
			if _, constant := bit.(string); !constant && !byLUT[bit] {
				f.Cells++
			}
		}
	}
	n, err := paths.Read(bytes.NewReader(data), top)
	if err != nil {
		t.Fatal(err)
	}
	longest, err := n.Longest()
	if err != nil {
		t.Fatal(err)
	}
	f.Longest = longest.Levels
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	return f
}
