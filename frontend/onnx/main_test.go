// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"testing"

	"lathe/golden/pjrt/pjrttest"
)

func TestMain(m *testing.M) { pjrttest.Main(m) }
