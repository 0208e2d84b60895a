// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// NeedPlugin returns the absolute path of the PJRT plugin: LATHE_PJRT_PLUGIN if set, else pjrt/xla_cpu_pjrt.so below
// the folder of CacheDir, where scripts/setup puts it. Without the file the test is skipped as Need does.
func NeedPlugin(t testing.TB) string {
	t.Helper()
	path, err := pluginPath(os.Getenv)
	if err != nil {
		message{fmt.Sprintf("%s needs the PJRT plugin: %v (scripts/setup fetches it)", t.Name(), err), inCI()}.end(t)
	}
	return path
}

// pluginPath finds the plugin by the environment that getenv reads.
func pluginPath(getenv func(string) string) (string, error) {
	path := getenv("LATHE_PJRT_PLUGIN")
	if path == "" {
		path = filepath.Join(cacheDir(getenv), "pjrt", "xla_cpu_pjrt.so")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	_, err = os.Stat(path)
	return path, err
}
