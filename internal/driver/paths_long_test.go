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

// TestPathsOthers holds designs with real scales and with blocks to the limits of TestPaths.
func TestPathsOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ model, plan string }{{"digits-qdq-mlp", "serial"}, {"digits-mlp", "mx"}} {
		t.Run(c.model, func(t *testing.T) { counted(t, job(t, c.model, "model.onnx", c.plan, 0)) })
	}
}
