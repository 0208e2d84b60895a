// SPDX-License-Identifier: Apache-2.0

package board

import (
	"context"
	"io"
	"time"

	"lathe/internal/diag"
)

// Port is a serial line. Read returns no bytes and no error where none come for a while, at most a tenth of a second.
type Port interface {
	io.ReadWriter
}

// Options of a link; the zero value of each field but Now is the usual one.
type Options struct {
	// Name is that of the port, for messages.
	Name string
	// Timeout is how long an answer may take, default a second; Tries how often a sample is sent, default 20.
	Timeout time.Duration
	Tries   int
	// Window is how many samples are on their way at once, default 2: the board has buffers for so many, and refuses
	// others.
	Window int
	// First is the number of the first packet: another one in each run, so that no answer of an earlier run fits.
	First uint32
	// Now is the clock.
	Now func() time.Time
}

// Link is a board that answers.
type Link struct {
	Options
	port   Port
	reader reader
	number uint32
	info   Info
	// Again counts samples that were sent again.
	Again int
}

// Open resets the core of the board and asks who is there. Errors: L1204 where the port fails, L1205 where nothing
// answers.
func Open(ctx context.Context, port Port, o Options) (*Link, error) {
	if o.Timeout == 0 {
		o.Timeout = time.Second
	}
	if o.Tries == 0 {
		o.Tries = 20
	}
	if o.Window == 0 {
		o.Window = 2
	}
	l := &Link{Options: o, port: port, number: o.First, reader: reader{most: 1 << 12}}
	if _, err := l.ask(ctx, askReset, tellReset); err != nil {
		return nil, err
	}
	if err := l.Ask(ctx); err != nil {
		return nil, err
	}
	l.reader.most = max(infoBytes, l.info.OutBytes) + headBytes + checkBytes
	return l, nil
}

// Info is what the board said of itself when it was last asked.
func (l *Link) Info() Info { return l.info }

// Damaged counts packets that came from the board and were not whole.
func (l *Link) Damaged() int { return l.reader.damaged }

// Ask asks the board what it is. Errors as Open.
func (l *Link) Ask(ctx context.Context) error {
	p, err := l.ask(ctx, askInfo, tellInfo)
	if err != nil {
		return err
	}
	info, ok := parseInfo(p.payload)
	if !ok {
		return diag.New(diag.BoardSilent, l.Name, "what answers speaks another version of the protocol").
			WithHint("build the bitstream again with this version: lathe board build")
	}
	l.info = info
	return nil
}

// Is demands that the board holds the design of an ID, with samples and results of so many bytes. Error L1206.
func (l *Link) Is(id uint64, in, out int) error {
	if i := l.info; i.ID != id || i.InBytes != in || i.OutBytes != out {
		return diag.New(diag.BoardDesign, l.Name, "the board holds another design, %016x of %d bytes a sample, not %016x "+
			"of %d", i.ID, i.InBytes, id, in).
			WithHint("load the bitstream of this model and plan, or pass the model and flags that emit-verilog was given")
	}
	return nil
}

// ask sends a packet without payload until its answer comes.
func (l *Link) ask(ctx context.Context, kind, answer byte) (packet, error) {
	const tries = 5
	for range tries {
		l.number++
		if err := l.send(packet{kind: kind, number: l.number}); err != nil {
			return packet{}, err
		}
		for end := l.Now().Add(l.Timeout); l.Now().Before(end); {
			list, err := l.receive(ctx)
			if err != nil {
				return packet{}, err
			}
			for _, p := range list {
				if p.kind == answer && p.number == l.number {
					return p, nil
				}
			}
		}
	}
	return packet{}, l.silent(tries)
}

// silent is the error of a board that does not answer.
func (l *Link) silent(tries int) error {
	waited := time.Duration(tries) * l.Timeout
	if l.reader.bytes == 0 {
		return diag.New(diag.BoardSilent, l.Name, "no board answers: not a byte came within %v", waited).
			WithHint("see that the bitstream is loaded and this is the port of the board, not of its programmer; a slow " +
				"simulation needs more --timeout")
	}
	return diag.New(diag.BoardSilent, l.Name, "no board answers: %d bytes came within %v, and no whole packet for us",
		l.reader.bytes, waited).
		WithHint("see that the bitstream is one of lathe board build, and that no other program reads the port")
}

func (l *Link) send(p packet) error {
	data := p.encode()
	n, err := l.port.Write(data)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return diag.New(diag.BoardPort, l.Name, "cannot write to the port: %v", err)
	}
	return nil
}

// receive reads what is there, or waits for a moment.
func (l *Link) receive(ctx context.Context) ([]packet, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var buffer [4096]byte
	n, err := l.port.Read(buffer[:])
	if err != nil {
		return nil, diag.New(diag.BoardPort, l.Name, "cannot read from the port: %v", err).
			WithHint("see that the board is still connected")
	}
	return l.reader.take(buffer[:n]), nil
}
