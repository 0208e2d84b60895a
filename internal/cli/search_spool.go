// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"lathe/internal/diag"
	"lathe/search"
)

// spoolFile is where outcomes are kept that a database which is gone cannot take, in the folder of the worker.
const spoolFile = "lathe-spool.jsonl"

// spool keeps an outcome until the database is back.
func spool(o *search.Spooled) error {
	f, err := os.OpenFile(spoolFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = f.Write(append(search.Encode(o), '\n'))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return diag.New(diag.FileWrite, spoolFile, "cannot write: %v", reason(err))
	}
	return nil
}

// unspool tells the outcomes of the study that are kept, and leaves those of other studies.
func (a *App) unspool(ctx context.Context, s *search.Study) error {
	data, err := os.ReadFile(spoolFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return diag.New(diag.StudyStorage, spoolFile, "cannot be read: %v", reason(err))
	}
	var rest []byte
	told, dropped := 0, 0
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		var o search.Spooled
		switch err := json.Unmarshal(lines.Bytes(), &o); {
		case err != nil: // the writer was killed within it
			continue
		case o.Study != s.Info.Name:
			rest = append(append(rest, lines.Bytes()...), '\n')
			continue
		}
		late, err := s.TellSpooled(ctx, &o)
		if err != nil {
			return err
		}
		if told++; late {
			told, dropped = told-1, dropped+1
		}
	}
	if told+dropped > 0 {
		fmt.Fprintf(a.Out, "%s: %s told, %d given to other workers meanwhile\n", spoolFile, diag.Amount(told, "result"),
			dropped)
	}
	if len(rest) > 0 {
		return writeFile(spoolFile, rest)
	}
	return os.Remove(spoolFile)
}
