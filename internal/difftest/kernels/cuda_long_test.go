// SPDX-License-Identifier: Apache-2.0

//go:build long

package kernels

import (
	"testing"

	"lathe/emit/cuda"
	"lathe/emit/cuda/hosttest"
	"lathe/internal/tools"
	"lathe/ir/ref"
)

// host runs the text of the kernels as g++ compiles it for this machine. Kernels of the library are no text for it.
var host = kernelEngine{cuda.Options{Generic: true},
	func(t *testing.T, d *cuda.Design, samples []ref.Sample) []ref.Sample {
		t.Helper()
		return hosttest.Build(t, d).Run(samples)
	}}

// TestKernelText does what TestKernels does with the text of the kernels: a compiler that knows nothing of GPUs reads
// it alike.
func TestKernelText(t *testing.T) {
	tools.Need(t, "g++")
	compareKernels(t, host, kernelTexts)
}
