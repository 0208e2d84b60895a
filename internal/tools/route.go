// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"lathe/internal/nextpnr"
)

// NeedRoute returns the folder of place and route, route below that of CacheDir, where scripts/setup --route puts
// nextpnr. Without the package for a family of FPGAs, such as "ecp5", the test is skipped as Need does.
func NeedRoute(t testing.TB, family string) string {
	t.Helper()
	Need(t, "yosys", "python3")
	dir, err := filepath.Abs(filepath.Join(cacheDir(os.Getenv), "route"))
	if err == nil {
		_, _, err = nextpnr.Find(dir, family)
	}
	if err != nil {
		message{fmt.Sprintf("%s needs %s (scripts/setup --route puts it there)", t.Name(), err), inCI()}.end(t)
	}
	return dir
}
