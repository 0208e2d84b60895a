// SPDX-License-Identifier: Apache-2.0

package mutatetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
)

// Options say which faults are tried.
type Options struct {
	// Root is the folder of the repository; Families are folders below its cuda/, with commas.
	Root, Families string
	// Files, Rules and Tests are regular expressions: the files of the library to plant faults in, the kinds of faults
	// (mutate.Rules), the tests that may notice them.
	Files, Rules, Tests string
	// Sample is how many faults a file gets, drawn at random from Seed; 0 takes all.
	Sample int
	Seed   uint64
	// Workers is how many faults are tried at a time.
	Workers int
	// Verbose prints every fault, not only those that nobody notices.
	Verbose bool
	// Goal is the least share of faults to be caught, in percent.
	Goal float64
}

// Run plants faults, tries them and prints a report. An error where fewer than the goal are caught, or where
// docs/mutation.md excuses a fault that is caught.
func Run(ctx context.Context, o Options, w io.Writer) error {
	files, err := regexp.Compile(o.Files)
	if err != nil {
		return err
	}
	rules, err := regexp.Compile(o.Rules)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := build(ctx, dir, o)
	if err != nil {
		return err
	}
	excused, err := readExcuses(filepath.Join(o.Root, "docs", "mutation.md"))
	if err != nil {
		return err
	}
	results := s.try(ctx, dir, o.Workers, s.draw(files, rules, o.Sample, o.Seed), func(r result) {
		if _, ok := excused[r.key()]; o.Verbose || r.outcome == survived && !ok {
			fmt.Fprintln(w, r)
		}
	})
	return report(w, results, excused, o.Goal)
}

// readExcuses reads the faults that no test can notice: lines "- file: ID: reason" of the page, the ID in double
// backquotes.
func readExcuses(path string) (map[string]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := map[string]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if m := excuse.FindStringSubmatch(lines.Text()); m != nil {
			out[m[1]+" "+m[2]] = m[3]
		}
	}
	return out, lines.Err()
}

var excuse = regexp.MustCompile("^- (\\S+): ``(.*)``: (.*)$")

// key is how a fault is named in the page.
func (r result) key() string { return r.file + " " + r.mutant.ID() }

// report prints a table by file and the survivors without an excuse. An error where fewer than goal percent of the
// faults are caught, or an excused fault is caught after all.
func report(w io.Writer, results []result, excused map[string]string, goal float64) error {
	if len(results) == 0 {
		return errors.New("no fault was tried: no test runs a file that was asked for")
	}
	kinds := [...]outcome{values, race, order, address, stopped, survived}
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "file\tfaults\t")
	for _, k := range kinds {
		fmt.Fprintf(table, "%s\t", k)
	}
	fmt.Fprintln(table, "of these no fault\tcaught\t")
	var files []string
	for _, r := range results {
		if !slices.Contains(files, r.file) {
			files = append(files, r.file)
		}
	}
	var wrong []string
	caught, counted := 0, 0
	for _, file := range append(files, "all") {
		n, harmless, tally := 0, 0, map[outcome]int{}
		for _, r := range results {
			if r.file != file && file != "all" || r.outcome == refused {
				continue
			}
			n++
			tally[r.outcome]++
			_, ok := excused[r.key()]
			if ok && r.outcome == survived {
				harmless++
			}
			if ok && r.outcome != survived && file != "all" {
				wrong = append(wrong, "excused, but caught: "+r.String())
			}
		}
		fmt.Fprintf(table, "%s\t%d\t", file, n)
		for _, k := range kinds {
			fmt.Fprintf(table, "%d\t", tally[k])
		}
		caught, counted = n-tally[survived], n-harmless
		fmt.Fprintf(table, "%d\t%.1f %%\t\n", harmless, 100*float64(caught)/float64(max(counted, 1)))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if len(wrong) > 0 {
		return fmt.Errorf("docs/mutation.md is out of date:\n%s", strings.Join(wrong, "\n"))
	}
	if score := 100 * float64(caught) / float64(max(counted, 1)); score < goal {
		return fmt.Errorf("%.1f %% of the faults are caught, the goal is %.1f %%", score, goal)
	}
	return nil
}
