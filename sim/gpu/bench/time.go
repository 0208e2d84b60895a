// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"math"
	"slices"

	"lathe/cuda"
	"lathe/sim/gpu"
)

const (
	shortLaunch = 50.0 // us: shorter ones, and several in a row, are timed as a graph
	graphLength = 20
	maxSets     = 64
)

// Protocol says how often work is measured. Times are in microseconds of the device.
type Protocol struct {
	// WarmRuns and WarmTime are what comes before the first sample, at least.
	WarmRuns int
	WarmTime float64
	// Samples are taken, or fewer, but at least MinSamples, of what takes longer than SampleTime together.
	MinSamples, Samples int
	SampleTime          float64
}

// Standard is the protocol of the results in docs/measurements.
var Standard = Protocol{WarmRuns: 10, WarmTime: 25e3, MinSamples: 10, Samples: 50, SampleTime: 100e3}

// copyCeiling measures the bandwidth of a copy on the device: bytes read and written a second, of two buffers of at
// most limit bytes.
func (p Protocol) copyCeiling(t gpu.Timer, limit int64) (bandwidth float64, err error) {
	free, _, err := t.MemInfo()
	if err != nil {
		return 0, err
	}
	if limit == 0 {
		limit = 4 << 30
	}
	n := round(min(limit, free/4))
	both, err := t.Alloc(2 * n)
	if err != nil {
		return 0, err
	}
	defer func() {
		if e := t.Free(both); err == nil {
			err = e
		}
	}()
	if err := t.Fill(both, 1); err != nil {
		return 0, err
	}
	work := func() error { return t.Copy(both.Slice(0, n), both.Slice(n, n)) }
	times, err := p.sample(t, work, work, 1)
	if err != nil {
		return 0, err
	}
	return 2 * float64(n) / (quantile(times, 0.5) * 1e-6), nil
}

// sample warms up and then measures work, behind before, until there is enough; each time is divided by parts.
func (p Protocol) sample(t gpu.Timer, before, work func() error, parts int) ([]float64, error) {
	total := 0.0
	for n := 0; n < p.WarmRuns || total < p.WarmTime; n++ {
		us, err := t.Elapsed(before, work)
		if err != nil {
			return nil, err
		}
		if total += us; us == 0 && n >= p.WarmRuns { // a device whose clock does not tell
			break
		}
	}
	var times []float64
	for total = 0; len(times) < p.MinSamples || len(times) < p.Samples && total < p.SampleTime; {
		us, err := t.Elapsed(before, work)
		if err != nil {
			return nil, err
		}
		total += us
		times = append(times, us/float64(parts))
	}
	slices.Sort(times)
	return times, nil
}

// quantile of sorted times, between the two nearest.
func quantile(times []float64, q float64) float64 {
	at := q * float64(len(times)-1)
	low := int(math.Floor(at))
	high := min(low+1, len(times)-1)
	return times[low] + (at-float64(low))*(times[high]-times[low])
}

// time measures a case whose first set of operands is in place: with operands that the cache does not hold, and once
// more with those that it does where they fit.
func (r *run) time(c *cuda.Case, rec *Record, code gpu.Code, first *operands) (err error) {
	sets, bytes, err := r.sets(c, first)
	defer func() {
		for _, s := range sets[1:] {
			if e := s.free(r.device); err == nil {
				err = e
			}
		}
	}()
	if err != nil {
		return err
	}
	rec.Cold = int64(len(sets))*bytes >= 2*int64(r.timer.Facts().L2Bytes)
	times, parts, err := r.rotate(c, code, sets)
	if err != nil {
		return err
	}
	rec.Graph = parts
	r.fill(c, rec, times)
	if bytes > int64(r.timer.Facts().L2Bytes)/2 {
		return nil
	}
	if times, _, err = r.rotate(c, code, sets[:1]); err == nil {
		rec.Hot = quantile(times, 0.5)
	}
	return err
}

// rotate times launches over sets of operands in turn; graph is the number of launches that were timed together, or 0.
func (r *run) rotate(c *cuda.Case, code gpu.Code, sets []*operands) (times []float64, graph int, err error) {
	turn := 0
	launch := func() error {
		turn++
		return r.device.Launch(code, sets[turn%len(sets)].inner, c.Launches...)
	}
	once, err := r.timer.Elapsed(launch, launch)
	if err != nil {
		return nil, 0, err
	}
	graph = (max(graphLength, len(sets)) + len(sets) - 1) / len(sets) * len(sets) // every set equally often
	if once >= shortLaunch {
		graph = len(sets)
	}
	if once >= shortLaunch && len(c.Launches) == 1 { // between several the host would be timed too
		times, err = r.o.Protocol.sample(r.timer, launch, launch, 1)
		return times, 0, err
	}
	g, err := r.timer.Capture(func() error {
		for range graph {
			if err := launch(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	defer func() {
		if e := g.Close(); err == nil {
			err = e
		}
	}()
	times, err = r.o.Protocol.sample(r.timer, g.Launch, g.Launch, graph)
	return times, graph, err
}

// fill computes what the record says of times.
func (r *run) fill(c *cuda.Case, rec *Record, times []float64) {
	rec.Status, rec.N = "ok", len(times)
	rec.Median, rec.P20, rec.P80 = quantile(times, 0.5), quantile(times, 0.2), quantile(times, 0.8)
	rec.Floor = c.Floor(r.copyBW, rec.GemmTF*1e12)
	if rec.Median > 0 {
		rec.PctFloor = 100 * rec.Floor / rec.Median
	}
}

// sets makes further copies of the operands until all of them are twice as large as the cache, or the memory is three
// quarters full. The first stands at index 0, also beside an error.
func (r *run) sets(c *cuda.Case, first *operands) (sets []*operands, bytes int64, err error) {
	sets = []*operands{first}
	for i := range c.Buffers {
		bytes += c.Buffers[i].Bytes
	}
	need := 2 * int64(r.timer.Facts().L2Bytes)
	for len(sets) < maxSets && (int64(len(sets))*bytes < need || len(sets) == 1) {
		free, total, err := r.device.MemInfo()
		if err != nil {
			return sets, bytes, err
		}
		if free-bytes < total/4 {
			break
		}
		next, err := place(r.device, c)
		if err != nil {
			return sets, bytes, err
		}
		sets = append(sets, next)
		for i := range next.inner {
			if c.Buffers[i].Bytes == 0 {
				continue
			}
			if err := r.timer.Copy(next.inner[i], first.inner[i]); err != nil {
				return sets, bytes, err
			}
		}
	}
	return sets, bytes, nil
}
