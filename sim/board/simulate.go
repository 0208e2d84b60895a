// SPDX-License-Identifier: Apache-2.0

package board

import (
	"context"
	_ "embed" // the harness
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"github.com/creack/pty"

	"lathe/emit/shell"
	"lathe/internal/diag"
	"lathe/ir/target"
	"lathe/sim"
)

//go:embed harness/serial.cc
var harness []byte

// Simulated is a board in a simulator: the whole shell behind the pins, cycle by cycle, at the bit rate of the board.
type Simulated struct {
	// Path is the terminal that stands for the port of the board.
	Path     string
	process  *exec.Cmd
	in       io.WriteCloser
	out      io.Reader
	terminal [2]*os.File // ours, and that which users open
	mutex    sync.Mutex
	ended    chan error
}

// Simulate builds a board with a design and starts it, at a clock in MHz, 0 being the usual one; cache is the folder of
// compiled simulations. Errors: those of shell.Nearest and sim.Program, and L1204 where the system gives no
// pseudo-terminal.
func Simulate(ctx context.Context, core *shell.Core, b *target.Board, mhz float64, cache string, seed int, f Faults) (
	*Simulated, error) {
	setting, err := shell.Nearest(b, mhz)
	if err != nil {
		return nil, err
	}
	files, top, err := shell.Serial(core, shell.Options{Board: b, Setting: setting, Version: core.Version})
	if err != nil {
		return nil, err
	}
	files = append(core.Files[:len(core.Files):len(core.Files)], files...)
	program, err := sim.Program(ctx, cache, top, files, "Vserial", harness)
	if err != nil {
		return nil, err
	}
	s := &Simulated{ended: make(chan error, 1)}
	s.process = exec.CommandContext(ctx, program, strconv.FormatFloat(setting.MHz*1e6/float64(b.Baud), 'f', -1, 64),
		fmt.Sprint(seed))
	s.process.Dir = filepath.Dir(filepath.Dir(program)) // the images
	s.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if s.in, err = s.process.StdinPipe(); err == nil {
		s.out, err = s.process.StdoutPipe()
	}
	if err == nil {
		err = s.process.Start()
	}
	if err != nil {
		return nil, diag.New(diag.SimulationEnded, "", "the simulation does not start: %v", err)
	}
	if s.terminal[0], s.terminal[1], err = pty.Open(); err != nil {
		s.Close()
		return nil, diag.New(diag.BoardPort, "", "the system gives no pseudo-terminal: %v", err)
	}
	s.Path = s.terminal[1].Name()
	go s.forward(f)
	go s.backward(f)
	return s, nil
}

// forward brings bytes to the board.
func (s *Simulated) forward(f Faults) {
	var buffer [4096]byte
	for {
		n, err := s.terminal[0].Read(buffer[:])
		if err != nil {
			return
		}
		var records []byte
		for _, b := range buffer[:n] {
			records = append(records, f.records(b)...)
		}
		if _, err := s.in.Write(records); err != nil {
			return
		}
	}
}

// backward brings bytes from the board.
func (s *Simulated) backward(f Faults) {
	var buffer [4096]byte
	for {
		n, err := s.out.Read(buffer[:])
		all := buffer[:n]
		if f.From != nil {
			all = nil
			for _, b := range buffer[:n] {
				all = append(all, f.From(b)...)
			}
		}
		if n > 0 {
			if _, err := s.terminal[0].Write(all); err != nil {
				return
			}
		}
		if err != nil {
			s.ended <- s.process.Wait()
			return
		}
	}
}

// Wait waits until the simulation ends by itself, which is an error of the design: L0705.
func (s *Simulated) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-s.ended:
		return diag.New(diag.DesignStopped, "", "the simulation of the board has stopped: %v", err)
	}
}

// Close ends the simulation.
func (s *Simulated) Close() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	err := s.in.Close()
	for _, f := range s.terminal {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}
