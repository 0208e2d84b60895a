// SPDX-License-Identifier: Apache-2.0

//go:build !long

package driver_test

// loops are the random networks of TestLoop, loopModels the examples that are quick.
const loops = 3

var loopModels = []loopModel{{"digits-vit", "model.onnx", 5, []int{2}}}
