// SPDX-License-Identifier: Apache-2.0

// Command wheel packs a built lathe as a Python wheel: the program, the pure Python of scripts/wheel/lathe around it,
// and what pip wants to know. It prints the path of the wheel.
//
//	go run ./scripts/wheel [-o DIR] bin/lathe
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"lathe/internal/atomicfile"
)

func main() {
	out := flag.String("o", "build", "folder for the wheel")
	flag.Parse()
	if err := run(*out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "wheel:", err)
		os.Exit(1)
	}
}

func run(out string, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("the path of the built program is needed, and nothing else: make wheel gives it")
	}
	program, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	w, err := pack(os.DirFS("."), program)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	path := filepath.Join(out, w.name)
	err = atomicfile.Write(path, func(to io.Writer) error {
		_, err := to.Write(w.data)
		return err
	})
	if err == nil {
		fmt.Println(path)
	}
	return err
}
