// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"lathe/golden/pjrt/pjrttest"
)

func TestMain(m *testing.M) { pjrttest.Main(m) }
