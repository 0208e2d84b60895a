// SPDX-License-Identifier: Apache-2.0

//go:build long

package driver_test

import "lathe/cuda"

// kernelModelSamples bounds the samples of an example.
const kernelModelSamples = 1000

var kernelArchs = cuda.ArchNames()

// kernelModels are all examples under plans that change what is computed.
func kernelModels() (list []kernelModel) {
	for _, m := range []string{"digits-cnn", "digits-dscnn", "digits-mlp", "digits-qdq", "digits-qdq-mlp",
		"digits-qdq-perchannel", "digits-qonnx", "digits-resnet", "jets-mlp"} {
		for _, p := range []string{"", "float", "b16", "mixed", "mx", "mxmix", "w4", "wide", "wrap"} {
			list = append(list, kernelModel{m, p})
		}
	}
	return list
}
