// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"fmt"
	"math"
	"time"

	"lathe/golden/ref"
	"lathe/ir"
)

// Report tells what lowering decided and what it cost.
type Report struct {
	// Notes are facts that the user should know, Warnings are likely mistakes. Each is one line.
	Notes, Warnings []string
	Passes          []PassReport
	// Slots says which rule decided each format, in graph order.
	Slots []Slot
	// Nodes and Outputs hold the error of each value against the float model, accumulated from the inputs on.
	Nodes, Outputs []ValueReport
	// Samples is how many samples that error was measured on.
	Samples int
	// Units lists the hardware of each node of a scheduled graph.
	Units []UnitReport
}

// PassReport is one pass that ran.
type PassReport struct {
	Name   string
	Effect Effect
	// Time is 0 where no clock was given.
	Time time.Duration
	// Verified says that Loss was measured.
	Verified bool
	Loss     Loss
}

// Slot is one decided format: slot is data_in, weight, bias or data_out.
type Slot struct{ Node, Op, Slot, Format, From string }

// ValueReport is the error of one value against the float model.
type ValueReport struct {
	Name, Op, Format, Pos string
	// SQNR is in dB, +Inf where there is no error; MaxErr and Peak are the greatest error and the greatest float value.
	SQNR, MaxErr, Peak float64
}

// UnitReport is the hardware of one node; Module is empty where it is only wires.
type UnitReport struct {
	Node, Op, Module            string
	InLanes, OutLanes, StreamIn int
	II, Latency                 int
}

// II is the initiation interval of the slowest unit, in cycles a sample.
func (r *Report) II() int {
	ii := 0
	for _, u := range r.Units {
		ii = max(ii, u.II)
	}
	return ii
}

func (r *Report) note(msg string, args ...any) { r.Notes = append(r.Notes, fmt.Sprintf(msg, args...)) }

func (r *Report) warn(msg string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(msg, args...))
}

const (
	// measureSamples bounds the samples of the error report.
	measureSamples = 64
	// drawnSamples is how many samples are drawn where there is no calibration data.
	drawnSamples = 16
	// coarse is the SQNR in dB of an output below which a plan without calibration data is worth a warning.
	coarse = 20
)

// errorSum collects the error of one value over samples.
type errorSum struct{ signal, noise, worst, peak float64 }

func (e *errorSum) add(x, y []float64) {
	for i, v := range x {
		d := math.Abs(v - y[i])
		e.signal += v * v
		e.noise += d * d
		e.worst, e.peak = max(e.worst, d), max(e.peak, math.Abs(v))
	}
}

func (e *errorSum) join(o errorSum) {
	e.signal, e.noise = e.signal+o.signal, e.noise+o.noise
	e.worst, e.peak = max(e.worst, o.worst), max(e.peak, o.peak)
}

// pair is a value that both graphs have: positions in their node lists, and how it is reported.
type pair struct {
	from, to int
	report   ValueReport
}

// pairsOf finds nodes of the same name, then outputs of the same index; nodes counts the former.
func pairsOf(before, after *ir.Graph) (pairs []pair, nodes int) {
	at := make(map[*ir.Node]int)
	named := make(map[string]int)
	for i, n := range before.Nodes {
		at[n], named[n.Name] = i, i
	}
	for i, n := range after.Nodes {
		at[n] = i
		if from, ok := named[n.Name]; ok && !n.IsConst() {
			pairs = append(pairs, pair{from, i, valueReport(n.Name, n)})
		}
	}
	nodes = len(pairs)
	for i, o := range after.Out {
		pairs = append(pairs, pair{at[before.Out[i].Node], at[o.Node], valueReport(o.Name, o.Node)})
	}
	return pairs, nodes
}

func valueReport(name string, n *ir.Node) ValueReport {
	return ValueReport{Name: name, Op: n.Op.Name, Format: n.Type.Format.String(), Pos: n.Pos}
}

// measureChunk is how many samples are held in memory at once.
const measureChunk = 16

// measure runs the float and the quantized graph on the same samples and reports the error of every node that both
// have, and of the outputs.
func (s *State) measure(before, after *ir.Graph) error {
	samples := s.Samples[:min(len(s.Samples), measureSamples)]
	if len(samples) == 0 {
		samples = callerLayout(before, random(before, s.Plan, s.runner.Seed, drawnSamples))
		s.Report.note("errors against the float model are measured on %d random samples", drawnSamples)
	}
	s.Report.Samples = len(samples)
	pairs, nodes := pairsOf(before, after)
	float, err := ref.New(before)
	if err != nil {
		return err
	}
	exact, err := ref.New(after)
	if err != nil {
		return err
	}
	sums := make([]errorSum, len(pairs))
	for len(samples) > 0 {
		chunk := samples[:min(len(samples), measureChunk)]
		samples = samples[len(chunk):]
		parts, err := s.chunkErrors(float, exact, before, after, chunk, pairs)
		if err != nil {
			return err
		}
		for _, part := range parts {
			for k := range sums {
				sums[k].join(part[k])
			}
		}
	}
	for k, p := range pairs {
		p.report.SQNR, p.report.MaxErr, p.report.Peak = decibels(sums[k].signal, sums[k].noise), sums[k].worst, sums[k].peak
		if k < nodes {
			s.Report.Nodes = append(s.Report.Nodes, p.report)
		} else {
			s.Report.Outputs = append(s.Report.Outputs, p.report)
			if len(s.Samples) == 0 && p.report.SQNR < coarse {
				s.Report.warn("output %q keeps only %.0f dB: interval analysis leaves room for values that hardly occur; "+
					"give calibration data", p.report.Name, p.report.SQNR)
			}
		}
	}
	return nil
}

// chunkErrors gives, for each sample, the error of each pair.
func (s *State) chunkErrors(float, exact *ref.Program, before, after *ir.Graph, chunk []ref.Sample,
	pairs []pair) ([][]errorSum, error) {
	x, y := make([]ref.Sample, len(chunk)), make([]ref.Sample, len(chunk))
	for i, sample := range chunk {
		x[i], y[i] = enter(before, sample), enter(after, sample)
	}
	want := make([][][]float64, len(chunk))
	err := float.Trace(s.runner.ctx, x, func(i int, values []*ir.Tensor) (err error) {
		want[i] = make([][]float64, len(pairs))
		for k, p := range pairs {
			if want[i][k], err = values[p.from].Decode(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	sums := make([][]errorSum, len(chunk))
	err = exact.Trace(s.runner.ctx, y, func(i int, values []*ir.Tensor) error {
		sums[i] = make([]errorSum, len(pairs))
		for k, p := range pairs {
			got, err := values[p.to].Decode()
			if err != nil {
				return err
			}
			sums[i][k].add(want[i][k], got)
		}
		return nil
	})
	return sums, err
}
