// SPDX-License-Identifier: Apache-2.0

// Command demotable prints the table that ends the demo, from what `lathe verify` and `lathe area` wrote with --json.
// Its exit status is 1 when nothing was compared or a code differed.
//
//	demotable NAME FOLDER MILLISECONDS    FOLDER/verify.json, FOLDER/area.json; how long the count took
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"lathe/sim/area"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("demotable NAME FOLDER MILLISECONDS")
	}
	ms, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	var v verified
	var r area.Report
	if err := read(filepath.Join(args[1], "verify.json"), &v); err != nil {
		return err
	}
	if err := read(filepath.Join(args[1], "area.json"), &r); err != nil {
		return err
	}
	if v.Seconds == nil {
		v.Seconds = map[string]float64{}
	}
	v.Seconds["area"] = float64(ms) / 1000
	if err := table(os.Stdout, args[0], filepath.Join(args[1], "verilog"), &v, &r); err != nil {
		return err
	}
	return v.good()
}

func read(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
