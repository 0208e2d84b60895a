// SPDX-License-Identifier: Apache-2.0

package predictor

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"lathe/cuda"
	"lathe/cuda/catalogue"
)

// Launch is what is asked: a kernel on so many blocks, that move Bytes altogether, each once.
type Launch struct {
	Instance cuda.Instance
	Blocks   int64
	Bytes    int64
	// Sizes are the numbers among its arguments, by their names.
	Sizes map[string]int64
}

// SizesOf are the numbers among arguments of i, for a number of samples.
func SizesOf(i cuda.Instance, args []cuda.Arg, samples int) map[string]int64 {
	out := map[string]int64{}
	for k, a := range args {
		if a.Buffer < 0 && a.Map == nil && k < len(i.Template.Args) {
			out[i.Template.Args[k].Name] = int64(a.At(samples).Bits)
		}
	}
	return out
}

// Work is what a launch does; Slots and what follows are of one block. Slots are those of warps.
type Work struct {
	Blocks   int64
	Warps    int // of a block
	Resident int // blocks that a multiprocessor holds
	// Bytes are those of the launch from memory; Again says that long rows are read again, by the model's share.
	Bytes float64
	Again bool
	// Flight are the bytes that a block asks for before it must wait.
	Flight float64
	// Slots are counted in loops, Straight are the instructions of kernels without one.
	Slots, Straight float64
	// Products are those of mma.sync: 16x8x16 of 16 bits or 16x8x32 of 8. Grouped are operations of wgmma, of bytes half
	// as many.
	Products, Grouped float64
	// Shared are bytes of shared memory, Through those that come through L2.
	Shared, Through float64
	// Results and Curves are results and those that take a function, Pairs and GroupedPairs queries times keys, each by
	// the 32 of a warp; Decoded are products that decode, and Windows warps that begin to multiply windows.
	Results, Curves, Pairs, GroupedPairs, Decoded, Windows float64
	// Fixed are slots behind the sum that are counted.
	Fixed float64
	// Causal is the share of a block of queries of the keys that a query sees, where these are not all; else 0.
	Causal float64
	// Requantized are results of the launch whose channels, so many, are records in memory; Parts those that sdpa_join
	// adds one after the other.
	Requantized, Channels, Parts float64
}

// Seconds is the time of a launch by the fitted model. Errors as WorkOf and Fitted.
func Seconds(a cuda.Arch, l Launch) (float64, error) {
	m, err := Fitted()
	if err != nil {
		return 0, err
	}
	w, err := WorkOf(a, l)
	if err != nil {
		return 0, err
	}
	return m.Seconds(a, w), nil
}

// WorkOf counts what a launch does on an architecture. Error L0931 for a header that cannot be read.
func WorkOf(a cuda.Arch, l Launch) (*Work, error) {
	threads, err := l.Instance.Threads()
	if err != nil {
		return nil, err
	}
	shared, err := l.Instance.Shared()
	if err != nil {
		return nil, err
	}
	used, err := recorded(l.Instance, a)
	if err != nil {
		return nil, err
	}
	loops, err := l.Instance.Loops(a)
	if err != nil {
		return nil, err
	}
	registers := max(24, (used.Registers+7)/8*8)
	k := kernel{l: l, loops: loops, instructions: float64(used.Instructions), params: map[string]int{}}
	for at, p := range l.Instance.Template.Params {
		k.params[p.Name], _ = strconv.Atoi(l.Instance.Params[at]) // 0 for types
	}
	k.Blocks, k.Warps, k.Bytes = max(l.Blocks, 1), threads/32, float64(l.Bytes)
	k.Resident = max(1, min(32, 2048/threads, 65536/(registers*threads), a.SharedSM/(shared+1024)))
	k.Flight = float64(k.Warps) * 512 // 16 bytes a thread
	k.count()
	return &k.Work, nil
}

// Slots of a thread for an operation: of sums by a thread a result, two loads, their indices and conversions among
// them, and of others. They are estimates.
const single, element = 25, 2

// Made is the work of a kernel that was made for nodes of a graph, for so many operations.
func Made(blocks int64, threads int, bytes, flops int64, sums bool) *Work {
	slots := float64(element)
	if sums {
		slots = single
	}
	w := &Work{Blocks: max(blocks, 1), Warps: max(threads/32, 1), Bytes: float64(bytes)}
	w.Resident = max(1, min(32, 2048/max(threads, 32)))
	w.Slots = slots * float64(flops) / 32 / float64(w.Blocks)
	w.Flight = float64(w.Warps) * 512
	return w
}

// kernel is one whose work is being counted.
type kernel struct {
	Work
	l            Launch
	loops        []cuda.Loop
	params       map[string]int
	instructions float64
}

// param is a template parameter, size a number among the arguments, at least 1.
func (k *kernel) param(name string) float64 { return float64(k.params[name]) }
func (k *kernel) size(name string) float64  { return float64(max(k.l.Sizes[name], 1)) }

// count counts the work by the family of the kernel.
func (k *kernel) count() {
	switch name := k.l.Instance.Template.Name; name {
	case "w16a16", "w8a16", "int8", "conv16", "conv8", "mx_block", "mx_wide", "mx_window":
		k.tiles(name)
	case "w8a16_thin":
		k.thin()
	case "w16a16_hopper", "w8a16_hopper", "int8_hopper":
		k.grouped(name)
	case "sdpa", "sdpa_mxint8", "sdpa_hopper":
		k.attention(name)
	case "sdpa_decode", "sdpa_decode_mxint8":
		k.decode(name)
	case "sdpa_join":
		k.Parts, k.Straight = k.size("splits"), k.instructions*float64(k.Warps)
	case "split_sum":
		k.Bytes = 2 * 4 * k.size("splits") * k.size("M") * k.size("N") // written and read
		k.Straight = k.instructions * float64(k.Warps)
	case "softmax_long", "layer_norm_long", "rms_norm_long":
		chunks := k.Bytes / float64(k.Blocks) / 4 / float64(8*32*k.Warps) // of a thread; 24 are kept and laid out
		k.Slots, k.Flight = k.instructions*float64(k.Warps)*chunks/24, 2*k.Flight
		k.Again = name != "softmax_long"
	default:
		k.Straight = k.instructions * float64(k.Warps)
	}
}

// records are the recorded kernels by template.
var records = sync.OnceValues(func() (map[string][]catalogue.Record, error) {
	all, err := catalogue.Records()
	out := map[string][]catalogue.Record{}
	for _, r := range all {
		out[r.Template()] = append(out[r.Template()], r)
	}
	return out, err
})

// recorded is the use of a kernel on an architecture, or of the recorded one of its template whose parameters agree
// most; without any its budget of registers.
func recorded(i cuda.Instance, a cuda.Arch) (catalogue.Used, error) {
	all, err := records()
	if err != nil {
		return catalogue.Used{}, err
	}
	want := strings.Split(i.String(), ", ")
	best, used := -1, catalogue.Used{}
	for _, r := range all[i.Template.Name] {
		u, ok := r.On(a.Name)
		if !ok {
			continue
		}
		alike := 0
		for k, p := range strings.Split(r.Instance, ", ") {
			if k < len(want) && p == want[k] {
				alike++
			}
		}
		if alike > best {
			best, used = alike, u
		}
	}
	if best < 0 {
		used.Registers, err = i.Registers(a)
	}
	return used, err
}

func ceil(a, b float64) float64 { return math.Ceil(a / b) }
func pow(a, b float64) float64  { return math.Pow(a, b) }

// slotsOf are the issue slots of a product by the budgets of the header; 0 where it has none.
func (k *kernel) slotsOf() float64 {
	at := slices.IndexFunc(k.loops, func(l cuda.Loop) bool { return l.Count > 0 })
	if at < 0 {
		return 0
	}
	return float64(k.loops[at].Slots) / float64(k.loops[at].Count)
}
