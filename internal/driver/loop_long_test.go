// SPDX-License-Identifier: Apache-2.0

//go:build long

package driver_test

const loops = 40

var loopModels = []loopModel{{"digits-vit", "model.onnx", 59, []int{1, 2, 3}}, {"bert-tiny-like", "hf", 7, []int{1, 2}},
	{"tiny-llama", "hf", 7, []int{1, 2}}}
