// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// recordedFile holds what Yosys said of designs, beside the tests that ask: the digest of a design, what asked, and its
// answer in JSON, a line each.
const recordedFile = "testdata/recorded.txt"

// kept is set where answers are asked for again, and kept: LATHE_RECORD=1 go test ./...
var kept = sync.OnceValue(func() bool { return os.Getenv("LATHE_RECORD") != "" })

// Anew says that every design is given to Yosys, whether its answer is recorded or not: in a long run, and with
// LATHE_RECORD=1.
func Anew() bool { return Long || kept() }

// answer is a line of the record.
type answer struct{ asked, said string }

var (
	recordedLock sync.Mutex
	newAnswers   = map[string]answer{} // of this process, to be kept
)

// readRecord is the record of the package under test: the answers by their digests.
var readRecord = sync.OnceValues(func() (map[string]answer, error) {
	known := map[string]answer{}
	data, err := os.ReadFile(recordedFile)
	if os.IsNotExist(err) {
		return known, nil
	}
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		part := strings.SplitN(line, " ", 3)
		if len(part) != 3 {
			return nil, fmt.Errorf("%s:%d is no digest, name and answer", recordedFile, i+1)
		}
		known[part[0]] = answer{part[1], part[2]}
	}
	return known, err
})

// DesignDigest identifies what Yosys would do with files of a folder: its version, the texts without their comments,
// the memory images of the folder, and whatever else bears on the answer.
func DesignDigest(t testing.TB, dir string, files []string, also ...any) string {
	t.Helper()
	images, err := filepath.Glob(filepath.Join(dir, "*.mem"))
	if err != nil {
		t.Fatal(err)
	}
	h := sha256.New()
	fmt.Fprintln(h, yosysVersion(), fmt.Sprint(also...))
	for _, name := range slices.Sorted(slices.Values(files)) {
		hashCode(t, h, filepath.Join(dir, name))
	}
	for _, path := range images {
		hashCode(t, h, path)
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}

// hashCode adds a file's name and text, without comments at the ends of lines.
func hashCode(t testing.TB, h io.Writer, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(h, "file", filepath.Base(path))
	for line := range bytes.Lines(data) {
		if at := bytes.Index(line, []byte("//")); at >= 0 && !bytes.ContainsRune(line, '"') {
			line = line[:at]
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			fmt.Fprintf(h, "%s\n", line)
		}
	}
}

var yosysVersion = sync.OnceValue(func() string {
	said, err := exec.Command("yosys", "-V").Output()
	if err != nil {
		return err.Error()
	}
	return string(said)
})

// Recorded reads the answer about a design into the value that to points to, and says whether there is one; there is
// none where all are asked for anew.
func Recorded(t testing.TB, digest string, to any) bool {
	t.Helper()
	if Anew() {
		return false
	}
	known, ok := recordedAnswer(t, digest)
	if ok {
		if err := json.Unmarshal([]byte(known.said), to); err != nil {
			t.Fatalf("%s, %s: %v", recordedFile, digest, err)
		}
	}
	return ok
}

// IsRecorded says whether Recorded would find an answer, and true where all answers are asked for anew.
func IsRecorded(t testing.TB, digest string) bool {
	t.Helper()
	_, ok := recordedAnswer(t, digest)
	return ok || Anew()
}

func recordedAnswer(t testing.TB, digest string) (answer, bool) {
	t.Helper()
	all, err := readRecord()
	if err != nil {
		t.Fatal(err)
	}
	known, ok := all[digest]
	return known, ok
}

// Record takes the answer of Yosys about a design: it must be the recorded one where there is one; with LATHE_RECORD=1
// it becomes that. The file then holds the answers of this run, and of tests that did not run the former ones.
func Record(t testing.TB, digest string, said any) {
	t.Helper()
	text, err := json.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	known, ok := recordedAnswer(t, digest)
	switch {
	case kept():
		keepAnswer(t, digest, answer{strings.ReplaceAll(t.Name(), " ", "_"), string(text)})
	case ok && known.said != string(text):
		t.Errorf("of the same design Yosys says\n%s\nrecorded is\n%s", text, known.said)
	case !ok:
		t.Logf("what Yosys says of %s is not recorded: LATHE_RECORD=1 go test -run '^%s$' keeps it", digest, t.Name())
	}
}

// keepAnswer writes the record with one more answer.
func keepAnswer(t testing.TB, digest string, a answer) {
	t.Helper()
	recordedLock.Lock()
	defer recordedLock.Unlock()
	newAnswers[digest] = a
	all, err := readRecord()
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]bool{}
	for _, n := range newAnswers {
		ran[n.asked] = true
	}
	next := maps.Clone(newAnswers)
	for digest, old := range all {
		if _, ok := next[digest]; !ok && !ran[old.asked] {
			next[digest] = old
		}
	}
	var lines []string
	for digest, k := range next {
		lines = append(lines, k.asked+" "+digest+" "+k.said)
	}
	slices.Sort(lines)
	var b strings.Builder
	for _, line := range lines {
		part := strings.SplitN(line, " ", 3)
		fmt.Fprintf(&b, "%s %s %s\n", part[1], part[0], part[2])
	}
	if err := os.MkdirAll(filepath.Dir(recordedFile), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(recordedFile, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
