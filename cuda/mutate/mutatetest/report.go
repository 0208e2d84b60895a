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
	// (mutate.Rules) or the names of single ones (Mutant.ID), the tests that may notice them.
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

// Run plants faults, tries them and prints a report. An error where a fault could not be tried, where fewer than the
// goal are caught, or where docs/mutation.md excuses a fault that is caught.
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
	results, err := s.try(ctx, dir, o.Workers, s.draw(files, rules, o.Sample, o.Seed), func(r result) {
		if _, ok := excused[r.key()]; o.Verbose || r.outcome == untried || r.outcome == survived && !ok {
			fmt.Fprintln(w, r)
		}
	})
	if err != nil {
		return err
	}
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

// report prints a table by file. An error where a fault was not tried, fewer than goal percent are caught, or an
// excused fault is caught after all.
func report(w io.Writer, results []result, excused map[string]string, goal float64) error {
	if len(results) == 0 {
		return errors.New("no fault was tried: no test runs a file that was asked for")
	}
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "file\tfaults\t")
	for _, k := range slices.Concat(counted, uncounted) {
		fmt.Fprintf(table, "%s\t", k)
	}
	fmt.Fprintln(table, "of these no fault\tcaught\t")
	var files []string
	for _, r := range results {
		if !slices.Contains(files, r.file) {
			files = append(files, r.file)
		}
	}
	for _, file := range files {
		count(results, excused, file).print(table, file)
	}
	all := count(results, excused, "")
	all.print(table, "all")
	if err := table.Flush(); err != nil {
		return err
	}
	var wrong, lost []string
	for _, r := range results {
		_, ok := excused[r.key()]
		if r.outcome == untried {
			lost = append(lost, r.String())
		} else if ok && r.outcome != survived {
			wrong = append(wrong, "excused, but caught: "+r.String())
		}
	}
	switch {
	case len(lost) > 0:
		return fmt.Errorf("%d faults could not be tried, the first:\n%s", len(lost), lost[0])
	case len(wrong) > 0:
		return fmt.Errorf("docs/mutation.md is out of date:\n%s", strings.Join(wrong, "\n"))
	case all.score() < goal:
		return fmt.Errorf("%.1f %% of the faults are caught, the goal is %.1f %%", all.score(), goal)
	}
	return nil
}

// counted are the outcomes that make the score, uncounted those that say nothing about the tests.
var (
	counted   = []outcome{values, race, order, address, stopped, endless, survived}
	uncounted = []outcome{refused, strange, untried}
)

// tally is what became of the faults of a file.
type tally struct {
	faults, harmless int
	of               map[outcome]int
}

// count counts the faults of a file, "" being all files.
func count(results []result, excused map[string]string, file string) tally {
	n := tally{of: map[outcome]int{}}
	for _, r := range results {
		if file != "" && r.file != file {
			continue
		}
		n.of[r.outcome]++
		if slices.Contains(counted, r.outcome) {
			n.faults++
		}
		if _, ok := excused[r.key()]; ok && r.outcome == survived {
			n.harmless++
		}
	}
	return n
}

// score is the share of faults that were caught, in percent of those that change something.
func (n tally) score() float64 {
	return 100 * float64(n.faults-n.of[survived]) / float64(max(n.faults-n.harmless, 1))
}

func (n tally) print(w io.Writer, file string) {
	fmt.Fprintf(w, "%s\t%d\t", file, n.faults)
	for _, k := range slices.Concat(counted, uncounted) {
		fmt.Fprintf(w, "%d\t", n.of[k])
	}
	fmt.Fprintf(w, "%d\t%.1f %%\t\n", n.harmless, n.score())
}
