// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lathe/rtl"
)

// hostile is what a model may call its nodes.
const hostile = `</style><script src="http://x/">alert('1')</script>&amp;"`

// full is a report in which everything was measured.
func full() *Report {
	f := func(v float64) *float64 { return &v }
	n := func(v int) *int { return &v }
	return &Report{Name: hostile, Model: hostile, Version: "0", Part: "xcku5p-ffvb676-2-e", ClockMHz: 250, Top: "net",
		Device: Device{Name: "xcku5p", Family: "Kintex", LUT: 1000, FF: 2000, DSP: 10, BRAM: 4}, Parameters: 1234567,
		Ports:   []Port{{Stream: "s_axis", Name: hostile, Direction: "in", Shape: "1x4", Format: "fixed(8,4)"}},
		Speed:   Speed{II: 576, Interval: 576, Bottleneck: hostile, MeasuredII: f(576), Latency: n(791)},
		Quality: Quality{Float: f(0.98), Quantized: f(0.975), SQNR: f(31.25), Samples: 64, On: "them"},
		Area:    &Area{Total: Cells{123, 456, 5, 1.5, 3}, Tool: "Yosys 0", Flags: hostile},
		Compared: &Proof{Samples: 10, Outputs: 1000, Engines: []Engine{{"rtl", 2000}}, StallPercent: 30,
			Seeds: []uint64{1, 2}, First: []string{hostile}},
		Layers: []Layer{{Node: hostile, Op: "conv", Source: hostile, Module: "op_conv", Instance: "c", Format: "fixed(8,4)",
			Decided: hostile, Min: f(-1), Max: f(2), Cycles: 576, Slowest: true, Cells: &Cells{7, 8, 9, 0.5, 0},
			Alone: &Error{f(40), 0.25}, Total: &Error{nil, 0}, Images: []Image{{"a.mem", 16, 64}},
			Values: &Magnitudes{Zeros: 3, Least: -2, Counts: []int{5, 0, 10}, Format: &[2]int{-1, 3}}},
			{Node: "half", Cycles: 288}},
		Predicted: &Cells{120, 440, 5, 1.5, 0},
		Balance: &Balance{FPS: 400000, Reached: 434028, Cost: Cells{120, 440, 5, 1.5, 2},
			Budget: Cells{LUT: 900, FF: 1800, URAM: 64}, Proof: hostile},
		Routed: &Routed{Device: hostile, Verdict: "meets the 100 MHz asked for", MHz: 125, Median: 120,
			Seeds: 3, LUT: 5970, Path: []Hop{{NS: 8, Kind: "wire", Layer: hostile, Module: "op_conv", Signal: hostile}},
			FloorPlan: []byte("<svg><text>floor</text></svg>")},
		Fifos:     []Fifo{{Node: "f", Depth: 9, Predicted: n(8), Quiet: n(0), Stalled: n(7)}},
		Timeline:  []Span{{hostile, []int{0, 50}, []int{49, 99}}},
		Precision: []Precision{{Bits: 4, SQNR: f(12), Accuracy: f(0.5)}, {Bits: 8, SQNR: f(40), Accuracy: f(0.9)}},
		Widths:    "9 samples of x.npz",
		Notes:     []string{"run `" + hostile + "`"}, Warnings: []string{hostile},
		Picture: []byte("<svg><text>x</text></svg>")}
}

// TestDecoder speaks of sequences and tokens, not of samples, where a design is a decoder.
func TestDecoder(t *testing.T) {
	r := full()
	r.Decoder = &Decoder{Tokens: 8, Prefill: 2, PrefillCycles: 1600, TokenCycles: 1582}
	r.Ports[0].Beats = 24
	html, err := HTML(r)
	if err != nil {
		t.Fatal(err)
	}
	_, _, text := parse(t, html)
	for _, want := range []string{"sequences/s", "one sequence of 8 tokens every 576 cycles", "A token 1,582 cycles",
		"a prompt of 2: 1,600", "576 cycles a sequence", "beats a token", "fixed(8,4) 0 3 0"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(text, "a sample") || strings.Contains(text, "samples/s") {
		t.Error("the page speaks of samples")
	}
}

// TestUnrolled shows of what unrolled layers consist, and draws the bits in each row of registers on one scale.
func TestUnrolled(t *testing.T) {
	r := full()
	sums := &rtl.Sums{Products: 1014, Chains: 1100, Shared: 235, Cells: 9545, Levels: 13.62, Stage: 3.72, Rows: 2,
		Live: []int{128, 2000, 500}}
	r.Layers[0].Sums, r.Layers[0].Predicted = sums, &Cells{LUT: 9872, FF: 12206}
	r.Layers = append(r.Layers, Layer{Node: "small", Cycles: 1, Sums: &rtl.Sums{Rows: 1, Live: []int{8, 1000}}})
	html, err := HTML(r)
	if err != nil {
		t.Fatal(err)
	}
	_, attributes, text := parse(t, html)
	for _, want := range []string{hostile + " 1,014 1,100 235 9,545 9,872 7 12,206 8 13.62 3.72 2 small",
		hostile + " 128 in 2,000 row 1 500 out", "small 8 in 1,000 out"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, want := range []string{"height=40", "height=2", "height=20", "height=10"} {
		if !slices.Contains(attributes, want) {
			t.Errorf("no bar of %s", want)
		}
	}
}

// TestWished: a rate at a clock that nobody has measured is said to be so, and cycles come first.
func TestWished(t *testing.T) {
	r := full()
	r.Routed = nil
	html, err := HTML(r)
	if err != nil {
		t.Fatal(err)
	}
	_, _, text := parse(t, html)
	for _, want := range []string{"Throughput 576 cycles a sample",
		"at the wished clock of 250 MHz (not measured) 434,028 samples/s", "3.16 µs at the wished clock"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(text, "by timing analysis") || strings.Contains(text, "Placed and routed") {
		t.Error("the page speaks of a clock that was routed")
	}
}

// parse demands that the page is well-formed XML too, and returns its elements, attributes and text.
func parse(t *testing.T, page []byte) (elements, attributes []string, text string) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(page))
	var all strings.Builder
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return elements, attributes, strings.Join(strings.Fields(all.String()), " ")
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			elements = append(elements, x.Name.Local)
			for _, a := range x.Attr {
				attributes = append(attributes, a.Name.Local+"="+a.Value)
			}
		case xml.CharData:
			all.Write(x)
			all.WriteByte(' ')
		}
	}
}

// outside finds references to anything but the page itself.
var outside = regexp.MustCompile(`(?i)^(src|href|srcset|data|action|poster)=|javascript:|url\(|@import`)

// TestFigures: large numbers in full.
func TestFigures(t *testing.T) {
	for v, want := range map[float64]string{18360: "18360", 1234567: "1234567", 0.123456: "0.1235", 3: "3"} {
		if got := figure(v); got != want {
			t.Errorf("%g is %q, want %q", v, got, want)
		}
	}
}

// TestPage holds the page to one file that is well-formed, refers to nothing and escapes all names.
func TestPage(t *testing.T) {
	page, err := HTML(full())
	if err != nil {
		t.Fatal(err)
	}
	again, err := HTML(full())
	if err != nil || !bytes.Equal(page, again) {
		t.Errorf("the second page differs: %v", err)
	}
	elements, attributes, text := parse(t, page)
	for _, name := range []string{"script", "link", "img", "iframe", "object", "base", "form", "a"} {
		if slices.Contains(elements, name) {
			t.Errorf("the page has an element %s", name)
		}
	}
	for _, a := range attributes {
		if outside.MatchString(a) {
			t.Errorf("the page refers to something: %s", a)
		}
	}
	if outside.MatchString(style) {
		t.Error("the style refers to something")
	}
	if n := strings.Count(text, hostile); n < 10 {
		t.Errorf("a hostile name stands in the text %d times", n)
	}
	for _, want := range []string{"217,014 samples/s routed: ",
		"125 MHz by timing analysis, which meets the 100 MHz asked for; one sample every 576 cycles",
		"the best of 3 seeds; the median is 120 MHz. 5,970 LUT", "floor", "8 wire " + hostile + " op_conv " + hostile,
		"1,234,567 parameters", "576 cycles", "791 cycles", "6.33 µs at the routed clock",
		"97.50 %", "98.00 %",
		"31.2 dB", "123 12.3 % of xcku5p; predicted: 120", "5 50.0 %",
		"Balanced for 400,000 samples a second: 434,028 if the design runs at 250 MHz, which is 8.51 % above",
		"LUT FF DSP block RAM UltraRAM predicted 120 440 5 1.5 2 budget 900 1,800 any any 64",
		"counted by Yosys 123 456 5 1.5 3", "1.5 37.5 %",
		"0 mismatches", "rtl 2,000", "seeds 1 2",
		"-1 … 2 3 zeros; others from 2^-2 to 2^1; the format has steps of 2^-1 and reaches 2^3",
		"40.0 dB 0.25 exact 0",
		"f 9 8 0 7", "a.mem 16 64 1.0", "0 … 49, 50 … 99", "on 9 samples of x.npz",
		"4 50.00 % 12.0 dB 8 90.00 % 40.0 dB"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if strings.Contains(text, "not measured") || strings.Contains(text, "Not everything") {
		t.Error("something is said not to be measured")
	}
	for what, want := range map[string]string{"a layer at half the pace": "style=width:50.0%",
		"a FIFO that holds 7 of 9":   "style=width:77.8%",
		"an accuracy of 90 %":        "style=width:90.0%",
		"the LUT of the device":      "style=width:12.3%",
		"the second sample":          "style=left:50.00%;width:50.00%",
		"the range of the format":    "width=20",
		"values below its step":      "class=out",
		"the most frequent of sizes": "height=24"} {
		if !slices.Contains(attributes, want) {
			t.Errorf("%s: no %s", what, want)
		}
	}
}

// TestEmpty says of everything that it was not measured, and invents nothing.
func TestEmpty(t *testing.T) {
	page, err := HTML(&Report{Name: "net", Layers: []Layer{{Node: "n", Cycles: 3}}, Speed: Speed{II: 3, Interval: 3},
		Fifos: []Fifo{{Node: "f", Depth: 2}}, Missing: []string{"Area: `yosys` & more"}})
	if err != nil {
		t.Fatal(err)
	}
	_, _, text := parse(t, page)
	for _, want := range []string{"Latency not measured", "Accuracy not measured", "Output SQNR not measured",
		"Compared not compared", "block RAM not measured", "computed, not simulated", "Not everything was measured.",
		"Area: yosys & more", "f 2 not measured not measured not measured", "Errors of layers alone: not measured",
		"Nothing yet."} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q in\n%s", want, text)
		}
	}
	for _, figure := range []string{" 0 mismatches", "0.00 %", " dB"} {
		if strings.Contains(text, figure) {
			t.Errorf("the page invents %q", figure)
		}
	}
}

// TestMismatches marks a design that is wrong.
func TestMismatches(t *testing.T) {
	r := full()
	r.Compared.Mismatches = 3
	page, err := HTML(r)
	if err != nil {
		t.Fatal(err)
	}
	_, attributes, text := parse(t, page)
	if !strings.Contains(text, "3 mismatches") || !slices.Contains(attributes, "class=tile two verdict fails") {
		t.Error("three mismatches are not shown")
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -12345: "-12,345"} {
		if got := count(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

// TestPredicted shows what the headers predict where nobody has counted, and says so.
func TestPredicted(t *testing.T) {
	r := full()
	r.Area, r.Layers[0].Predicted = nil, &Cells{77, 88, 9, 1, 0}
	page, err := HTML(r)
	if err != nil {
		t.Fatal(err)
	}
	_, _, text := parse(t, page)
	for _, want := range []string{"block RAM not measured predicted by the compiler: about 120 LUT", "LUT*", "77 88 9 1",
		"nobody has counted", "sum of the predictions 120 440 5 1.5"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// TestMeasurements holds pages of measurements to the same: well-formed, alone, and with names escaped.
func TestMeasurements(t *testing.T) {
	s := &Measurements{Title: hostile, Lead: []string{hostile}, Version: "0", Sections: []Section{{Title: hostile,
		Text: []string{"run `" + hostile + "`"}, Plots: [][]byte{[]byte("<svg><text>x</text></svg>")},
		Table: [][]string{{"node", hostile}, {"1", "-2.5 dB"}, {hostile, ""}}}}}
	page, err := s.HTML()
	if err != nil {
		t.Fatal(err)
	}
	elements, attributes, text := parse(t, page)
	if slices.Contains(elements, "script") || slices.ContainsFunc(attributes, outside.MatchString) {
		t.Errorf("the page refers to something: %s", attributes)
	}
	if n := strings.Count(text, hostile); n != 7 {
		t.Errorf("%d names are whole, want 7", n)
	}
	if !bytes.Contains(page, []byte(`<th>1</th><td class="n">-2.5 dB</td>`)) {
		t.Error("a number is not aligned")
	}
}
