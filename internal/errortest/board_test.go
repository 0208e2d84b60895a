// SPDX-License-Identifier: Apache-2.0

package errortest

import (
	"testing"
	"time"

	"lathe/internal/board"
	"lathe/internal/diag"
)

// silence is a port at which nothing answers.
type silence struct{}

func (silence) Read([]byte) (int, error)       { return 0, nil }
func (silence) Write(data []byte) (int, error) { return len(data), nil }

// boardFaults are those of a board at a port.
var boardFaults = map[diag.Code]func(t *testing.T) error{
	"L1205": func(t *testing.T) error {
		_, err := board.Open(t.Context(), silence{}, board.Options{Name: "port", Timeout: time.Millisecond, Now: time.Now})
		return err
	},
	"L1206": func(*testing.T) error { return new(board.Link).Is(1, 64, 10) },
	"L1207": func(t *testing.T) error {
		_, err := (&board.Link{Options: board.Options{Window: 1}}).Run(t.Context(), [][]byte{{1}}, nil)
		return err
	},
}
