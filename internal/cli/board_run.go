// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.bug.st/serial"

	"lathe/emit/shell"
	"lathe/golden"
	"lathe/internal/board"
	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/ir"
	"lathe/ir/ref"
	"lathe/ir/target"
	onboard "lathe/sim/board"
)

// boardRunFlags say on which board a model runs, and what comes out.
type boardRunFlags struct {
	port, simulate  string
	inputs, output  string
	compare, labels string
	codes           bool
	baud            int
	timeout         time.Duration
}

func (a *App) boardRun() *cobra.Command {
	var s sourceFlags
	var r boardRunFlags
	c := a.verb("run MODEL --port PORT --inputs IN.npz -o OUT.npz",
		"have a board compute samples", nil, "MODEL")
	c.Long = "Computes the outputs of a model on a board that holds its design, over the serial line. Model and its\n" +
		"flags are those that emit-verilog was given: the board tells the digest of its design, and another one is\n" +
		"refused. What is lost or damaged on the line is sent again; a result is right, or there is none. With\n" +
		"--compare ref, exit status 1 where a code differs from the reference. --simulate runs on a simulated board."
	c.Example = "  lathe board run model.onnx --calibrate c.npz --port /dev/ttyUSB0 --inputs x.npz -o y.npz --compare ref"
	s.add(c, true)
	s.choices.add(c)
	f := c.Flags()
	f.StringVar(&r.port, "port", "", "the serial port of the board")
	f.StringVar(&r.simulate, "simulate", "", "in place of --port: the board to simulate, see lathe board list")
	f.StringVar(&r.inputs, "inputs", "", "arrays named as the graph's inputs (.npz)")
	f.StringVarP(&r.output, "output", "o", "", "file for the outputs (.npz)")
	f.StringVar(&r.compare, "compare", "", "ref: compare all codes with the reference")
	f.StringVar(&r.labels, "labels", "", "class numbers of the samples (.npy), for accuracy")
	f.BoolVar(&r.codes, "codes", false, "write integer codes instead of values")
	f.IntVar(&r.baud, "baud", 3_000_000, "bits a second on the line, as lathe board list has them")
	f.DurationVar(&r.timeout, "timeout", time.Second, "for an answer of the board, after which a sample is sent again")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := r.check(c); err != nil {
			return err
		}
		return a.runOnBoard(c.Context(), &s, &r, args[0])
	}
	return c
}

// check refuses flags that do not fit together.
func (r *boardRunFlags) check(c *cobra.Command) error {
	if err := required(c, "inputs", "output"); err != nil {
		return err
	}
	switch {
	case (r.port == "") == (r.simulate == ""):
		return usagef("lathe board run needs either --port or --simulate")
	case r.compare != "" && r.compare != "ref":
		return usagef("--compare %q: the reference is ref", r.compare)
	case r.timeout <= 0 || r.baud <= 0:
		return usagef("--timeout and --baud must be positive")
	}
	return writable(r.output, diag.ArrayWrite)
}

// boardFacts are what --json says of a run on a board.
type boardFacts struct {
	Model   string `json:"model"`
	Port    string `json:"port"`
	ID      string `json:"design_id"`
	Samples int    `json:"samples"`
	// Again counts samples that were sent again, Damaged packets that came back and were not whole.
	Again      int              `json:"sent_again"`
	Damaged    int              `json:"damaged_answers"`
	Board      board.Info       `json:"board"`
	Compared   int              `json:"compared_codes"`
	Mismatches int              `json:"mismatches"`
	First      *golden.Mismatch `json:"first_mismatch,omitempty"`
	Seconds    float64          `json:"seconds"`
	Arrays     any              `json:"arrays"`
	Accuracy   *float64         `json:"accuracy,omitempty"`
}

func (a *App) runOnBoard(ctx context.Context, s *sourceFlags, r *boardRunFlags, model string) error {
	source, err := s.of(a, model)
	if err != nil {
		return err
	}
	source.Arrays = r.inputs
	p := progress{app: a}
	defer p.finish()
	hw, err := a.hardware(ctx, source, "", &p)
	if err != nil {
		return err
	}
	core, err := shell.Of(hw.Design)
	if err == nil {
		err = core.OnBoard()
	}
	if err != nil {
		return err
	}
	samples, batch, _, err := runSamples(hw.Scheduled, hw.Plan, r.inputs)
	if err != nil {
		return err
	}
	if r.simulate != "" {
		done, err := a.simulated(ctx, core, r, &p)
		if err != nil {
			return err
		}
		defer done()
	}
	facts := boardFacts{Model: model, Port: r.port, ID: core.Digest(), Samples: len(samples)}
	outputs, err := a.onPort(ctx, r, core, hw, samples, &facts, &p)
	p.finish()
	if err != nil {
		return err
	}
	if err := facts.compare(ctx, r, hw.Scheduled, samples, outputs); err != nil {
		return err
	}
	arrays, err := driver.Arrays(hw.Scheduled, outputs, batch, r.codes)
	if err != nil {
		return err
	}
	if err := a.writeArrays(ctx, r.output, arrays); err != nil {
		return err
	}
	facts.Arrays = a.printArrays(r.output, arrays)
	if r.labels != "" {
		if facts.Accuracy, err = a.printAccurate(hw.Scheduled, outputs, r.labels); err != nil {
			return err
		}
	}
	return a.printBoardRun(&facts)
}

// simulated starts a simulated board, whose port r then has.
func (a *App) simulated(ctx context.Context, core *shell.Core, r *boardRunFlags, p *progress) (func(), error) {
	b, err := target.FindBoard(r.simulate)
	if err != nil {
		return nil, &usageError{err}
	}
	p.Report("build simulation", 0, 0)
	sim, err := onboard.Simulate(ctx, core, b, 0, a.Env.Cache, 1, onboard.Faults{})
	if err != nil {
		return nil, err
	}
	r.port = sim.Path
	return func() { _ = sim.Close() }, nil
}

// onPort opens the port and has the board compute.
func (a *App) onPort(ctx context.Context, r *boardRunFlags, core *shell.Core, hw *driver.Hardware,
	samples []ref.Sample, facts *boardFacts, p *progress) ([]ref.Sample, error) {
	port, err := openPort(r.port, r.baud)
	if err != nil {
		return nil, err
	}
	defer port.Close()
	start := time.Now()
	link, err := board.Open(ctx, port, board.Options{Name: r.port, Timeout: r.timeout, First: uint32(start.UnixNano()),
		Now: time.Now})
	if err != nil {
		return nil, err
	}
	if err := link.Is(core.ID, core.Bytes(true), core.Bytes(false)); err != nil {
		return nil, err
	}
	results, err := link.Run(ctx, onboard.Frames(hw.Design, samples),
		func(n int) { p.Report("board", n, len(samples)) })
	if err != nil {
		return nil, err
	}
	facts.Seconds = time.Since(start).Seconds()
	facts.Again, facts.Damaged, facts.Board = link.Again, link.Damaged(), link.Info()
	return onboard.Results(hw.Design, results)
}

// openPort opens a serial port. Error L1204 names those that there are.
func openPort(name string, baud int) (serial.Port, error) {
	port, err := serial.Open(name, &serial.Mode{BaudRate: baud})
	if err == nil {
		if err = port.SetReadTimeout(50 * time.Millisecond); err == nil {
			return port, nil
		}
		port.Close()
	}
	fault := diag.New(diag.BoardPort, name, "cannot open the serial port: %v", err)
	names, _ := serial.GetPortsList()
	slices.Sort(names)
	if len(names) == 0 {
		return nil, fault.WithHint("no serial port is here: plug the board in, or run on a simulated one by --simulate")
	}
	return nil, fault.WithHint("ports here: %s; one that is refused needs your user in the group of its file",
		strings.Join(names, ", "))
}

// compare compares the outputs with the reference, where that is asked for.
func (f *boardFacts) compare(ctx context.Context, r *boardRunFlags, g *ir.Graph, samples, outputs []ref.Sample) error {
	if r.compare == "" {
		return nil
	}
	program, err := ref.New(g)
	if err != nil {
		return err
	}
	want, err := program.Run(ctx, samples)
	if err != nil {
		return err
	}
	f.Compared, f.Mismatches, f.First, err = golden.Compare("board", driver.OutputNodes(g), want, outputs)
	return err
}

// printBoardRun prints how it went; a mismatch is a failure.
func (a *App) printBoardRun(f *boardFacts) error {
	i := f.Board
	rows := [][]string{{"board", fmt.Sprintf("%s, design %s at %s MHz", f.Port, f.ID,
		diag.Number(float64(i.KHz)/1000, 6))},
		{"samples", fmt.Sprintf("%d in %s s, %d sent again", f.Samples, diag.Number(f.Seconds, 3), f.Again)},
		{"line", fmt.Sprintf("%d damaged packets to the board, %d back; %d refused; %d late, %d faulty in the core",
			i.Broken, f.Damaged, i.Refused, i.Late, i.Faulty)}}
	if f.Compared > 0 {
		rows = append(rows, []string{"compared", fmt.Sprintf("%d codes with ref, %d mismatches", f.Compared, f.Mismatches)})
	}
	if i.Wrong {
		rows = append(rows, []string{"warning", "the design reports an error of its own: see error and memory_error in its " +
			"README"})
	}
	if err := a.table(rows); err != nil {
		return err
	}
	if err := a.writeJSON(f); err != nil || f.First == nil {
		return err
	}
	fmt.Fprintf(a.Err, "first mismatch: %s\n", f.First)
	return errNo
}
