// SPDX-License-Identifier: Apache-2.0

package tools

import (
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

// NeedMLDtypes returns the python3 in PATH if it has ml_dtypes, as NeedTorch does for PyTorch.
func NeedMLDtypes(t testing.TB) string {
	t.Helper()
	if exec.Command("python3", "-c", "import ml_dtypes").Run() != nil {
		message{t.Name() + " needs a python3 with ml_dtypes (pip install ml_dtypes)", false}.end(t)
	}
	return "python3"
}
