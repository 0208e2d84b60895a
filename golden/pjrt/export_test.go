// SPDX-License-Identifier: Apache-2.0

package pjrt

import (
	"io"
	"time"
)

// Pid is the process id of the child.
func (e *Engine) Pid() int { return e.cmd.Process.Pid }

// Forget makes a buffer look as if it were still there.
func Forget(b *Buffer) { b.gone.Store(nil) }

// SetTimeout bounds later requests.
func (e *Engine) SetTimeout(d time.Duration) { e.cfg.Timeout = d }

// Reply reads one request and answers it with a frame of the given kind and payload; skew is added to its number.
func Reply(in io.Reader, out io.Writer, fail bool, skew uint32, payload ...[]byte) error {
	f, err := readFrame(in)
	if err != nil {
		return err
	}
	k := kindOK
	if fail {
		k = kindFail
	}
	return writeFrame(out, k, f.seq+skew, payload...)
}

// HelloPayload is the reply of a worker that has started.
func HelloPayload() []byte { return appendText(appendText(make([]byte, 8), "fake"), "0") }
