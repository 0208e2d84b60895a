// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"os"
	"path/filepath"
	"testing"
)

// TestDesignDigest: comments and white space do not change a digest; code, images, names and options do.
func TestDesignDigest(t *testing.T) {
	digest := func(name, text, image string, option int) string {
		dir := t.TempDir()
		for file, data := range map[string]string{name: text, "w.mem": image} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return DesignDigest(t, dir, []string{name}, option)
	}
	base := digest("a.v", "module a; // one\nendmodule\n", "1", 1)
	if same := digest("a.v", "  module a;\n\n// two\nendmodule", "1", 1); same != base {
		t.Error("a comment changes the digest")
	}
	for what, other := range map[string]string{
		"code":          digest("a.v", "module a; wire x;\nendmodule\n", "1", 1),
		"a quoted text": digest("a.v", "module a; wire x = \"//\";\nendmodule\n", "1", 1),
		"an image":      digest("a.v", "module a; // one\nendmodule\n", "2", 1),
		"a file's name": digest("b.v", "module a; // one\nendmodule\n", "1", 1),
		"an option":     digest("a.v", "module a; // one\nendmodule\n", "1", 2),
	} {
		if other == base {
			t.Errorf("%s does not change the digest", what)
		}
	}
	if digest("a.v", "string s = \"//1\";", "1", 1) == digest("a.v", "string s = \"//2\";", "1", 1) {
		t.Error("a quoted text is taken for a comment")
	}
}
