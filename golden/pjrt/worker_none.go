// SPDX-License-Identifier: Apache-2.0

//go:build !cgo || !linux

package pjrt

import (
	"io"

	"lathe/internal/diag"
)

// Worker is the main loop of the child process; this build has no cgo, without which no plugin can be loaded.
func Worker(in io.Reader, out io.Writer, plugin string) error {
	msg := "this build cannot load PJRT plugins"
	hint := "build on Linux with CGO_ENABLED=1 and a C compiler; the engine ref needs neither"
	f, err := readFrame(in)
	if err != nil {
		return diag.New(CodeWorker, plugin, "%v", err)
	}
	return writeFrame(out, kindFail, f.seq, appendText(appendText(appendText(nil, CodePlugin), msg), hint))
}
