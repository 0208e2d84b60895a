// SPDX-License-Identifier: Apache-2.0

// Package floats holds tests of float graphs: the Eval columns beside the slow evaluator and StableHLO on PJRT.
package floats

import (
	"testing"

	"lathe/golden/pjrt/pjrttest"
)

func TestMain(m *testing.M) { pjrttest.Main(m) }
