// SPDX-License-Identifier: Apache-2.0

package ptx

import "lathe/internal/ptx/lane"

type shadow struct{}

func newShadow(int) *shadow { return &shadow{} }
func (s *shadow) reset()    {}

// watching says that accesses to a space are checked or counted.
func (c *cta) watching(sp space) bool { return false }

func (w *warp) watch(in *inst, mask uint32, base *lane.Row, n int, write bool) *fault { return nil }

type copyQueue struct{}

func (q *copyQueue) finish(*warp) *fault { return nil }
