// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// NeedCocotb returns the folder of cocotb's programs. It skips t, and fails it where CI=true, if they are not there.
func NeedCocotb(t testing.TB) string {
	t.Helper()
	bin := filepath.Join(CacheDir(t), "cocotb", "bin")
	if len(missing([]string{filepath.Join(bin, "cocotb-config")})) == 0 {
		return bin
	}
	text := fmt.Sprintf("%s needs cocotb in %s (scripts/setup bench puts it there)", t.Name(), bin)
	if os.Getenv("CI") == "true" {
		t.Fatal(text)
	}
	fmt.Fprintf(os.Stderr, "SKIP %d: %s\n", skipped.Add(1), text)
	t.Skip(text)
	return ""
}
