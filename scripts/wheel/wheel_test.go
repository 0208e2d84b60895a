// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// static is the header of a program for Linux that needs no library.
func static(machine uint16) []byte {
	head := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 57)...)
	for at, v := range map[int]uint16{16: 2, 18: machine, 20: 1, 52: 64} {
		binary.LittleEndian.PutUint16(head[at:], v)
	}
	return head
}

func TestWheel(t *testing.T) {
	t.Parallel()
	root := os.DirFS("../..")
	w, err := pack(root, static(62))
	if err != nil {
		t.Fatal(err)
	}
	again, err := pack(root, static(62))
	if err != nil || !bytes.Equal(w.data, again.data) {
		t.Errorf("packed twice, the bytes differ (%v)", err)
	}
	if w.name != "lathe-0.1.0-py3-none-linux_x86_64.whl" {
		t.Errorf("name %s", w.name)
	}
	z, err := zip.NewReader(bytes.NewReader(w.data), int64(len(w.data)))
	if err != nil {
		t.Fatal(err)
	}
	texts, record := map[string]string{}, ""
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		texts[f.Name] = string(data)
		if runs := f.Mode().Perm()&0o111 != 0; runs != (f.Name == "lathe/bin/lathe") {
			t.Errorf("%s has mode %v", f.Name, f.Mode())
		}
		sum := sha256.Sum256(data)
		line := fmt.Sprintf("%s,sha256=%s,%d\n", f.Name, base64.RawURLEncoding.EncodeToString(sum[:]), len(data))
		if strings.HasSuffix(f.Name, "/RECORD") {
			line = f.Name + ",,\n"
		}
		record += line
	}
	const info = "lathe-0.1.0.dist-info/"
	if texts[info+"RECORD"] != record {
		t.Errorf("RECORD is\n%s, the files are\n%s", texts[info+"RECORD"], record)
	}
	if texts["lathe/bin/lathe"] != string(static(62)) {
		t.Error("the program is another one")
	}
	for name, want := range map[string]string{
		"WHEEL": "Tag: py3-none-linux_x86_64\n", "METADATA": "Requires-Dist: numpy\n",
		"entry_points.txt": "lathe = lathe.__main__:main\n", "LICENSE": "Apache License"} {
		if !strings.Contains(texts[info+name], want) {
			t.Errorf("%s lacks %q:\n%s", name, want, texts[info+name])
		}
	}
	for _, name := range []string{"lathe/__init__.py", "lathe/design.py"} {
		if !strings.Contains(texts[name], "import") {
			t.Errorf("%s is %q", name, texts[name])
		}
	}
}

// TestPlatform takes this program, which uses cgo, for one of the glibc that it was linked with.
func TestPlatform(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	tag, err := platform(data)
	if err != nil || !regexp.MustCompile(`^manylinux_2_\d+_(x86_64|aarch64)$`).MatchString(tag) {
		t.Errorf("%q, %v", tag, err)
	}
	if tag, err := platform(static(183)); tag != "linux_aarch64" || err != nil {
		t.Errorf("ARM: %q, %v", tag, err)
	}
	for _, one := range []struct {
		data []byte
		want string
	}{{static(243), "EM_RISCV"}, {[]byte("MZ"), "not one for Linux"}} {
		if _, err := platform(one.data); err == nil || !strings.Contains(err.Error(), one.want) {
			t.Errorf("%v, want %s", err, one.want)
		}
	}
}

// TestPlugin holds the extra "pjrt" to the version that scripts/setup fetches.
func TestPlugin(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../setup")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(strings.Split(string(text), "\n"), "wheel="+pluginPackage) {
		t.Errorf("scripts/setup does not fetch %s", pluginPackage)
	}
	program, err := os.ReadFile("lathe/program.py")
	if err != nil || !strings.Contains(string(program), pluginPackage) {
		t.Errorf("lathe/program.py does not advise %s (%v)", pluginPackage, err)
	}
}
