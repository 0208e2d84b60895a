// SPDX-License-Identifier: Apache-2.0

//go:build long

package tokens_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"lathe/internal/tools"
)

// TestRandomLines compares random lines with the library.
func TestRandomLines(t *testing.T) {
	python := tools.NeedPeers(t)
	path := filepath.Join(t.TempDir(), "lines.json")
	c := exec.Command(python, "train/tokens/testdata/reference.py", "random", "1", "20000", path)
	c.Dir = filepath.Join("..", "..")
	c.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r := readReference(t, path)
	for name, lines := range r.Tokens {
		t.Run(name, func(t *testing.T) {
			k := read(t, name)
			for i, want := range lines {
				same(t, k, want, r.Lines[i])
			}
		})
	}
}
