// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lathe/internal/diag"
	"lathe/search"
	"lathe/search/sampler"
	"lathe/search/storage/journal"
	"lathe/search/storage/rdb"
)

// keptFlags name a study that somebody has made.
type keptFlags struct{ storage, study string }

func (f *keptFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.storage, "storage", "search.log", "where studies are kept, which Optuna reads too: a "+
		"journal file, sqlite:///FILE or postgresql://USER@HOST/NAME")
	c.Flags().StringVar(&f.study, "study", "", "name of the study; without it: the only one")
}

// writer names this program in the records of a journal.
const writer = "lathe"

// sqliteScheme begins the names of SQLite files, as in Optuna.
const sqliteScheme = "sqlite:///"

// server says that the storage is PostgreSQL. Optuna names a Python driver, too: postgresql+psycopg2://.
func (f *keptFlags) server() bool {
	scheme, _, _ := strings.Cut(f.storage, "://")
	kind, _, _ := strings.Cut(scheme, "+")
	return kind == "postgresql" || kind == "postgres"
}

// shown is the storage as messages may show it, without a password.
func (f *keptFlags) shown() string {
	if f.server() {
		return rdb.Shown(f.storage)
	}
	return f.storage
}

// known refuses storages of a kind that there is not.
func (f *keptFlags) known() error {
	scheme, _, is := strings.Cut(f.storage, "://")
	if path, ok := strings.CutPrefix(f.storage, sqliteScheme); !is || ok && path != "" || f.server() {
		return nil
	}
	if scheme == "grpc" {
		return diag.New(diag.StudyStorage, f.storage, "storage proxies (gRPC) are not reached in this version").
			WithHint("name the database behind the proxy: --storage postgresql://USER@HOST/NAME")
	}
	return diag.New(diag.StudyStorage, f.storage, "storages of the kind %q are not known", scheme).
		WithHint("name a journal, --storage run.log, an SQLite file, --storage sqlite:///run.db, or a database, " +
			"--storage postgresql://USER@HOST/NAME")
}

// open opens the storage; create makes it where it is not there.
func (f *keptFlags) open(ctx context.Context, create bool) (search.Storage, error) {
	if err := f.known(); err != nil {
		return nil, err
	}
	if f.server() {
		_, rest, _ := strings.Cut(f.storage, "://")
		s, err := rdb.Connect(ctx, "postgresql://"+rest)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	path, database := strings.CutPrefix(f.storage, sqliteScheme)
	if _, err := os.Stat(path); err != nil && !create {
		return nil, diag.New(diag.StudyStorage, f.storage, "there is no storage: %v", reason(err)).
			WithHint("lathe search run makes one")
	}
	if database {
		s, err := rdb.Open(ctx, path, create)
		if err != nil {
			return nil, err // and no nil of another type
		}
		return s, nil
	}
	s, err := journal.Open(path, writer, create)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// find is the study; end closes its storage.
func (f *keptFlags) find(ctx context.Context) (s *search.Study, end func(), err error) {
	storage, err := f.open(ctx, false)
	if err != nil {
		return nil, nil, err
	}
	info, err := search.Find(ctx, storage, f.shown(), f.study)
	if err != nil {
		return nil, nil, err
	}
	return &search.Study{Info: info, Storage: storage, Now: time.Now}, func() { _ = storage.Close() }, nil
}

// prepare gives a study that is kept what its attributes say: space, sampler and seed.
func prepare(s *search.Study, where string) error {
	var name string
	for key, to := range map[string]any{search.SpaceKey: &s.Space, search.SamplerKey: &name, search.SeedKey: &s.Seed} {
		raw, ok := s.Info.User[key]
		if !ok || json.Unmarshal(raw, to) != nil {
			return diag.New(diag.StudyOther, where, "study %q has no %s: another program has made it", s.Info.Name, key).
				WithHint("lathe search status, best and front show it")
		}
	}
	var err error
	if s.Sampler, err = sampler.New(name, search.Mix(s.Seed, -1), s.Space); err == nil && s.Sampler == nil {
		err = diag.New(diag.StudyOther, where, "study %q is drawn by %q, which is not known", s.Info.Name, name)
	}
	return err
}

func (a *App) search() *cobra.Command {
	c := &cobra.Command{Use: "search", Short: "search formats by studies that Optuna reads too",
		Long: "Runs studies: a sampler proposes formats and widths for the layers of a model, each proposal is\n" +
			"quantized, its hardware predicted, and its accuracy measured. Studies are kept in Optuna's own form.",
		Example: "  lathe search run model.onnx --space s.toml --data x.npz --labels y.npy --trials 100"}
	c.AddCommand(a.searchRun(), a.searchCreate(), a.searchStatus(), a.searchBest(), a.searchFront(), a.searchAsk(),
		a.searchTell(), a.searchWorker(), a.searchPlot(), a.searchHTML(), a.searchPreset(), a.searchCopy(), a.searchDiff(),
		a.searchRepair(), a.searchReplay())
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(c, args[0])
		}
		return c.Help()
	}
	return c
}

// verb is a command below search; its words are those of its usage line.
func (a *App) verb(words, short string, run func(c *cobra.Command, args []string) error, args ...string,
) *cobra.Command {
	c := &cobra.Command{Short: short, Args: exactly(args...), RunE: run}
	c.Use = words
	return a.withJSON(c)
}

// askedTrial is a trial as ask prints it.
type askedTrial struct {
	Trial int `json:"trial"`
	// Epoch is for tell, and Lease how long the trial belongs to who has asked; 0: for ever.
	Epoch  int                        `json:"epoch,omitempty"`
	Lease  float64                    `json:"lease_s,omitempty"`
	Params map[string]json.RawMessage `json:"params"`
}

// values are those of parameters, by name.
func values(params []search.Param) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for _, p := range params {
		out[p.Name] = json.RawMessage(p.Dist.JSON(p.Value))
	}
	return out
}

// mostLease bounds the seconds of a lease: some three years.
const mostLease = 1e8

func (a *App) searchAsk() *cobra.Command {
	var f keptFlags
	var lease float64
	c := a.verb("ask", "begin a trial, and print its parameters as JSON", func(c *cobra.Command, _ []string) error {
		s, end, err := f.find(c.Context())
		if err != nil {
			return err
		}
		defer end()
		if err := prepare(s, f.shown()); err != nil {
			return err
		}
		if !(lease >= 0 && lease <= mostLease) {
			return usagef("--lease %g: 0 for none, or up to %g seconds", lease, mostLease)
		}
		s.Lease, s.Worker = time.Duration(lease*float64(time.Second)), "lathe search ask"
		t, err := s.Ask(c.Context())
		if err != nil {
			return diag.At(err, diag.StudyStorage, f.shown())
		}
		facts := askedTrial{t.Number, s.Epoch(t.Number), lease, values(t.Params)}
		fmt.Fprintf(a.Out, "%s\n", search.Encode(facts))
		return a.writeJSON(facts)
	})
	f.add(c)
	c.Flags().Float64Var(&lease, "lease", 0, "seconds after which another worker may take the trial over; 0: none may")
	c.Long = "Begins a trial of a study that lathe search create or run has made; prints its number and parameters.\n" +
		"Measure it as you like, and tell its values by lathe search tell."
	c.Example = "  lathe search ask --storage run.log"
	return c
}

func (a *App) searchTell() *cobra.Command {
	var f keptFlags
	var trial, epoch int
	var values []float64
	var limits []string
	var fail, prune bool
	c := a.verb("tell", "end a trial that ask has begun", func(c *cobra.Command, _ []string) error {
		state := search.Complete
		switch {
		case !c.Flags().Changed("trial"):
			return usagef("lathe search tell needs --trial")
		case fail && prune || (fail || prune) == (len(values) > 0):
			return usagef("tell --values of a trial, or --prune or --fail without")
		case fail:
			state = search.Fail
		case prune:
			state = search.Pruned
		}
		attrs, err := constraints(limits)
		if err != nil {
			return err
		}
		s, end, err := f.find(c.Context())
		if err != nil {
			return err
		}
		defer end()
		if epoch > 0 {
			err = s.Hold(c.Context(), trial, epoch)
		}
		if err == nil {
			err = s.Tell(c.Context(), trial, state, values, attrs...)
		}
		if err != nil {
			return diag.At(err, diag.StudyStorage, f.shown())
		}
		fmt.Fprintf(a.Out, "trial %d: %s\n", trial, state)
		return a.writeJSON(map[string]any{"trial": trial, "state": state.String()})
	})
	f.add(c)
	c.Flags().IntVar(&trial, "trial", 0, "number of the trial")
	c.Flags().IntVar(&epoch, "epoch", 0, "the epoch that ask --lease has printed: a trial that another worker has taken "+
		"over stays as it is")
	c.Flags().Float64SliceVar(&values, "values", nil, "a value for each objective: 0.71,1840")
	c.Flags().StringArrayVar(&limits, "constraint", nil, "by how much a limit is broken, more than 0: lut=0.2; 0 or less "+
		"where it holds")
	c.Flags().BoolVar(&fail, "fail", false, "it failed: samplers pass it over")
	c.Flags().BoolVar(&prune, "prune", false, "it was ended before it had values")
	c.Example = "  lathe search tell --trial 3 --values 0.71,1840 --storage run.log"
	return c
}

// constraints reads limits such as lut=-0.2; the names are for people.
func constraints(limits []string) ([]search.Attr, error) {
	if len(limits) == 0 {
		return nil, nil
	}
	var list []float64
	var names []string
	for _, text := range limits {
		name, number, ok := strings.Cut(text, "=")
		var v float64
		if _, err := fmt.Sscan(number, &v); err != nil || !ok {
			return nil, usagef("--constraint %s: write a name and a number, lut=0.2", text)
		}
		list, names = append(list, v), append(names, name)
	}
	return []search.Attr{search.ConstraintAttr(list), {Key: "lathe:constraint_names", Value: search.Encode(names)}}, nil
}

func (a *App) searchRepair() *cobra.Command {
	return a.verb("repair JOURNAL", "cut off what a killed writer has left in a journal",
		func(c *cobra.Command, args []string) error {
			notes, err := journal.Repair(c.Context(), args[0])
			if err != nil {
				return err
			}
			for _, n := range notes {
				fmt.Fprintf(a.Out, "%s\n", n)
			}
			if len(notes) == 0 {
				fmt.Fprintln(a.Out, "nothing to repair")
			}
			return a.writeJSON(map[string]any{"repaired": notes})
		}, "JOURNAL")
}
