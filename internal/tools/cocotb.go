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

// NeedAlkaid returns the Python that has alkaid. It skips t if there is none, also where CI=true: nothing but
// `make bench-alkaid` installs it.
func NeedAlkaid(t testing.TB) string {
	t.Helper()
	python := filepath.Join(CacheDir(t), "alkaid", "bin", "python")
	if len(missing([]string{python})) > 0 {
		message{text: fmt.Sprintf("%s needs alkaid (scripts/setup alkaid puts it there): no %s", t.Name(), python)}.end(t)
	}
	return python
}

// NeedPeers returns the Python that has qonnx, ONNX Runtime and Optuna. It skips t if there is none, and fails it where
// CI=true: tests of a long run alone ask, which `make long` installs it for.
func NeedPeers(t testing.TB) string {
	t.Helper()
	python := filepath.Join(CacheDir(t), "peers", "bin", "python")
	if len(missing([]string{python})) > 0 {
		text := fmt.Sprintf("%s needs qonnx and ONNX Runtime (scripts/setup peers puts them there): no %s", t.Name(), python)
		message{text, inCI()}.end(t)
	}
	return python
}

// NeedMasters returns the folder of programs of a Python that has cocotb with cocotbext-axi, and the schema of IP-XACT.
// It skips t if there is none, and fails it where CI=true.
func NeedMasters(t testing.TB) string {
	t.Helper()
	bin := filepath.Join(CacheDir(t), "masters", "bin")
	if len(missing([]string{filepath.Join(bin, "cocotb-config")})) > 0 {
		text := fmt.Sprintf("%s needs cocotbext-axi in %s (scripts/setup masters puts it there)", t.Name(), bin)
		message{text, inCI()}.end(t)
	}
	return bin
}
