// SPDX-License-Identifier: Apache-2.0

package predictor

// Slots of 16 keys in sdpa_decode and sdpa_decode_mxint8 at a dimension of 128, counted in SASS.
const decodeSlots, decodeSlotsMXINT8 = 360, 700

// attention counts sdpa in its three forms.
func (k *kernel) attention(name string) {
	d, warps := k.param("D"), float64(k.Warps)
	rows := 16 * k.param("WM") * warps
	if name == "sdpa_hopper" {
		rows = 64 * k.param("WG")
	}
	queries, keys := k.size("queries"), k.size("keys")
	seen := keys
	if k.params["CAUSAL"] != 0 {
		seen = min(keys, max(1, float64(int32(k.l.Sizes["diagonal"]))+queries/2))
		k.Causal = min(rows, queries) / seen / 2
	}
	pairs := rows * seen
	k.Through = k.Bytes / float64(k.Blocks)
	if name == "sdpa_hopper" {
		k.Grouped, k.GroupedPairs = 4*pairs*d, pairs/32
		return
	}
	wm := k.param("WM")
	k.Products, k.Pairs = 4*pairs*d/4096, pairs/32
	k.Slots = k.Products * (1.2 + 0.5/wm) // with the loads of operands
	k.Shared = k.Products * 256 / wm
	if name == "sdpa_mxint8" {
		k.Decoded = k.Products / wm
	}
}

// decode counts sdpa_decode in its two forms.
func (k *kernel) decode(name string) {
	d, warps := k.param("D"), float64(k.Warps)
	tiles := ceil(k.size("chunk"), 16)
	slots, element := float64(decodeSlots), 2.0
	if name == "sdpa_decode_mxint8" {
		slots, element = decodeSlotsMXINT8, 33.0/32
	}
	k.Slots, k.Products = tiles*slots*d/128, tiles*32*d/128
	k.Through = k.Bytes / float64(k.Blocks)
	k.Flight = warps * 16 * 2 * d * element
}
