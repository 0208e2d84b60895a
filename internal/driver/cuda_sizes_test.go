// SPDX-License-Identifier: Apache-2.0

//go:build !long

package driver_test

// kernelModelSamples bounds the samples of an example; the build tag long has them all, and all architectures.
const kernelModelSamples = 6

var kernelArchs []string

// kernelModels has each kind of quantization once.
func kernelModels() []kernelModel {
	return []kernelModel{{"digits-cnn", ""}, {"digits-cnn", "float"}, {"digits-resnet", "mxmix"}, {"jets-mlp", "mx"},
		{"digits-qdq-perchannel", ""}, {"digits-qonnx", "w4"}}
}
