// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"testing"

	"lathe/rtl/rtltest"
	"lathe/sim"
)

func TestSkid(t *testing.T) {
	rtltest.Sweep(t, "stream_skid", rtltest.Params{"WIDTH": {1, 8, 97}}, func(in []sim.Beat) []sim.Beat { return in })
}
