// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"fmt"
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
	message{fmt.Sprintf("%s needs cocotb in %s (scripts/setup bench puts it there)", t.Name(), bin), inCI()}.end(t)
	return ""
}
