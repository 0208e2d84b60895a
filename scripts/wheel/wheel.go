// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/elf"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"lathe/internal/cli"
)

// wheel is an archive as pip installs it (PEP 427), and the file name that says where it works.
type wheel struct {
	name string
	data []byte
}

// member is a file of the archive.
type member struct {
	name string
	data []byte
	mode fs.FileMode
}

// sources is the folder of the package's Python, in the project.
const sources = "scripts/wheel/lathe"

// format is that of the archive, but for the tag.
const format = "Wheel-Version: 1.0\nGenerator: lathe\nRoot-Is-Purelib: false\n"

// pluginPackage has PJRT's plugin, in the version that scripts/setup fetches.
const pluginPackage = "xla-cpu-pjrt==0.0.1"

// pack makes the wheel of a program. root is the project. Equal input gives equal bytes.
func pack(root fs.FS, program []byte) (wheel, error) {
	tag, err := platform(program)
	if err != nil {
		return wheel{}, err
	}
	tag = "py3-none-" + tag
	members := []member{{"lathe/bin/lathe", program, 0o755}}
	files, err := fs.Glob(root, sources+"/*.py")
	if err != nil || len(files) == 0 {
		return wheel{}, fmt.Errorf("no %s here: run it in the root of the project (%v)", sources, err)
	}
	for _, file := range files {
		data, err := fs.ReadFile(root, file)
		if err != nil {
			return wheel{}, err
		}
		members = append(members, member{"lathe/" + path.Base(file), data, 0o644})
	}
	licence, err := fs.ReadFile(root, "LICENSE")
	if err != nil {
		return wheel{}, err
	}
	info := "lathe-" + cli.Version + ".dist-info/"
	members = append(members,
		member{info + "LICENSE", licence, 0o644},
		member{info + "METADATA", []byte(metadata()), 0o644},
		member{info + "WHEEL", []byte(format + "Tag: " + tag + "\n"), 0o644},
		member{info + "entry_points.txt", []byte("[console_scripts]\nlathe = lathe.__main__:main\n"), 0o644})
	slices.SortFunc(members, func(a, b member) int { return cmp.Compare(a.name, b.name) })
	members = append(members, member{info + "RECORD", record(members, info+"RECORD"), 0o644})
	data, err := archive(members)
	return wheel{fmt.Sprintf("lathe-%s-%s.whl", cli.Version, tag), data}, err
}

// metadata describes the package to pip.
func metadata() string {
	return "Metadata-Version: 2.1\nName: lathe\nVersion: " + cli.Version + "\n" +
		"Summary: Compiles trained neural networks to Verilog, and proves by simulation what the hardware computes\n" +
		"License: Apache-2.0\nRequires-Python: >=3.9\nRequires-Dist: numpy\n" +
		"Provides-Extra: pjrt\nRequires-Dist: " + pluginPackage + "; extra == \"pjrt\"\n"
}

// record lists the files with their hashes and sizes; itself, as PEP 376 has it, without.
func record(members []member, self string) []byte {
	var b bytes.Buffer
	for _, m := range members {
		sum := sha256.Sum256(m.data)
		fmt.Fprintf(&b, "%s,sha256=%s,%d\n", m.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(m.data))
	}
	fmt.Fprintf(&b, "%s,,\n", self)
	return b.Bytes()
}

// archive is the zip file of the members, all of the oldest time that the format knows.
func archive(members []member) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range members {
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
		h.SetMode(m.mode)
		w, err := z.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(m.data); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

// machines are the names that Python has for processors.
var machines = map[elf.Machine]string{elf.EM_X86_64: "x86_64", elf.EM_AARCH64: "aarch64"}

// platform is the tag of the machines that a program runs on: Linux with the glibc whose symbols it asks for (PEP 600),
// or any Linux where it asks for none.
func platform(program []byte) (string, error) {
	f, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		return "", fmt.Errorf("the program is not one for Linux, for which alone there are wheels: %v", err)
	}
	machine := machines[f.Machine]
	if machine == "" {
		return "", fmt.Errorf("there are wheels for x86-64 and 64-bit ARM, and the program is for %v", f.Machine)
	}
	symbols, err := f.ImportedSymbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return "", err
	}
	newest := 0
	for _, s := range symbols {
		if minor, ok := strings.CutPrefix(s.Version, "GLIBC_2."); ok {
			minor, _, _ = strings.Cut(minor, ".")
			n, err := strconv.Atoi(minor)
			if err != nil {
				return "", fmt.Errorf("symbol %s of version %s: %v", s.Name, s.Version, err)
			}
			newest = max(newest, n)
		}
	}
	if newest == 0 {
		return "linux_" + machine, nil
	}
	return fmt.Sprintf("manylinux_2_%d_%s", newest, machine), nil
}
