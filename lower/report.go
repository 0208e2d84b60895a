// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"lathe/ir"
	"lathe/ir/target"
	"lathe/lower/fuse"
	"lathe/lower/loss"
	"lathe/lower/recognize"
	"lathe/rtl"
)

// Report tells what lowering decided and what it cost.
type Report struct {
	// Notes are facts that the user should know, Warnings are likely mistakes. Each is one line.
	Notes, Warnings []string
	Passes          []PassReport
	// Recognized counts the operations that patterns have made, by pass.
	Recognized []recognize.Found
	// Slots says which rule decided each format, in graph order.
	Slots []Slot
	// Chosen are the slots whose fraction bits calibration chose and a rule for the node can give; Loose counts what
	// calibration decided beyond that.
	Chosen []Slot
	Loose  int
	// Nodes and Outputs hold the error of each value against the float model, accumulated from the inputs on, and with
	// Options.Alone also that of each node alone.
	Nodes, Outputs []ValueReport
	// Samples is how many samples that error was measured on.
	Samples int
	// Units lists the hardware of each node of a scheduled graph.
	Units []UnitReport
	// Port is what the port to a memory outside costs that units share.
	Port rtl.Cost
	// Measured is the cycles of a sample by a run beat by beat: more than those of the slowest unit where units hold each
	// other up.
	Measured float64
	// Borders are the values between kernels of a GPU.
	Borders []fuse.Border
	// Balance is what the balance mode aimed at and reached; nil in other modes.
	Balance *Balance
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

// Slot is one decided format: slot is data_in, weight, bias, data_out, gate or cell; or, as slot factor, what a real
// ratio of scales became, with the answer whether that ever matters.
type Slot struct{ Node, Op, Slot, Format, From string }

// ValueReport is the error of one value against the float model.
type ValueReport = loss.Value

// UnitReport is the hardware of one node; Module is empty where it is only wires.
type UnitReport struct {
	Node, Op, Module            string
	InLanes, OutLanes, StreamIn int
	II, Latency                 int
	// Traffic is the beats of weights that cross the memory port for a sample, Weights where they lie: see ir.HW.
	Traffic int
	Weights string
	// Wired says that the weights are wired into sums.
	Wired bool
	// Cost is what the module's header states; Costed says that it states something.
	Cost   rtl.Cost
	Costed bool
}

// II is the initiation interval of the slowest unit, in cycles a sample.
func (r *Report) II() int {
	ii := 0
	for _, u := range r.Units {
		ii = max(ii, u.II)
	}
	return ii
}

// Interval is how many cycles a sample takes: those of the slowest unit, or of the memory port, or more where streams
// that part meet again and hold each other up.
func (r *Report) Interval() float64 { return max(float64(max(r.II(), r.Traffic())), r.Measured) }

// Cost is the sum over the units and the memory port, as far as their headers state it.
func (r *Report) Cost() rtl.Cost {
	sum := r.Port
	for _, u := range r.Units {
		sum = sum.Add(u.Cost)
	}
	return sum
}

// warnPart says what a part has too little of, and which unit takes most of it.
func (r *Report) warnPart(part *target.Device) {
	of := func(c rtl.Cost) []resource { return capacity(part).resources(c) }
	for i, all := range of(r.Cost()) {
		if all.has <= all.most {
			continue
		}
		most := slices.MaxFunc(r.Units, func(a, b UnitReport) int {
			return cmp.Compare(of(a.Cost)[i].has, of(b.Cost)[i].has)
		})
		r.warn("%s has %d %s, and %d are predicted, %d of them for %s (%s)", part.Name, all.most, all.name, all.has,
			of(most.Cost)[i].has, most.Node, most.Module)
	}
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
	// drawnWeights bounds samples times weights: beyond, weights of both graphs do not fit into memory beside the file.
	drawnWeights = 50_000_000
	// coarse is the SQNR in dB of an output below which a plan without calibration data is worth a warning.
	coarse = 20
	// fine is the one from which on calibration data would gain nothing that matters.
	fine = 80
)

// affordable is how many samples are drawn: fewer of large models, and none of very large ones.
func affordable(g *ir.Graph) int {
	weights := 1
	for _, n := range g.Nodes {
		if n.IsConst() {
			weights += n.Type.Elems()
		}
	}
	return min(drawnWeights/weights, drawnSamples)
}

// measure reports the error of every node that both the float and the quantized graph have, and of the outputs.
func measure(s *State, after *ir.Graph) error {
	if s.runner.Unmeasured {
		return nil
	}
	before, cut := s.float, s.wanting
	samples := s.Samples[:min(len(s.Samples), measureSamples)]
	if len(samples) == 0 {
		drawn := affordable(before)
		if drawn == 0 {
			s.Report.note("errors against the float model are not measured: the model is large; give calibration data")
			return nil
		}
		samples = callerLayout(before, random(before, s.Plan, s.runner.Seed, drawn))
	}
	s.Report.Samples = len(samples)
	meter, err := loss.New(before, after, loss.Nodes{Cut: cut, Of: s.rounded}, s.runner.Alone)
	if err != nil {
		return err
	}
	if err := meter.Add(s.runner.ctx, samples, enter); err != nil {
		return err
	}
	s.Report.Nodes, s.Report.Outputs = meter.Values()
	for i, o := range after.Out {
		_, s.Report.Outputs[i].Place = Places(o.Node)
	}
	if r := s.Report; len(s.Samples) == 0 && (r.Loose > 0 || len(r.Chosen) > 0) {
		s.expect()
	}
	return nil
}

// expect says first of all what to expect without calibration data, and how to do better.
func (s *State) expect() {
	least, other := math.Inf(1), false
	for _, o := range s.Report.Outputs {
		if !o.Place {
			least = min(least, o.SQNR)
		}
		other = other || o.Place && o.MaxErr > 0
	}
	keeps := "are exact"
	switch {
	case !math.IsInf(least, 1):
		keeps = fmt.Sprintf("keep %.0f dB against the float model", least)
	case other:
		keeps = "are not all the classes of the float model"
	}
	text := fmt.Sprintf("no calibration data: outputs %s on %d random samples", keeps, s.Report.Samples)
	if least < fine || other {
		text += "; some hundred real inputs do better: numpy.savez(\"calib.npz\", x), then --calibrate calib.npz"
	}
	if least < coarse {
		s.Report.Warnings = slices.Insert(s.Report.Warnings, 0, text)
		return
	}
	s.Report.Notes = slices.Insert(s.Report.Notes, 0, text)
}
