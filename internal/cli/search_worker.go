// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lathe/internal/diag"
)

// runKey is the attribute of a study that has how it was made, see remembered.
const runKey = "lathe:run"

// remembered is how a study was made: another worker measures the same, or nothing.
type remembered struct {
	Model string   `json:"model"`
	Flags []string `json:"flags"`
	// Files are the SHA-256 of the model and of the files that flags name.
	Files map[string]string `json:"files"`
}

// ownFlags are those that each worker has by itself.
var ownFlags = []string{"storage", "study", "jobs", "trials", "warm", "measure", "output", "json"}

// remember is the command line of a study.
func remember(c *cobra.Command, model string) (*remembered, error) {
	r := &remembered{Model: model, Files: map[string]string{}}
	add := func(path string) (err error) {
		if info, stat := os.Stat(path); stat == nil && info.Mode().IsRegular() {
			r.Files[path], err = digestOf(path)
		}
		return err
	}
	err := add(model)
	for _, flag := range flagsOf(c) {
		r.Flags = append(r.Flags, flag)
		if _, v, _ := strings.Cut(flag, "="); err == nil {
			err = add(v)
		}
	}
	return r, err
}

// flagsOf are the flags of a command line that others repeat, without ownFlags and others.
func flagsOf(c *cobra.Command, without ...string) (out []string) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(ownFlags, f.Name) || slices.Contains(without, f.Name) {
			return
		}
		list := []string{f.Value.String()}
		if s, ok := f.Value.(pflag.SliceValue); ok {
			list = s.GetSlice()
		}
		for _, v := range list {
			out = append(out, "--"+f.Name+"="+v)
		}
	})
	return out
}

func digestOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// check refuses files that are not those of the study. Error L1107.
func (r *remembered) check(where, study string) error {
	for _, path := range slices.Sorted(maps.Keys(r.Files)) {
		got, err := digestOf(path)
		switch {
		case err != nil:
			return diag.New(diag.StudyOther, where, "study %q was made with %s, which is not here: %v", study, path,
				reason(err)).
				WithHint("start the worker in the folder where the study was made, or in a copy of it")
		case got != r.Files[path]:
			return diag.New(diag.StudyOther, where, "study %q was made with another %s", study, path).
				WithHint("copy the file that the study was made with")
		}
	}
	return nil
}

// workerFlags are those of lathe search worker.
type workerFlags struct {
	keptFlags
	jobs, trials, workers int
	slurm, kubernetes     bool
	image                 string
}

func (a *App) searchWorker() *cobra.Command {
	var f workerFlags
	c := a.verb("worker --storage URL", "run trials of a study that lathe search create or run has made",
		func(c *cobra.Command, _ []string) error {
			if f.jobs < 1 || f.workers < 1 {
				return usagef("--jobs and --workers: at least 1")
			}
			if f.slurm && f.kubernetes || f.kubernetes != (f.image != "") {
				return usagef("--slurm, or --kubernetes with --image")
			}
			r, study, err := f.remembered(c.Context())
			switch {
			case err != nil:
				return err
			case f.slurm:
				return a.printJob("slurm", slurmText, &f, study)
			case f.kubernetes:
				return a.printJob("kubernetes", kubernetesText, &f, study)
			}
			if err := r.check(f.shown(), study); err != nil {
				return err
			}
			return a.work(c, &f, r, study)
		})
	f.add(c)
	c.Flags().IntVar(&f.jobs, "jobs", 1, "trials at a time")
	c.Flags().IntVar(&f.trials, "trials", 0, "end when so many trials of the study are finished; default: those of the "+
		"space, or 100")
	c.Flags().BoolVar(&f.slurm, "slurm", false, "print a job for sbatch that starts --workers of them")
	c.Flags().BoolVar(&f.kubernetes, "kubernetes", false, "print a Job for kubectl apply that starts --workers of them")
	c.Flags().StringVar(&f.image, "image", "", "with --kubernetes: a container image that has lathe, and in its working "+
		"folder the files")
	c.Flags().IntVar(&f.workers, "workers", 4, "with --slurm or --kubernetes: how many")
	c.Long = "Runs trials of a study, with model, samples and space of the command that made it: start workers in the\n" +
		"folder where the study was made, or in copies of it, as many as there are machines. Each trial belongs to one\n" +
		"worker by a lease; a trial whose worker is lost is taken over after a minute, and after three of them it fails."
	c.Example = "  lathe search worker --storage postgresql://me@db/studies --study jets --jobs 4"
	return c
}

// remembered is how the study was made. Error L1107 where it does not say.
func (f *workerFlags) remembered(ctx context.Context) (*remembered, string, error) {
	s, end, err := f.find(ctx)
	if err != nil {
		return nil, "", err
	}
	defer end()
	r := &remembered{}
	if raw, ok := s.Info.User[runKey]; !ok || json.Unmarshal(raw, r) != nil || r.Model == "" {
		return nil, "", diag.New(diag.StudyOther, f.shown(), "study %q does not say how it was made", s.Info.Name).
			WithHint("lathe search create makes one that does")
	}
	return r, s.Info.Name, nil
}

// work is lathe search run as it was, with the flags of this worker.
func (a *App) work(c *cobra.Command, f *workerFlags, r *remembered, study string) error {
	more := []string{"--warm=0", "--jobs=" + strconv.Itoa(f.jobs)}
	if f.trials != 0 {
		more = append(more, "--trials="+strconv.Itoa(f.trials))
	}
	return a.again(c.Context(), f, r, study, more...)
}

// again is lathe search run as it was, with more flags.
func (a *App) again(ctx context.Context, f *workerFlags, r *remembered, study string, more ...string) error {
	run := a.searchRun()
	args := append(append(slices.Clone(r.Flags), "--storage="+f.storage, "--study="+study), more...)
	if err := run.ParseFlags(args); err != nil {
		return diag.New(diag.StudyOther, f.shown(), "study %q was made by another version: %v", study, err).
			WithHint("make the study anew, or take the version that made it")
	}
	run.SetContext(ctx)
	return run.RunE(run, []string{r.Model})
}

var (
	//go:embed worker_slurm.tmpl
	slurmText string
	//go:embed worker_kubernetes.tmpl
	kubernetesText string
)

// printJob prints a job file that starts workers.
func (a *App) printJob(name, text string, f *workerFlags, study string) error {
	if !f.server() {
		fmt.Fprintf(a.Err, "note: %s must be on a file system that all machines share\n", f.storage)
	}
	trials := ""
	if f.trials > 0 {
		trials = strconv.Itoa(f.trials)
	}
	funcs := template.FuncMap{"shell": diag.ShellWord, "json": strconv.Quote, "label": label}
	storage, secret := diag.ShellWord(f.storage), ""
	if u, err := url.Parse(f.storage); err == nil && f.server() {
		if _, has := u.User.Password(); has { // a script is no place for it
			storage, secret = `"$LATHE_STORAGE"`, f.shown()
		}
	}
	t := template.Must(template.New(name).Funcs(funcs).Parse(text))
	return t.Execute(a.Out, map[string]any{"Storage": storage, "Secret": secret,
		"Study": strings.Join(strings.Fields(study), " "), "Jobs": f.jobs, "Workers": f.workers,
		"Trials": trials, "Image": f.image})
}

// label is a text as a name of Kubernetes: lower-case letters, digits and hyphens.
func label(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else {
			b.WriteByte('-')
		}
	}
	text := strings.Trim(b.String(), "-")
	return cmp.Or(strings.Trim(text[:min(len(text), 50)], "-"), "study")
}
