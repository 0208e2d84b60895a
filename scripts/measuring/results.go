// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"sync"
	"time"

	"lathe/golden/pjrt"
	"lathe/internal/driver"
	"lathe/internal/driver/proof"
	"lathe/internal/evidence"
)

// The places of what results reads and writes, in the root of the project.
const (
	evidenceDir = "docs/evidence"
	resultsPage = "docs/results.md"
	timingPage  = "docs/timing.md"
)

// results proves circuits and prints the page.
func results(ctx context.Context, f *flags, _ []string, say func(string)) error {
	e, err := evidence.Read(evidenceDir)
	if err != nil {
		return err
	}
	p := &proof.Prover{Examples: "examples", Commit: f.commit}
	if f.prove != "" {
		if p.Engines, err = engines(f); err != nil {
			return err
		}
		if p.Version, err = proof.Version(ctx, ".", f.plugin); err != nil {
			return err
		}
	}
	var lock sync.Mutex
	say = func(say func(string)) func(string) {
		return func(text string) {
			lock.Lock()
			defer lock.Unlock()
			say(text)
		}
	}(say)
	return p.Results(ctx, e, proof.Wanted(f.prove), f.most, func() error { return save(e) }, say)
}

// engines are those of this machine.
func engines(f *flags) (driver.Engines, error) {
	self, err := os.Executable()
	if err != nil {
		return driver.Engines{}, err
	}
	return driver.Engines{Cache: f.cache, Now: time.Now,
		PJRT: pjrt.Config{Command: []string{self, worker}, Plugin: f.plugin, Timeout: 5 * time.Minute}}, nil
}

// reprint prints the pages of what is known.
func reprint(context.Context, *flags, []string, func(string)) error {
	e, err := evidence.Read(evidenceDir)
	if err != nil {
		return err
	}
	models, err := timedModels()
	if err != nil {
		return err
	}
	if err := saveAreas(e); err != nil {
		return err
	}
	if err := saveNodes(e); err != nil {
		return err
	}
	if err := saveFormats(e); err != nil {
		return err
	}
	if err := saveWidths(e); err != nil {
		return err
	}
	return saveClocks(e, models)
}

// equal records an edge; the circuits that stand by it are found by results.
func equal(_ context.Context, _ *flags, args []string, _ func(string)) error {
	e, err := evidence.Read(evidenceDir)
	if err != nil {
		return err
	}
	if err := proof.Equal(e, args[0], args[1]); err != nil {
		return err
	}
	return e.Write(evidenceDir)
}

// save writes the evidence and prints the page.
func save(e *evidence.Evidence) error {
	if err := e.Write(evidenceDir); err != nil {
		return err
	}
	return write(resultsPage, e.Page())
}
