// SPDX-License-Identifier: Apache-2.0

package nvrtc

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestTidyUp removes what was not used for the longest time, and keeps the newest file however large it is.
func TestTidyUp(t *testing.T) {
	dir := t.TempDir()
	path := func(i int) string { return filepath.Join(dir, fmt.Sprintf("%d.json", i)) }
	for i := range 6 {
		if err := os.WriteFile(path(i), make([]byte, 100), 0o644); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(int64(1000+i), 0)
		if err := os.Chtimes(path(i), at, at); err != nil {
			t.Fatal(err)
		}
	}
	used(path(1))
	left := func() (out []int) {
		for i := range 6 {
			if _, err := os.Stat(path(i)); err == nil {
				out = append(out, i)
			}
		}
		return out
	}
	for _, c := range []struct {
		most int64
		want string
	}{{600, "[0 1 2 3 4 5]"}, {599, "[1 2 3 4 5]"}, {350, "[1 4 5]"}, {10, "[1]"}} {
		if tidyUp(dir, c.most); fmt.Sprint(left()) != c.want {
			t.Errorf("of %d bytes %v are left, want %s", c.most, left(), c.want)
		}
	}
	tidyUp(filepath.Join(dir, "none"), 1)
}
