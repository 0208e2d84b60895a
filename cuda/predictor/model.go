// SPDX-License-Identifier: Apache-2.0

// Package predictor says how long a launch of a kernel takes on a GPU. lathe emit-cuda --explain
// and docs/kernels.md print it; configurations of a product are ranked by cuda/gemm. What a launch does (Work) is
// counted; how fast that goes is fitted to measurements of an H200 (Model), and scaled by datasheets for other GPUs.
package predictor

import (
	_ "embed" // the constants
	"encoding/json"
	"sync"

	"lathe/cuda"
	"lathe/internal/diag"
)

// Model are the constants that measurements decide. `gpubench fit` writes them, from one half of docs/measurements;
// Source says which.
type Model struct {
	Source string `json:"source"`
	// Launch and Fill are the microseconds of a launch, and of a wave of blocks until it works.
	Launch float64 `json:"launch_us"`
	Fill   float64 `json:"fill_us"`
	// Latency are the microseconds that bytes are in flight.
	Latency float64 `json:"latency_us"`
	// Memory and Cache are the shares of memory's rate and of 64 bytes a clock from L2 that all blocks together reach.
	Memory float64 `json:"memory"`
	Cache  float64 `json:"cache"`
	// Products is the share of the tensor rate that mma.sync reaches, Power that of wgmma where all multiprocessors
	// multiply: the clock falls then.
	Products float64 `json:"products"`
	Power    float64 `json:"power"`
	// Half are the warps of a scheduler that issue at half its rate.
	Half float64 `json:"half"`
	// Overlap is the share of the time of all pipes but the busiest that is not hidden behind it.
	Overlap float64 `json:"overlap"`
	// Straight is the share of instructions that are executed in kernels without a loop.
	Straight float64 `json:"straight"`
	// Result and Curve are issue slots of a result behind its sum, and those of gelu by erf on top, half of which other
	// functions take.
	Result float64 `json:"result"`
	Curve  float64 `json:"curve"`
	// Windows are the slots of a warp before it multiplies windows of images.
	Windows float64 `json:"windows"`
	// Requantized are the nanoseconds of a result that is requantized, of 4096 channels; Spread is how these grow where
	// channels are fewer, since their records then lie in fewer slices of L2: by (4096/channels)^Spread.
	Requantized float64 `json:"requantized_ns"`
	Spread      float64 `json:"spread"`
	// Pair and GroupedPair are the slots of a query and a key in sdpa and sdpa_hopper, Decode those on top of a product
	// that decodes MXINT8, in sdpa_mxint8.
	Pair        float64 `json:"pair"`
	GroupedPair float64 `json:"grouped_pair"`
	Decode      float64 `json:"decode"`
	// Causal is how many blocks of queries longer the longest row of blocks is than the mean.
	Causal float64 `json:"causal"`
	// Join are the microseconds of a part in sdpa_join.
	Join float64 `json:"join_us"`
	// Again is how often norms of long rows move their bytes.
	Again float64 `json:"again"`
}

//go:embed constants.json
var constants []byte

// Fitted is the model of constants.json. Error L0931 for one that cannot be read.
var Fitted = sync.OnceValues(func() (*Model, error) {
	m := &Model{}
	if err := json.Unmarshal(constants, m); err != nil {
		return nil, diag.New(diag.KernelHeader, "cuda/predictor/constants.json", "%v", err)
	}
	return m, nil
})

// Shares of the clock and of 4096 bf16 operations that hold for all: the boost clock is not held, and wgmma alone on a
// multiprocessor reaches nine tenths.
const held, grouped = 0.886, 0.9

// Seconds is the time of work on the GPU for which predictions are made on an architecture.
func (m *Model) Seconds(a cuda.Arch, w *Work) float64 {
	peak := cuda.PeakOf(a)
	sms, clock := float64(peak.SMs), peak.Clock*held
	blocks := float64(w.Blocks)
	per, busy := ceil(blocks, sms), min(blocks, sms) // blocks of the busiest multiprocessor; multiprocessors with one
	together := min(float64(w.Resident), per)
	warps := together * float64(w.Warps) / 4
	rate := 4 * warps / (warps + m.Half)

	f := 1 + m.Causal*w.Causal
	slots := w.Slots + w.Straight*m.Straight + w.Windows*m.Windows +
		f*(w.Pairs*m.Pair+w.GroupedPairs*m.GroupedPair+w.Decoded*m.Decode)
	tensor := peak.Tensor16 / sms / clock // operations a clock
	// Where wgmma is what the datasheet counts, mma.sync reaches less of it.
	products := f * w.Products * 4096 / (tensor * min(1, m.Products*peak.Reached/0.6))
	group := max(f*w.Grouped/(tensor*grouped)*per/clock, f*w.Grouped*blocks/(peak.Tensor16*m.Power))
	bytes := w.Bytes
	if w.Again {
		bytes *= m.Again
	}
	bandwidth := min(m.Memory*peak.Bytes, together*w.Flight*busy/(m.Latency*1e-6))
	memory := max(bytes/bandwidth, w.Through*per/64/clock, w.Through*blocks/(64*sms*clock*m.Cache))

	sum, most := 0.0, 0.0
	for _, pipe := range []float64{slots / rate * per / clock, products*per/clock + group,
		f * w.Shared / 128 * per / clock, memory} {
		sum, most = sum+pipe, max(most, pipe)
	}
	behind := (w.Results*m.Result + w.Curves*m.Curve + w.Fixed) / rate * per / clock
	if w.Requantized > 0 {
		behind += w.Requantized * m.Requantized * 1e-9 * pow(4096/w.Channels, m.Spread)
	}
	waves := ceil(blocks, sms*float64(w.Resident))
	return most + m.Overlap*(sum-most) + behind + w.Parts*m.Join*1e-6 + (m.Launch+waves*m.Fill)*1e-6
}
