// SPDX-License-Identifier: Apache-2.0

//go:build long

package driver_test

const loops = 40

var loopModels = []loopModel{{"digits-vit", "model.onnx", 60}, {"bert-tiny-like", "hf", 8}, {"tiny-llama", "hf", 8}}
