// SPDX-License-Identifier: Apache-2.0

package pjrt

import "io"

// ServeBare is Worker without XLA_FLAGS.
func ServeBare(in io.Reader, out io.Writer, plugin string) error { return serve(in, out, plugin) }
