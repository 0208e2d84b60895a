// SPDX-License-Identifier: Apache-2.0

// Package hardware holds tests of emitted RTL: operations, chains and networks whose values part and meet, simulated
// beside the Eval columns, and beside what their headers say of cycles.
package hardware

import (
	"testing"

	"lathe/golden/pjrt/pjrttest"
)

func TestMain(m *testing.M) { pjrttest.Main(m) }
