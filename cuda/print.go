// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lathe/internal/diag"
)

// Instance is a template with values for its parameters, which makes it a kernel.
type Instance struct {
	Template *Template
	// Kernel is the name of the entry: a C identifier, unique in a module.
	Kernel string
	// Params are the values in the order of the template's parameters: "64", "bf16".
	Params []string
}

// Make finds a template and gives it parameters. Errors L0930 (no such template), L0932 (parameters that do not fit).
func Make(template, kernel string, params ...string) (Instance, error) {
	t, err := Find(template)
	if err != nil {
		return Instance{}, err
	}
	i := Instance{Template: t, Kernel: kernel, Params: params}
	return i, i.Check()
}

// Check reports parameters or a name that do not fit the template: error L0932.
func (i Instance) Check() error {
	t := i.Template
	if !isName(i.Kernel) {
		return diag.New(diag.KernelParameters, "", "%q is not a name for a kernel", i.Kernel).
			WithHint("use letters, digits and _, a letter first")
	}
	if len(i.Params) != len(t.Params) {
		var names []string
		for _, p := range t.Params {
			names = append(names, p.Name)
		}
		return diag.New(diag.KernelParameters, i.Kernel, "%s has %d template parameters, not %d", t.Name, len(t.Params),
			len(i.Params)).
			WithHint("they are %s", strings.Join(names, ", "))
	}
	for k, p := range t.Params {
		_, err := strconv.Atoi(i.Params[k])
		if p.Type == (err == nil) || p.Type && !typeText.MatchString(i.Params[k]) {
			return diag.New(diag.KernelParameters, i.Kernel, "%s: %q is not a value for parameter %s", t.Name, i.Params[k],
				p.Name).
				WithHint("a class parameter takes the name of a type, the others a number")
		}
	}
	return nil
}

// For returns the instances that exist for an architecture.
func For(arch string, instances []Instance) []Instance {
	var out []Instance
	for _, i := range instances {
		if len(i.Template.Archs) == 0 || slices.Contains(i.Template.Archs, arch) {
			out = append(out, i)
		}
	}
	return out
}

// typeText is a type of C++ without pointers: bf16, fixed_code<8, 4, 1, EVEN, SAT>.
var typeText = regexp.MustCompile(`^[A-Za-z_][\w<>, :-]*$`)

// String is the instance as C++ writes it: dequant<bf16, 0>.
func (i Instance) String() string {
	if len(i.Params) == 0 {
		return i.Template.Name
	}
	return i.Template.Name + "<" + strings.Join(i.Params, ", ") + ">"
}

// bound are the values of the parameters, by name; sm is 0 where the architecture does not matter.
func (i Instance) bound(sm int) []binding {
	out := []binding{{"SM", strconv.Itoa(sm)}}
	for k, p := range i.Template.Params {
		if k < len(i.Params) {
			out = append(out, binding{p.Name, i.Params[k]})
		}
	}
	return out
}

// Threads is the number of threads of a block. Error L0931 where the header's expression has no value.
func (i Instance) Threads() (int, error) { return i.Template.threads.eval(i.bound(0)) }

// Shared is the size of dynamic shared memory in bytes. Error as Threads.
func (i Instance) Shared() (int, error) { return i.Template.shared.eval(i.bound(0)) }

// Registers is the most registers that a thread may take on an architecture. Error as Threads.
func (i Instance) Registers(a Arch) (int, error) { return i.Template.regs.eval(i.bound(a.Capability)) }

// SASS lists what must be among the machine instructions on an architecture: one of each group. Error as Threads.
func (i Instance) SASS(a Arch) ([][]string, error) {
	var out [][]string
	for _, w := range i.Template.sass {
		if len(w.when.tokens) > 0 {
			v, err := w.when.eval(i.bound(a.Capability))
			if err != nil {
				return nil, err
			}
			if v == 0 {
				continue
			}
		}
		out = append(out, w.any)
	}
	return out, nil
}

// Print writes one translation unit with an entry for every instance: intrinsics, the files that the templates use and
// the templates once each, in order of their first use, then the entries. Errors: L0932 for parameters that do not fit
// or two entries of one name, L0931 for a header whose expressions have no value or that uses a file that is not there.
func Print(instances ...Instance) (string, error) {
	var b strings.Builder
	head, err := Text(intrinsics)
	if err != nil {
		return "", err
	}
	b.WriteString(head)
	printed := map[string]bool{intrinsics: true}
	for _, i := range instances {
		for _, file := range i.Template.Uses {
			if printed[file] {
				continue
			}
			printed[file] = true
			text, err := Text(file)
			if err != nil {
				return "", err
			}
			b.WriteString("\n" + body(text))
		}
		if !printed[i.Template.Name] {
			printed[i.Template.Name] = true
			b.WriteString("\n" + body(i.Template.text))
		}
	}
	var seen []string
	for _, i := range instances {
		if slices.Contains(seen, i.Kernel) {
			return "", diag.New(diag.KernelParameters, i.Kernel, "two kernels of one name").
				WithHint("give each kernel of a source a name of its own")
		}
		seen = append(seen, i.Kernel)
		text, err := i.entry()
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// body is a file without its licence line, which the unit has already.
func body(text string) string {
	if first, rest, _ := strings.Cut(text, "\n"); strings.Contains(first, "SPDX") {
		return rest
	}
	return text
}

// entry is the kernel that calls the instance.
func (i Instance) entry() (string, error) {
	if err := i.Check(); err != nil {
		return "", err
	}
	threads, err := i.Threads()
	if err != nil {
		return "", err
	}
	blocks, err := i.Template.blocks.eval(i.bound(0))
	if err != nil {
		return "", err
	}
	bounds := strconv.Itoa(threads)
	if blocks > 0 {
		bounds += ", " + strconv.Itoa(blocks)
	}
	var decl, pass []string
	for _, a := range i.Template.Args {
		typ := i.substitute(a.Type)
		if a.Map() {
			typ = "const __grid_constant__ tensor_map"
		}
		decl = append(decl, typ+" "+a.Name)
		pass = append(pass, a.Name)
	}
	return fmt.Sprintf("\nextern \"C\" __global__ void __launch_bounds__(%s)\n%s(%s) {\n  %s(%s);\n}\n",
		bounds, i.Kernel, strings.Join(decl, ", "), i, strings.Join(pass, ", ")), nil
}

var word = regexp.MustCompile(`[A-Za-z_]\w*`)

// substitute puts the values of type parameters into the text of a type.
func (i Instance) substitute(typ string) string {
	return word.ReplaceAllStringFunc(typ, func(w string) string {
		for k, p := range i.Template.Params {
			if p.Name == w {
				return i.Params[k]
			}
		}
		return w
	})
}
