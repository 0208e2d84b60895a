// SPDX-License-Identifier: Apache-2.0

// Package kernels holds tests of CUDA kernels, emulated beside the Eval columns.
package kernels

import (
	"testing"

	"lathe/golden/pjrt/pjrttest"
)

func TestMain(m *testing.M) { pjrttest.Main(m) }
