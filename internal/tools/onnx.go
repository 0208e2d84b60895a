// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// NeedNodeTests returns the archive with the node tests of the ONNX project, the file onnx/node-tests.whl below the
// folder of CacheDir, where scripts/setup --onnx puts it. Without it the test is skipped as Need does.
func NeedNodeTests(t testing.TB) string {
	t.Helper()
	path := filepath.Join(cacheDir(os.Getenv), "onnx", "node-tests.whl")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	message{fmt.Sprintf("%s needs %s (scripts/setup --onnx puts it there)", t.Name(), path), inCI()}.end(t)
	return ""
}
