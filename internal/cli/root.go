// SPDX-License-Identifier: Apache-2.0

// Package cli is the command line: it alone reads flags, the environment and clocks. Each command is one file and does
// no more than read its flags, call the stage that does the work, and print.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lathe/internal/diag"
	"lathe/sim/nvrtc"
)

// Version names the compiler in emitted files; it depends on nothing but the source.
const Version = "0.1.0"

// Exit statuses: done; the check failed or the input is unusable; the command was used wrongly. Signals have their own.
const (
	exitOK    = 0
	exitNo    = 1
	exitUsage = 2
)

// errNo ends a command whose check failed and which has already said so.
var errNo = errors.New("no")

// App is one run of a command.
type App struct {
	Env Env
	Out io.Writer
	Err io.Writer
	// In answers what a command asks.
	In io.Reader
	// json is the file of --json, empty for none.
	json string
	// facts is standard output, where --json - leaves it to the facts.
	facts io.Writer
}

// Main runs the program called name ("lathe", "emit-verilog", "emit-cuda") and returns its exit status.
func Main(name string, args []string) int {
	if len(args) == 2 && args[0] == compilerName {
		if err := nvrtc.Worker(os.Stdin, os.Stdout, args[1]); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			return exitNo
		}
		return exitOK
	}
	a := &App{Env: hostEnv(), Out: os.Stdout, Err: os.Stderr, In: os.Stdin}
	return a.run(interruptible(name), name, args)
}

func (a *App) run(ctx context.Context, name string, args []string) int {
	root := a.command(name)
	root.SetArgs(args)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	err := root.ExecuteContext(ctx)
	if err != nil { // cobra tells by text only
		given := ""
		if n, _ := fmt.Sscanf(err.Error(), "unknown command %q", &given); n == 1 {
			err = unknownCommand(root, given)
		}
	}
	var usage *usageError
	if err == nil {
		return exitOK
	}
	if status, ok := interruption(ctx); ok { // whatever the work says of it
		fmt.Fprintf(a.Err, "%s: interrupted\n", name)
		return status
	}
	if errors.Is(err, errNo) {
		return exitNo
	}
	var several diag.List
	if errors.As(err, &several) {
		for _, one := range several {
			fmt.Fprintf(a.Err, "%s: %v\n", name, one)
		}
	} else {
		fmt.Fprintf(a.Err, "%s: %v\n", name, err)
	}
	if errors.As(err, &usage) || diag.CodeOf(err) == diag.Usage {
		return exitUsage
	}
	return exitNo
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// unknownCommand suggests the nearest command.
func unknownCommand(root *cobra.Command, given string) error {
	var names []string
	for _, c := range root.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	err := diag.New(diag.Usage, "", "unknown command %q", given)
	if near := diag.Nearest(given, names); near != "" {
		return &usageError{err.WithHint("did you mean %s?", near)}
	}
	return &usageError{err.WithHint("%s help lists the commands", root.Name())}
}

// usageError is wrong usage: an unknown flag, a missing argument.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

func usagef(msg string, args ...any) error {
	return &usageError{diag.New(diag.Usage, "", msg, args...)}
}

// command builds the command tree; emit-verilog and emit-cuda are sub-commands under their own names.
func (a *App) command(name string) *cobra.Command {
	var root *cobra.Command
	switch name {
	case "emit-verilog":
		root = a.emitVerilog()
	case "emit-cuda":
		root = a.emitCUDA()
	default:
		root = &cobra.Command{Use: "lathe",
			Short: "compiles trained neural networks to Verilog, bit-exact, and to CUDA kernels",
			Long: "lathe compiles trained neural networks to Verilog and to CUDA kernels, and shows by simulation\n" +
				"that the hardware computes exactly what the quantized model says.",
			Example: "  lathe verify model.onnx --calibrate x.npz"}
		root.AddCommand(a.inspect(), a.diff(), a.runModel(), a.quantize(), a.plan(), a.emitVerilog(), a.emitCUDA(),
			a.benchCUDA(), a.replay(), a.verify(), a.area(), a.route(), a.report(), a.profile(), a.sensitivity(), a.sweep(),
			a.auto(), a.search(), a.train(), a.board(), a.convert(), a.dot(), a.list(), a.doctor(), a.format(), a.worker())
		root.RunE = func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(c, args[0])
			}
			return c.Help()
		}
		root.SetHelpCommand(help(root))
		root.CompletionOptions.HiddenDefaultCmd = true
	}
	root.SetUsageFunc(explainFlags)
	root.Version = Version
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		text := parsing.ReplaceAllString(err.Error(), "")
		if e := noKind(c); e != nil {
			return e
		}
		hint := c.CommandPath() + " --help lists the flags"
		if near := nearestFlag(c, text); near != "" {
			hint = "did you mean --" + near + "? " + hint
		} else if others := havingFlag(c, text); others != "" {
			hint = others + " it; " + hint
		}
		if _, rest, is := strings.Cut(text, "\" for \"--"); is {
			name, _, _ := strings.Cut(rest, "\"")
			if f := c.Flags().Lookup(name); f != nil {
				kind, usage := pflag.UnquoteUsage(f)
				if kind == "duration" {
					kind += ", such as 30s or 2m"
				}
				hint = fmt.Sprintf("--%s takes %s %s: %s", name, article(kind), kind, usage)
			}
		}
		return &usageError{diag.New(diag.Usage, "", "%s", text).WithHint("%s", hint)}
	})
	return root
}

// nearestFlag is the flag of a command that an unknown one may have meant.
func nearestFlag(c *cobra.Command, text string) string {
	given, unknown := strings.CutPrefix(text, "unknown flag: --")
	if !unknown {
		return ""
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return diag.Nearest(given, names)
}

// havingFlag says which other commands have a flag that this one does not; "" where none has it.
func havingFlag(c *cobra.Command, text string) string {
	given, unknown := strings.CutPrefix(text, "unknown flag: --")
	if !unknown {
		return ""
	}
	var names []string
	for _, other := range c.Root().Commands() {
		if !other.Hidden && other.Flags().Lookup(given) != nil {
			names = append(names, other.Name())
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0] + " has"
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1] + " have"
}

// parsing is what Go's number parsers put before the reason, which repeats the value.
var parsing = regexp.MustCompile(`strconv\.\w+: parsing "[^"]*": `)

// helpName is the command that explains another one.
const helpName = "help"

func help(root *cobra.Command) *cobra.Command {
	return &cobra.Command{Use: helpName + " [COMMAND]", Short: "explain a command",
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if len(rest) > 0 || err != nil {
				return unknownCommand(root, args[0])
			}
			return c.Help()
		}}
}

// exactly demands a number of arguments and names them in the error.
func exactly(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return usagef("%s needs %s", c.CommandPath(), names[len(args)])
		}
		if len(args) > len(names) {
			takes := strings.Join(append([]string{"nothing"}, names...)[min(len(names), 1):], " ")
			return usagef("%s takes %s; %q is one too many", c.CommandPath(), takes, args[len(names)])
		}
		for i, arg := range args {
			if arg == "" {
				return usagef("%s needs %s, but it is empty", c.CommandPath(), names[i])
			}
		}
		return nil
	}
}

// withJSON adds the flag that every command has.
func (a *App) withJSON(c *cobra.Command) *cobra.Command {
	c.Flags().StringVar(&a.json, "json", "",
		"write the same facts to this file as JSON; - for standard output, which then holds nothing else")
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if a.json == "-" {
			a.facts, a.Out = a.Out, a.Err // what is for people
		}
		if err := apart(c, args); err != nil || a.json == "-" {
			return err
		}
		return writable(a.json, diag.FileWrite)
	}
	return c
}

// apart refuses a file that a command would write over another file of the same call.
func apart(c *cobra.Command, args []string) error {
	type file struct{ role, path string }
	var files []file
	for _, arg := range args {
		files = append(files, file{"the argument", arg})
	}
	value := func(flag string) (file, bool) {
		f := c.Flags().Lookup(flag)
		if f == nil || f.Value.String() == "" || f.Value.String() == "-" {
			return file{}, false
		}
		return file{"--" + flag, f.Value.String()}, true
	}
	for _, flag := range []string{"plan", "calibrate", "calibrate-labels", "inputs", "bind", "labels", "in", "pins"} {
		if f, ok := value(flag); ok {
			files = append(files, f)
		}
	}
	for _, flag := range []string{"output", "out", "json", "svg", "fst", "html", "csv", "write-plan", "bitstream"} {
		f, ok := value(flag)
		if !ok {
			continue
		}
		for _, other := range files {
			if sameFile(f.path, other.path) {
				return usagef("%s %s would overwrite %s", f.role, f.path, other.role)
			}
		}
		files = append(files, f)
	}
	return nil
}

// sameFile compares files that exist, else names. Devices may serve several roles.
func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	if errX == nil && errY == nil {
		return os.SameFile(x, y) && x.Mode().IsRegular()
	}
	return filepath.Clean(a) == filepath.Clean(b)
}

// article is a or an.
func article(word string) string {
	if word != "" && strings.ContainsRune("aeiou", rune(word[0])) {
		return "an"
	}
	return "a"
}
