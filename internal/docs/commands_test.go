// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// changing is a line of a page that changes a file of the project: sed -i "s/OLD/NEW/" FILE.
var changing = regexp.MustCompile(`(?m)^    sed -i ["']s/([^/]*)/([^/]*)/["'] (\S+)$`)

// TestChanges: what a page has its reader change in a file stands there, once.
func TestChanges(t *testing.T) {
	root := filepath.Join("..", "..")
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range changing.FindAllStringSubmatch(string(text), -1) {
			found++
			file, err := os.ReadFile(filepath.Join(root, m[3]))
			if err != nil {
				t.Errorf("%s: %v", page, err)
				continue
			}
			old, err := regexp.Compile(strings.ReplaceAll(m[1], "?", `\?`)) // which is a plain character to sed
			if err != nil {
				t.Fatal(err)
			}
			if n := len(old.FindAll(file, -1)); n != 1 {
				t.Errorf("%s: %q stands %d times in %s", page, m[1], n, m[3])
			}
		}
		if strings.Contains(string(text), "\n    sed -i") && !changing.Match(text) {
			t.Errorf("%s: the sed is not of the form that is checked", page)
		}
	}
	if found == 0 {
		t.Error("no page changes a file")
	}
}
