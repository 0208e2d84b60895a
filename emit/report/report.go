// SPDX-License-Identifier: Apache-2.0

// Package report prints one page about a design for people: what it computes, how fast, in what area, and what has been
// compared. A figure that nobody has measured is said to be so.
package report

import (
	"bytes"
	_ "embed" // page and style
	"html/template"
	"slices"

	"lathe/rtl"
)

// Report is all that the page says. Pointers are nil, and lists empty, where something was not measured; Missing says
// why.
type Report struct {
	// Title heads the page; "" stands for Name, that of the graph.
	Title string `json:"title,omitempty"`
	Name  string `json:"name"`
	Model string `json:"model"` // file name without its folder
	// Version is that of the compiler.
	Version    string  `json:"lathe"`
	Part       string  `json:"part"`
	Device     Device  `json:"device"`
	ClockMHz   float64 `json:"clock_mhz"`
	Top        string  `json:"top"`
	Core       string  `json:"core"`
	Parameters int     `json:"parameters"` // elements of all constants
	Ports      []Port  `json:"ports"`
	Speed      Speed   `json:"speed"`
	// Decoder is what is promised of tokens; nil for designs that take whole samples.
	Decoder *Decoder `json:"decoder,omitempty"`
	Quality Quality  `json:"quality"`
	// Metric is what outputs are judged by in place of the accuracy, "" for nothing; Least says that less is better.
	Metric string `json:"metric,omitempty"`
	Least  bool   `json:"less_is_better,omitempty"`
	Area   *Area  `json:"area,omitempty"`
	// Predicted is what the costs in the headers of the modules add up to; nil where one is not stated.
	Predicted *Cells   `json:"predicted,omitempty"`
	Balance   *Balance `json:"balance,omitempty"`
	Compared  *Proof   `json:"compared,omitempty"`
	// Routed is what place and route found of exactly this design; nil where nobody has.
	Routed *Routed `json:"routed,omitempty"`
	Layers []Layer `json:"layers"`
	Fifos  []Fifo  `json:"fifos,omitempty"`
	// Timeline is two samples on their way through the layers, in an idle design and without stalls.
	Timeline []Span `json:"timeline,omitempty"`
	// Precision is the quality of the model at several widths, Widths the samples it was measured on, in words.
	Precision []Precision `json:"precision,omitempty"`
	Widths    string      `json:"precision_on,omitempty"`
	// Missing says what was not measured, and why; Notes and Warnings are those of the compiler.
	Missing  []string `json:"missing,omitempty"`
	Notes    []string `json:"notes,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	// Picture is the graph as SVG, without a prologue. It is trusted.
	Picture []byte `json:"-"`
}

// Routed is the outcome of place and route.
type Routed struct {
	Device string  `json:"device"` // with its speed grade
	MHz    float64 `json:"mhz"`    // of the best seed
	// Verdict says whether that is the clock asked for, and whether the device is that of the plan.
	Verdict string  `json:"verdict"`
	Median  float64 `json:"mhz_median"`
	Seeds   int     `json:"seeds"`
	LUT     int     `json:"luts"`
	FF      int     `json:"ffs"`
	DSP     int     `json:"dsps"`
	BRAM    int     `json:"brams"`
	Path    []Hop   `json:"critical_path"`
	// FloorPlan is an SVG without a prologue. It is trusted.
	FloorPlan []byte `json:"-"`
}

// Hop is one step of the slowest path.
type Hop struct {
	NS     float64 `json:"ns"`
	Kind   string  `json:"kind"`
	Layer  string  `json:"layer,omitempty"`
	Module string  `json:"module"`
	Signal string  `json:"signal"`
}

// Device is what the FPGA holds; zero where the plan names none.
type Device struct {
	Name   string  `json:"name"`
	Family string  `json:"family"`
	LUT    int     `json:"lut"`
	FF     int     `json:"ff"`
	DSP    int     `json:"dsp"`
	BRAM   float64 `json:"bram"`
}

// Port is one stream of the wrapper.
type Port struct {
	Stream    string `json:"stream"`
	Name      string `json:"name"`
	Direction string `json:"direction"` // in or out
	Shape     string `json:"shape"`
	Format    string `json:"format"`
	Lanes     int    `json:"lanes"`
	Beats     int    `json:"beats"`
	TData     int    `json:"tdata_width"`
}

// Speed is in cycles: II, that of the slowest unit, which is the Bottleneck, and Interval, the distance of samples, as
// the compiler computes them; MeasuredII and Latency as a simulation without stalls has shown.
type Speed struct {
	II         int      `json:"ii_cycles"`
	Interval   float64  `json:"interval_cycles"`
	Bottleneck string   `json:"bottleneck"` // the node
	MeasuredII *float64 `json:"measured_ii_cycles,omitempty"`
	Latency    *int     `json:"latency_cycles,omitempty"`
}

// Decoder is what a decoder promises of sequences of up to so many tokens, whose distance Speed then has: cycles from
// the first token of a prompt in to the last output of it, and of a token by itself.
type Decoder struct {
	Tokens        int `json:"tokens"`
	Prefill       int `json:"prefill"` // tokens of the prompt
	PrefillCycles int `json:"prefill_cycles"`
	TokenCycles   int `json:"token_cycles"`
}

// Frame is what a design takes as a whole.
func (r *Report) Frame() string {
	if r.Decoder != nil {
		return "sequence"
	}
	return "sample"
}

// BeatsOf says of how many beats of p what comes by itself consists: a sample, or a token of a decoder.
func (r *Report) BeatsOf(p Port) int {
	if r.Decoder != nil {
		return p.Beats / r.Decoder.Tokens
	}
	return p.Beats
}

// Quality is the accuracy with labels, and the ratio of outputs to their error against float in dB (300: none).
type Quality struct {
	Float     *float64 `json:"accuracy_float,omitempty"`
	Quantized *float64 `json:"accuracy_quantized,omitempty"`
	// Score is that of a metric in place of the accuracy; nil: none.
	Score *Score   `json:"score,omitempty"`
	SQNR  *float64 `json:"sqnr_db,omitempty"`
	On    string   `json:"sqnr_on,omitempty"` // the samples of SQNR, in words
	// Samples is how many samples the errors of the layers were measured on.
	Samples int `json:"samples,omitempty"`
}

// Score is what a metric says of the outputs; Float is nil where there is no float model.
type Score struct {
	Float     *float64 `json:"float,omitempty"`
	Quantized float64  `json:"quantized"`
}

// Cells counts what a design, or a part of it, takes; BRAM in blocks of 36 Kbit, URAM in blocks of 288 Kbit.
type Cells struct {
	LUT  int     `json:"lut"`
	FF   int     `json:"ff"`
	DSP  int     `json:"dsp"`
	BRAM float64 `json:"bram"`
	URAM int     `json:"uram"`
}

// Balance is what a balanced folding aimed at and reached; FPS and the parts of Budget are 0 where the plan asks for
// nothing.
type Balance struct {
	FPS     float64 `json:"fps,omitempty"`
	Reached float64 `json:"reached_fps"`
	Cost    Cells   `json:"cost"`
	Budget  Cells   `json:"budget"`
	Proof   string  `json:"proof"` // why it is no faster, or no smaller
}

// Area is a count of cells after synthesis.
type Area struct {
	Total Cells  `json:"total"`
	Tool  string `json:"tool"`
	Flags string `json:"flags"`
}

// Proof is what engines were compared on.
type Proof struct {
	Samples    int      `json:"samples"`
	Outputs    int      `json:"outputs"`
	Mismatches int      `json:"mismatches"`
	Engines    []Engine `json:"engines"`
	// StallPercent and Seeds are those of the stalled simulations; Cycles their length, Starved and Blocked how many
	// cycles an input lacked data and an output was held back.
	StallPercent int      `json:"stall_percent"`
	Seeds        []uint64 `json:"seeds"`
	Cycles       int      `json:"cycles"`
	Starved      int      `json:"starved_cycles"`
	Blocked      int      `json:"blocked_cycles"`
	First        []string `json:"first_mismatches,omitempty"`
}

// Engine is one execution that was compared with the reference, on so many codes.
type Engine struct {
	Name     string `json:"name"`
	Compared int    `json:"compared"`
}

// Layer is one node of the scheduled graph.
type Layer struct {
	Node     string `json:"node"`
	Op       string `json:"op"`
	Source   string `json:"source,omitempty"`
	Module   string `json:"module,omitempty"`
	Instance string `json:"instance,omitempty"`
	Shape    string `json:"shape"`
	Format   string `json:"format"`
	Decided  string `json:"decided_by,omitempty"` // the rule behind the format
	// Min and Max bound the values of the float model.
	Min      *float64 `json:"min,omitempty"`
	Max      *float64 `json:"max,omitempty"`
	InLanes  int      `json:"in_lanes"`
	OutLanes int      `json:"out_lanes"`
	Cycles   int      `json:"cycles"`
	Latency  int      `json:"latency"`
	Slowest  bool     `json:"slowest,omitempty"`
	// Adapter is a unit that moves values and computes none: FIFO, fork, change of lanes.
	Adapter bool   `json:"adapter,omitempty"`
	Cells   *Cells `json:"cells,omitempty"`
	// Predicted is what the header of the module says of its costs.
	Predicted *Cells `json:"predicted,omitempty"`
	// Sums are facts about those of an unrolled layer; nil for others.
	Sums  *rtl.Sums `json:"sums,omitempty"`
	Alone *Error    `json:"alone,omitempty"`
	Total *Error    `json:"accumulated,omitempty"`
	// Values are those of the float model.
	Values *Magnitudes `json:"values,omitempty"`
	Images []Image     `json:"images,omitempty"`
}

// Image is one memory image.
type Image struct {
	File  string `json:"file"`
	Words int    `json:"words"`
	Width int    `json:"width"`
}

// Error is that of a value against the float model; SQNR is nil where there is none at all.
type Error struct {
	SQNR *float64 `json:"sqnr_db,omitempty"`
	Max  float64  `json:"max_error"`
}

// Fifo is a FIFO with its depth in beats, and the most beats that it held: as predicted, in a run without stalls, and
// in the stalled runs.
type Fifo struct {
	Node      string `json:"node"`
	Depth     int    `json:"depth"`
	Predicted *int   `json:"predicted,omitempty"`
	Quiet     *int   `json:"quiet,omitempty"`
	Stalled   *int   `json:"stalled,omitempty"`
}

// Unrolled are the layers whose weights are wired into sums.
func (r *Report) Unrolled() (layers []Layer) {
	for _, l := range r.Layers {
		if l.Sums != nil {
			layers = append(layers, l)
		}
	}
	return layers
}

func (r *Report) floor() []byte {
	if r.Routed == nil {
		return nil
	}
	return r.Routed.FloorPlan
}

//go:embed page.html.tmpl
var pageText string

//go:embed style.css
var style string

var page = template.Must(template.New("page").Funcs(words).Parse(pageText))

// HTML prints the page: one file that needs nothing else, the same bytes for the same report.
func HTML(r *Report) ([]byte, error) {
	var b bytes.Buffer
	err := page.Execute(&b, struct {
		*Report
		Style template.CSS
		Graph template.HTML
		Floor template.HTML
		Alone bool // some layer has an error alone
	}{r, template.CSS(style), template.HTML(r.Picture), template.HTML(r.floor()),
		slices.ContainsFunc(r.Layers, func(l Layer) bool { return l.Alone != nil })})
	return b.Bytes(), err
}
