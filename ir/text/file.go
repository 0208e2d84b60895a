// SPDX-License-Identifier: Apache-2.0

package text

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/edsrzf/mmap-go"

	"lathe/internal/atomicfile"
	"lathe/internal/diag"
	"lathe/ir"
)

// A graph file is
//
//	lathe-file 1 LENGTH DIGEST\n     length of the text (16 hexadecimal digits) and its SHA-256
//	text                             the graph; "blob dtype digest offset length" lines name its constants
//	padding to a multiple of 64
//	constants                        each at its offset, counted from here: a multiple of 64
//
// Nothing may stand behind the last constant. The file is mapped, and constants are views of the mapping.
const (
	align    = 64
	headSize = len(fileMark) + 16 + 1 + 64 + 1
)

// Save writes g and its constants to path; the file appears whole or not at all.
func Save(path string, g *ir.Graph) error {
	if err := atomicfile.Write(path, func(w io.Writer) error { return write(w, g) }); err != nil {
		return fileError(path, err)
	}
	return nil
}

// fileError drops the path that messages of the operating system repeat.
func fileError(path string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return diag.New(diag.GraphFile, path, "%v", err)
}

// write writes head, text and constants.
func write(w io.Writer, g *ir.Graph) error {
	p := printer{seen: map[string]bool{}}
	p.graph(g)
	at := 0
	for _, b := range p.blobs {
		fmt.Fprintf(&p, "blob %s %s %d %d\n", b.DType, b.Digest(), at, len(b.Bytes))
		at = padded(at + len(b.Bytes))
	}
	src := p.String()
	sum := sha256.Sum256([]byte(src))
	head := fmt.Sprintf("%s%016x %s\n", fileMark, len(src), hex.EncodeToString(sum[:]))
	if _, err := io.WriteString(w, head+src); err != nil {
		return err
	}
	pos := len(head) + len(src)
	for _, b := range p.blobs {
		if _, err := w.Write(make([]byte, padded(pos)-pos)); err != nil {
			return err
		}
		if _, err := w.Write(b.Bytes); err != nil {
			return err
		}
		pos = padded(pos) + len(b.Bytes)
	}
	return nil
}

// padded is n rounded up to a multiple of align.
func padded(n int) int { return (n + align - 1) / align * align }

// Read reads a text graph or a file of Save. The graph is not checked.
func Read(path string) (*ir.Graph, error) {
	data, err := mapped(path)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(path)
	if !isFile(data) {
		return Parse(name, string(data), nil)
	}
	return unpack(name, data)
}

// Format returns the canonical text of the graph in a text file or a file of Save. Constants whose data are not in a
// text are kept by their digests.
func Format(path string) (string, error) {
	data, err := mapped(path)
	if err != nil {
		return "", err
	}
	name := filepath.Base(path)
	if isFile(data) {
		g, err := unpack(name, data)
		if err != nil {
			return "", err
		}
		return Print(g), nil
	}
	p := newParser(name, string(data), nil)
	p.absent = map[*ir.Blob]string{}
	if err := p.file(); err != nil {
		return "", err
	}
	return render(p.g, p.absent), nil
}

// isFile says that data are a file of Save.
func isFile(data []byte) bool { return bytes.HasPrefix(data, []byte(fileMark)) }

// Load is Read with all rules of the graph checked.
func Load(path string) (*ir.Graph, error) {
	g, err := Read(path)
	if err != nil {
		return nil, err
	}
	if err := g.Check(); err != nil {
		return nil, within(err, filepath.Base(path))
	}
	return g, nil
}

// within names the file, since the positions of nodes are those of the model that the graph was made from.
func within(err error, name string) error {
	var one *diag.Error
	var list diag.List
	if errors.As(err, &list) {
		for _, e := range list {
			e.WithNote("in the graph file %s", name)
		}
	} else if errors.As(err, &one) {
		one.WithNote("in the graph file %s", name)
	}
	return err
}

// mapped maps a regular file for as long as the process lives, because graphs keep views of it.
func mapped(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, diag.New(diag.GraphFile, path, "is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	defer f.Close()
	if info.Size() == 0 {
		return nil, nil
	}
	data, err := mmap.Map(f, mmap.RDONLY, 0)
	if err != nil {
		return nil, fileError(path, err)
	}
	return data, nil
}

// unpack reads a file of Save from memory.
func unpack(name string, data []byte) (*ir.Graph, error) {
	if len(data) < headSize {
		return nil, damaged(name, "it ends within its head")
	}
	fields := strings.Fields(string(data[len(fileMark):headSize]))
	if len(fields) != 2 || len(fields[0]) != 16 || data[headSize-1] != '\n' {
		return nil, damaged(name, "its head is broken")
	}
	size, err := strconv.ParseUint(fields[0], 16, 63)
	if err != nil || size > uint64(len(data)-headSize) {
		return nil, damaged(name, "it has %d bytes, too few for its text", len(data))
	}
	src := string(data[headSize : headSize+int(size)])
	if sum := sha256.Sum256([]byte(src)); hex.EncodeToString(sum[:]) != fields[1] {
		return nil, damaged(name, "its text does not fit its checksum")
	}
	p := newParser(name, src, nil)
	start := min(padded(headSize+int(size)), len(data))
	if !zero(data[headSize+int(size) : start]) {
		return nil, damaged(name, "the padding after its text is not empty")
	}
	p.area = data[start:]
	if err := p.file(); err != nil {
		return nil, err
	}
	end := headSize + int(size)
	if len(p.blobs) > 0 { // even if they are all empty
		end = padded(end) + p.used
	}
	if end != len(data) {
		return nil, damaged(name, "it has %d bytes instead of %d", len(data), end)
	}
	return p.g, nil
}

func zero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

func damaged(name, msg string, args ...any) *diag.Error {
	return diag.New(diag.GraphDamaged, name, "the file is damaged: "+msg, args...).WithHint("save the graph again")
}

// blob reads "blob dtype digest offset length" and takes the constant out of the file.
func (p *parser) blob() error {
	dtype, digest, err := p.dtypeAndDigest()
	if err != nil {
		return err
	}
	var at [2]int
	for i, what := range [...]string{"an offset", "a length"} {
		t, err := p.lex.expect(tokWord, what)
		if err != nil {
			return err
		}
		v, err := strconv.ParseUint(t.text, 10, 62)
		if err != nil {
			return p.lex.fail(t, diag.GraphValue, "%s is not a number of bytes", shown(t.text))
		}
		at[i] = int(v)
	}
	if at[0] != padded(p.used) || at[0] > len(p.area) || at[1] > len(p.area)-at[0] || !zero(p.area[p.used:at[0]]) {
		return damaged(p.lex.name, "constant %s is not within it", digest.text)
	}
	b := &ir.Blob{DType: dtype, Bytes: p.area[at[0] : at[0]+at[1]]}
	if at[1]%dtype.Size() != 0 || b.Digest() != digest.text {
		return damaged(p.lex.name, "constant %s does not fit its digest", digest.text)
	}
	p.used = at[0] + at[1]
	p.blobs[digest.text] = b
	return nil
}
