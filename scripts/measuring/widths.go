// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"lathe/emit/verilog"
	"lathe/golden/pjrt"
	"lathe/internal/driver"
	"lathe/internal/evidence"
	"lathe/internal/training"
	"lathe/internal/training/sweeps"
	"lathe/lower/plan"
	"lathe/sim/area"
	"lathe/train"
)

const widthsPage = "docs/training-widths.md"

// widened is a network whose widths are trained by us and by HGQ2.
type widened struct {
	example string
	// epochs is how often either sees all samples; ours begins with fresh epochs in floats.
	epochs, fresh int
	layers        []string
	prices        []float64
	betas         []string // HGQ2's prices
}

var widenedNetworks = []widened{
	{"digits-mlp", 150, 50, []string{"32", "32", "10"}, []float64{1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4},
		[]string{"1e-6", "5e-6", "2e-5"}},
	{"jets-mlp", 50, 20, []string{"64", "32", "32", "5"}, []float64{1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4},
		[]string{"1e-6", "1e-5", "1e-4"}},
}

// widthSeeds are trained; the hardware of the first is counted, which takes longer than training.
const widthSeeds = 3

// widths trains the networks that -run matches, by "NETWORK MAKER PRICE seed N", and counts what comes out. Rows that
// there are already stay, unless -run names them.
func widths(ctx context.Context, f *flags, _ []string, say func(string)) error {
	e, err := evidence.Read(evidenceDir)
	if err != nil {
		return err
	}
	all := f.run.String() == ""
	wanted := func(w *evidence.Width) bool {
		return f.run.MatchString(w.Name()) && !(all && e.HasWidth(w.Name()))
	}
	failed := 0
	for i := range widenedNetworks {
		n := &widenedNetworks[i]
		if err := n.ours(ctx, f, e, wanted, say); err != nil {
			return err
		}
		for seed := 1; seed <= widthSeeds; seed++ {
			for _, beta := range n.betas {
				w := evidence.Width{Network: n.example, Peer: true, Price: beta, Seed: seed, Epochs: n.epochs}
				if !wanted(&w) {
					continue
				}
				if err := n.peer(ctx, f, &w); err != nil {
					say(fmt.Sprintf("%s: %v", w.Name(), err))
					failed++
					continue
				}
				if err := saveWidth(e, &w, say); err != nil {
					return err
				}
			}
		}
	}
	return failures(ctx, failed)
}

// saveWidth keeps a line and prints the page.
func saveWidth(e *evidence.Evidence, w *evidence.Width, say func(string)) error {
	say(fmt.Sprintf("%s: accuracy %.4f, %d LUT, %d FF", w.Name(), w.Accuracy, w.LUT, w.FF))
	e.SetWidth(*w)
	if err := e.Write(evidenceDir); err != nil {
		return err
	}
	return saveWidths(e)
}

func saveWidths(e *evidence.Evidence) error {
	for network, picture := range e.WidthsPlots() {
		if err := write("docs/training-widths-"+network+".svg", string(picture)); err != nil {
			return err
		}
	}
	return write(widthsPage, e.WidthsPage())
}

// ours trains at all prices that are wanted, and counts.
func (n *widened) ours(ctx context.Context, f *flags, e *evidence.Evidence, wanted func(*evidence.Width) bool,
	say func(string)) error {
	line := func(price float64, seed int) evidence.Width {
		return evidence.Width{Network: n.example, Price: strconv.FormatFloat(price, 'g', -1, 64), Seed: seed,
			Epochs: n.epochs, Commit: f.commit}
	}
	var prices []float64
	for _, p := range n.prices {
		for seed := 1; seed <= widthSeeds; seed++ {
			if w := line(p, seed); wanted(&w) {
				prices = append(prices, p)
				break
			}
		}
	}
	if len(prices) == 0 {
		return nil
	}
	folder, err := os.MkdirTemp("", "measure")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	s, err := n.sweep(ctx, f, prices, folder, say)
	if err != nil {
		return err
	}
	for i, p := range s.Points {
		for _, r := range p.Runs {
			w := line(prices[i], r.Seed)
			w.Accuracy = r.After
			if r.Seed == 1 {
				if err := n.emit(ctx, r.Graph, &w); err != nil {
					return err
				}
			}
			if err := saveWidth(e, &w, say); err != nil {
				return err
			}
		}
	}
	return nil
}

func (n *widened) at(name string) string { return filepath.Join("examples", n.example, name) }

// sweep trains ours.
func (n *widened) sweep(ctx context.Context, f *flags, prices []float64, folder string,
	say func(string)) (*sweeps.Sweep, error) {
	with, err := engines(f)
	if err != nil {
		return nil, err
	}
	engine, err := pjrt.Start(ctx, with.PJRT)
	if err != nil {
		return nil, err
	}
	defer engine.Close()
	kind, _ := sweeps.KindOf("bits")
	epochs := n.epochs - n.fresh
	return sweeps.Measure(ctx, &sweeps.Options{Kind: kind, Ranges: sweeps.Ranges{Prices: prices}, Seeds: widthSeeds,
		Fresh: n.fresh, Folder: folder, NoCost: true, Watch: func(int, int) {},
		Ended: func(r *sweeps.Run) {
			say(fmt.Sprintf("%s price %s seed %d: %.4f", n.example, r.Label, r.Seed, r.After))
		},
		Task: training.Task{Source: driver.Source{Model: n.at("model.onnx"), Plan: n.at("widths.toml"),
			Settings: plan.Settings{Epochs: &epochs}}, Data: n.at("train.npz"), Labels: n.at("train_labels.npy"),
			Eval: n.at("inputs.npz"), EvalLabels: n.at("labels.npy"),
			Engine: func(context.Context) (train.Engine, error) { return train.OnPJRT(engine), nil }}})
}

// emit counts the hardware of a trained graph.
func (n *widened) emit(ctx context.Context, graph string, w *evidence.Width) error {
	s := driver.Source{Model: graph, Plan: n.at("widths.toml")}
	g, err := s.Import()
	if err != nil {
		return err
	}
	q, err := s.Quantize(ctx, g)
	if err != nil {
		return err
	}
	hw, err := q.Emit(ctx, verilog.Options{Version: "test"})
	if err != nil {
		return err
	}
	r, err := counted(ctx, hw.Design, bothCount)
	if err == nil {
		w.LUT, w.FF = r.Total.LUT, r.Total.FF
	}
	return err
}

// bothCount is how Yosys counts the designs of both makers.
var bothCount = area.Options{Flatten: true, NoDSP: true, Timeout: time.Hour}

// peer trains by HGQ2, and counts what alkaid prints.
func (n *widened) peer(ctx context.Context, f *flags, w *evidence.Width) error {
	dir, err := os.MkdirTemp("", "measure")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	out := ""
	if w.Seed == 1 {
		out = filepath.Join(dir, "peer")
	}
	python := filepath.Join(f.cache, "hgq", "bin", "python")
	args := append([]string{"scripts/measuring/widths_peer.py", filepath.Join("examples", n.example), w.Price,
		fmt.Sprint(w.Seed), fmt.Sprint(n.epochs), out}, n.layers...)
	cmd := exec.CommandContext(ctx, python, args...)
	var said, complained bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &complained
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w (scripts/setup hgq installs it): %s", err, lastLine(complained.String()))
	}
	facts := struct{ Accuracy float64 }{}
	if err := json.Unmarshal(said.Bytes(), &facts); err != nil {
		return fmt.Errorf("%w: %q", err, said.String())
	}
	if w.Accuracy = facts.Accuracy; out == "" {
		return nil
	}
	src := filepath.Join(out, "src")
	var files []string
	for _, glob := range []string{"*.v", "static/*.v"} {
		found, err := filepath.Glob(filepath.Join(src, glob))
		if err != nil {
			return err
		}
		for _, path := range found {
			name, err := filepath.Rel(src, path)
			if err != nil {
				return err
			}
			files = append(files, name)
		}
	}
	r, err := area.Count(ctx, src, files, "model", bothCount)
	if err == nil {
		w.LUT, w.FF = r.Total.LUT, r.Total.FF
	}
	return err
}

func lastLine(text string) string {
	lines := bytes.Split(bytes.TrimSpace([]byte(text)), []byte("\n"))
	return string(lines[len(lines)-1])
}
