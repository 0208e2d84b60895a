// SPDX-License-Identifier: Apache-2.0

package predictor

// Slots that are counted in SASS: of a weight in MXINT8 that tiles decode; of a weight in w8a16_thin, all told; of a
// product of bytes in int8 and in mx_wide; of a result that is requantized.
const decoded, thinSlots, int8Slots, wideSlots, requantize = 2.94, 3.9, 3.6, 67, 80

// curves are the parts of Model.Curve that the activations take, by their numbers.
var curves = [...]float64{2: 1, 3: 0.5, 4: 0.5, 5: 0}

// tiles counts products by mma.sync. A step is 128 bytes along k.
func (k *kernel) tiles(name string) {
	bm, bn, wm, wn := k.param("BM"), k.param("BN"), k.param("WM"), k.param("WN")
	step, weights := 128.0, 128.0 // products along k, bytes of weights
	switch name {
	case "w16a16":
		step = 64
	case "w8a16":
		step, weights = 64, 66
	case "conv16":
		step = 64
	}
	splits := k.size("splits")
	steps := ceil(ceil(k.size("K"), step), splits)
	products := bm / wm / 16 * bn / wn / 8 * 4 // of a warp and step
	slots := k.slotsOf() * products
	switch {
	case name == "mx_wide":
		slots = wideSlots * products
	case name == "int8":
		slots = int8Slots * products
	case slots == 0 && name == "w8a16":
		slots = decoded*2*bn/wn + 1.28*products + 60
	case slots == 0:
		slots = 1.28*products + 60
	}
	warps := float64(k.Warps)
	k.Slots, k.Products = slots*steps*warps, products*steps*warps
	k.Shared = steps * ((bm/wm+bn/wn)*128*warps + (bm+bn)*128)
	stage := bm*128 + bn*weights
	k.Through, k.Flight = steps*stage, (k.param("STAGES")-1)*stage
	if name == "conv16" || name == "conv8" {
		k.Windows = warps
	}
	k.epilogue(bm*bn, name == "int8" || name == "conv8")
}

// thin counts w8a16_thin: weights go to registers, 16 bytes a thread in four steps at a time.
func (k *kernel) thin() {
	columns := 16 * k.param("R") * k.param("WN")
	steps := ceil(ceil(k.size("K"), 64), k.size("splits"))
	k.Slots, k.Products = thinSlots*columns*64*steps/32, columns/8*4*steps
	k.Through, k.Flight = steps*(k.size("M")*128+columns*66), 4*k.Flight
}

// grouped counts products by wgmma.
func (k *kernel) grouped(name string) {
	bm, bn := max(k.param("BM"), 128), max(k.param("BN"), 128)
	step, weights := 64.0, 128.0
	if name == "int8_hopper" {
		step = 128
	}
	steps := ceil(k.size("K"), step)
	if name == "w8a16_hopper" {
		weights = 66
		k.Slots = decoded * bn * 64 * steps / 32
	}
	k.Grouped = 2 * bm * bn * 64 * steps
	k.Through = steps * (bm*128 + bn*weights)
	k.Flight = (k.param("STAGES") - 1) * (bm + bn) * 128
	k.epilogue(bm*bn, name == "int8_hopper")
}

// epilogue counts what happens to so many sums of a block.
func (k *kernel) epilogue(results float64, requantized bool) {
	k.Results = results / 32
	if act := k.params["ACT"]; act < len(curves) {
		k.Curves = k.Results * curves[act]
	}
	if requantized && k.params["RAW"] == 0 {
		k.Fixed = requantize * k.Results
		k.Requantized, k.Channels = k.size("M")*k.size("N"), k.size("N")
	}
}
