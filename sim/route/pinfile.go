// SPDX-License-Identifier: Apache-2.0

package route

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"lathe/internal/atomicfile"
	"lathe/internal/diag"
)

// namedPort is that which a line of a file of pins names; "" if none.
func namedPort(port *regexp.Regexp, line string) string {
	line, _, _ = strings.Cut(line, "#")
	line, _, _ = strings.Cut(line, "//")
	if m := port.FindStringSubmatch(line); m != nil {
		return m[1]
	}
	return ""
}

// pinCopy is the file of pins in the folder in which nextpnr runs.
const pinCopy = "pins.txt"

func (n *nextpnr) putPins() error {
	if n.pins == nil {
		return nil
	}
	if err := os.WriteFile(filepath.Join(n.folder, pinCopy), n.pins, 0o600); err != nil {
		atomicfile.Keep(n.folder)
		return diag.New(diag.PinFile, n.PinFile, "the file of pins cannot be copied to %s: %v", n.folder, err)
	}
	return nil
}

// readPins reads a file of pins. Error L0781 where it names a port that the wrapper does not have, or none.
func (d *design) readPins(dir, file string, port *regexp.Regexp) ([]byte, error) {
	all, err := d.ports(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	known := map[string]bool{}
	for _, p := range all {
		for i := range p.width {
			name := p.name
			if p.width > 1 {
				name = fmt.Sprintf("%s[%d]", p.name, i)
			}
			names, known[name] = append(names, name), true
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, diag.New(diag.PinFile, file, "the file of pins cannot be read: %v", err)
	}
	at, found := 0, false
	for line := range bytes.Lines(text) {
		at++
		name := namedPort(port, string(line))
		if name == "" {
			continue
		}
		found = true
		if !known[name] {
			err := diag.New(diag.PinFile, fmt.Sprintf("%s:%d", file, at), "%s has no port %q", d.Top, name)
			if near := diag.Nearest(name, names); near != "" {
				return nil, err.WithHint("did you mean %q?", near)
			}
			return nil, err.WithHint("its ports stand at the head of %s", filepath.Join(dir, d.Top+".v"))
		}
	}
	if !found {
		return nil, diag.New(diag.PinFile, file, "the file of pins names no port").
			WithHint("ECP5 takes LPF (LOCATE COMP \"ap_clk\" SITE \"P3\";), iCE40 PCF (set_io ap_clk 35)")
	}
	return text, nil
}
