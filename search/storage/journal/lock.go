// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"
)

// patience is how long a lock may be held by one that does nothing: then its owner is dead. longest is between two
// looks.
const patience, longest = 30 * time.Second, 100 * time.Millisecond

// lock keeps other writers out, Optuna's too: a link beside the file that one alone can make.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	link := path + ".lock"
	var held time.Time // when the lock that is in the way was made
	waited, pause := time.Duration(0), time.Millisecond
	for {
		err := os.Symlink(path, link)
		if err == nil {
			return func() { _ = os.Remove(link) }, nil // one that is gone was stolen
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if info, err := os.Lstat(link); err == nil {
			if made := info.ModTime(); !made.Equal(held) {
				held, waited = made, 0
			}
			if waited >= patience {
				_ = os.Remove(link) // another one may have been faster
				waited = 0
			}
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		case <-timer.C:
		}
		waited, pause = waited+pause, min(2*pause, longest)
	}
}
