// SPDX-License-Identifier: Apache-2.0

//go:build long

package driver_test

import (
	"path/filepath"
	"testing"

	"lathe/internal/clitest"
	"lathe/internal/driver"
)

// TestPathsLarge holds ResNet-8 as MLPerf Tiny has it, for 32x32 pixels, to the limits of TestPaths: its counters and
// memories are wider than those of the examples.
func TestPathsLarge(t *testing.T) {
	model := filepath.Join(t.TempDir(), "resnet8.onnx")
	if err := clitest.ImageNet(model, "resnet8", 32); err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", counted(t, &driver.Job{HW: emitted(t, driver.Source{Model: model})}))
}
