// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"fmt"
	"os/exec"
	"testing"
)

// NeedTorch returns the python3 in PATH if it has PyTorch. It skips t as Need does, but never fails it: nothing that
// scripts/setup installs brings PyTorch.
func NeedTorch(t testing.TB) string {
	t.Helper()
	if exec.Command("python3", "-c", "import torch").Run() != nil {
		message{t.Name() + " needs a python3 with PyTorch", false}.end(t)
	}
	return "python3"
}

// NeedNumPy returns a Python that has pip and NumPy: the first in PATH, or that of Debian, where one of another origin
// stands before it without them. It skips t as Need does.
func NeedNumPy(t testing.TB) string {
	t.Helper()
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import numpy, pip").Run() == nil {
			return python
		}
	}
	text := t.Name() + " needs a python3 with pip and NumPy (scripts/setup installs Debian's)"
	message{text, inCI()}.end(t)
	return ""
}

// NeedMLDtypes returns what makes the command that runs a script in a Python with NumPy and ml_dtypes, which
// scripts/setup fetches. It skips t as Need does.
func NeedMLDtypes(t testing.TB) func(script string) *exec.Cmd {
	t.Helper()
	python, cache := NeedNumPy(t), CacheDir(t)
	run := func(script string) *exec.Cmd {
		path := fmt.Sprintf("import sys; sys.path.append('%s/ml_dtypes/%%d.%%d' %% sys.version_info[:2])\n", cache)
		return exec.Command(python, "-c", path+script)
	}
	if run("import ml_dtypes").Run() != nil {
		message{t.Name() + " needs a python3 with ml_dtypes (scripts/setup fetches it)", inCI()}.end(t)
	}
	return run
}

// NeedSlang returns what makes the command that runs a script in a Python with pyslang, which scripts/setup fetches. It
// skips t as Need does.
func NeedSlang(t testing.TB) func(script string, args ...string) *exec.Cmd {
	t.Helper()
	python, cache := NeedNumPy(t), CacheDir(t)
	run := func(script string, args ...string) *exec.Cmd {
		path := fmt.Sprintf("import sys; sys.path.append('%s/pyslang/%%d.%%d' %% sys.version_info[:2])\n", cache)
		return exec.Command(python, append([]string{"-c", path + script}, args...)...)
	}
	if run("import pyslang").Run() != nil {
		message{t.Name() + " needs a python3 of 3.11 or newer with pyslang (scripts/setup fetches it)", inCI()}.end(t)
	}
	return run
}
