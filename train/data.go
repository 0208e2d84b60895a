// SPDX-License-Identifier: Apache-2.0

package train

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"lathe/internal/diag"
	"lathe/ir/hlo"
	"lathe/lower/plan"
)

// Set is samples with what the model should say of them.
type Set struct {
	// Name is that of the file of the samples, in messages.
	Name string
	// Inputs has an array for each input of the model, f32 or i32, samples first, in the layout of the model file.
	Inputs []hlo.Array
	// Labels are classes, i32, or targets, f32, samples first. Teacher, if not nil, holds the outputs of another model.
	Labels  hlo.Array
	Teacher *hlo.Array
	N       int
}

// checkBatch refuses steps that take more samples than there are, and batches that devices cannot share.
func (o *Options) checkBatch(set *Set) error {
	t := &o.Train
	if set.N < 1 || t.Samples() > set.N {
		e := diag.New(diag.TrainBatch, set.Name, "a step takes %d samples, and there are %d", t.Samples(), set.N)
		if t.Accumulate > set.N {
			return e.WithHint("set accumulate = 1 in [train]")
		}
		return e.WithHint("use --batch %d or less", max(set.N/t.Accumulate, 1))
	}
	if t.Batch%o.Devices == 0 {
		return nil
	}
	e := diag.New(diag.TrainBatch, set.Name, "batches of %d samples cannot be divided among %d devices", t.Batch,
		o.Devices)
	if t.Batch < o.Devices {
		return e.WithHint("use --devices %d or less", t.Batch)
	}
	return e.WithHint("use --batch %d", t.Batch/o.Devices*o.Devices)
}

// complete is a copy with all that the plan leaves open.
func (o *Options) complete(set *Set) *Options {
	out := *o
	t := &out.Train
	out.Devices = max(o.Devices, 1)
	if t.Accumulate = max(t.Accumulate, 1); t.Batch == 0 {
		t.Batch = min(plan.UsualBatch, set.N/t.Accumulate)
		t.Batch = max(t.Batch/out.Devices*out.Devices, 1)
	}
	return &out
}

// Digest tells data sets apart.
func (s *Set) Digest() string {
	h := sha256.New()
	arrays := append(slices.Clone(s.Inputs), s.Labels)
	if s.Teacher != nil {
		arrays = append(arrays, *s.Teacher)
	}
	for _, a := range arrays {
		h.Write([]byte(a.Type.String()))
		h.Write(a.Data)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// mix scatters 64 bits (the finalizer of splitmix64, Steele, Lea and Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// word is random word i of a stream of a seed.
func word(seed uint64, stream, i int) uint64 { return mix(mix(mix(seed)+uint64(stream)) + uint64(i)) }

// shuffled is the order of n samples in an epoch: so a position in training is one number, and resuming needs no state.
func shuffled(seed uint64, epoch, n int) []int64 {
	keys := make([]uint64, n)
	order := make([]int64, n)
	for i := range order {
		order[i] = int64(i)
		keys[i] = word(seed, epoch, i)
	}
	slices.SortFunc(order, func(a, b int64) int { return cmp.Or(cmp.Compare(keys[a], keys[b]), cmp.Compare(a, b)) })
	return order
}

// batches are the samples of steps from..from+count-1, batch by batch. The last samples of an epoch that fill no batch
// wait for another epoch, which has another order.
func batches(seed uint64, from, count, batch, n int) []int64 {
	each := max(n/batch, 1)
	var out []int64
	epoch := -1
	var order []int64
	for s := from; s < from+count; s++ {
		if s/each != epoch {
			epoch = s / each
			order = shuffled(seed, epoch, n)
		}
		at := s % each * batch
		for i := range batch {
			out = append(out, order[(at+i)%n])
		}
	}
	return out
}
