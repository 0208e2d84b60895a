// SPDX-License-Identifier: Apache-2.0

// Command measuring writes pages of docs/ that are measured. scripts/measure calls it in the root of the project, with
// -commit, -cache and -plugin:
//
//	measuring results [-prove cover|stale|all] [-most N]
//	measuring print
//	measuring equal MODULE COMMAND
//	measuring timing [-run REGEXP]
//	measuring timing-modules [-run REGEXP]
//	measuring area [-run REGEXP]
//	measuring area-ecp5 [-run REGEXP]
//	measuring area-few-bits [-run REGEXP]
//	measuring onnx [-run REGEXP]
//	measuring formats-exact [-run REGEXP]
//	measuring widths [-run REGEXP]
//
// results compiles the examples, compares their circuits with the lines of docs/evidence, proves those that -prove
// names, and prints docs/results.md. equal records that COMMAND has proven a module to be what it was at the last
// sweep. timing places and routes the examples, keeps their clocks in docs/evidence, and prints docs/timing.md;
// timing-modules does so with modules alone, whose clocks docs/timing-modules.md keeps; what -run does not match stays.
// area, area-few-bits and area-ecp5 have Yosys count designs and units, keep the counts in docs/evidence, and print
// docs/area.md and docs/area-ecp5.md. onnx runs the node tests of operations, keeps what they say, and prints
// docs/onnx.md; formats-exact does so with two examples in every number format and docs/formats-exact.md. widths trains
// widths of weights beside HGQ2, has Yosys count what comes out, and prints docs/training-widths.md. print only prints
// all pages but those of modules.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"

	"lathe/golden/pjrt"
)

// worker is the argument that makes this program the process that loads the PJRT plugin.
const worker = "pjrt-worker"

func main() {
	if len(os.Args) == 3 && os.Args[1] == worker {
		if err := pjrt.Worker(os.Stdin, os.Stdout, os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stderr))
}

// flags of all pages.
type flags struct {
	commit, cache, plugin string
	prove                 string
	most                  int
	run                   *regexp.Regexp // names of rows to measure
}

// tools is the folder of place and route, where scripts/setup --route puts nextpnr.
func (f *flags) tools() string { return filepath.Join(f.cache, "route") }

// page is a page, or another command, and what writes it.
type page struct {
	name, args string
	do         func(ctx context.Context, f *flags, args []string, say func(string)) error
}

var pages = []page{{"results", "", results}, {"print", "", reprint}, {"equal", "MODULE COMMAND", equal},
	{"timing", "", timing}, {"timing-modules", "", modules}, {"area", "", areas(areaDesigns)},
	{"area-ecp5", "", areas(ecp5Designs)}, {"area-few-bits", "", sums}, {"onnx", "", nodes},
	{"formats-exact", "", formats}, {"widths", "", widths}}

// run returns the exit status: 0 done, 1 something is wrong, 2 wrong usage.
func run(ctx context.Context, args []string, stderr io.Writer) int {
	f := flags{run: regexp.MustCompile("")}
	set := flag.NewFlagSet("measure", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.StringVar(&f.commit, "commit", "unknown", "state of the sources, for the lines of evidence")
	set.StringVar(&f.cache, "cache", "", "folder of compiled simulations and outcomes")
	set.StringVar(&f.plugin, "plugin", "", "the PJRT plugin")
	set.StringVar(&f.prove, "prove", "", "circuits of results to prove: cover (of what changed), stale, all (a sweep)")
	set.IntVar(&f.most, "most", 20, "circuits of a covering set; 0: as many as it takes")
	set.Func("run", "`regexp` of the rows of a page to measure; the others stay", func(text string) (err error) {
		f.run, err = regexp.Compile(text)
		return err
	})
	usage := func() int {
		for _, p := range pages {
			fmt.Fprintln(stderr, "usage: scripts/measure", strings.TrimSpace(p.name+" [FLAGS] "+p.args))
		}
		set.PrintDefaults()
		return 2
	}
	for _, p := range pages {
		if len(args) == 0 || args[0] != p.name {
			continue
		}
		if set.Parse(args[1:]) != nil || set.NArg() != len(strings.Fields(p.args)) {
			return usage()
		}
		var err error
		if f.cache, err = filepath.Abs(f.cache); err == nil {
			err = p.do(ctx, &f, set.Args(), func(text string) { fmt.Fprintln(stderr, text) })
		}
		if err != nil {
			fmt.Fprintln(stderr, "measure:", err)
			return 1
		}
		return 0
	}
	return usage()
}
