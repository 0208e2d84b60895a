// SPDX-License-Identifier: Apache-2.0

package npz

import (
	"encoding/binary"
	"errors"
	"io"
	"strconv"
	"strings"

	"lathe/internal/diag"
)

const magic = "\x93NUMPY"

// header describes the bytes of one array.
type header struct {
	dtype   dtype
	swapped bool // big endian
	fortran bool // first axis innermost
	shape   []int
}

// bytes is the length of the data.
func (h *header) bytes() int64 {
	n, _ := elems(h.shape)
	return int64(n) * int64(h.dtype.size)
}

// readHeader reads magic, version and the dictionary behind them; size is the number of bytes it took.
func readHeader(r io.Reader, pos string) (h *header, size int64, err error) {
	var pre [8]byte
	if _, err := io.ReadFull(r, pre[:]); err != nil {
		return nil, 0, readError(err, pos)
	}
	if string(pre[:6]) != magic {
		return nil, 0, diag.New(diag.ArrayBroken, pos, "this is not a .npy array: it does not begin with \\x93NUMPY")
	}
	lenBytes := 4
	switch pre[6] {
	case 1:
		lenBytes = 2
	case 2, 3:
	default:
		return nil, 0, diag.New(diag.ArrayHeader, pos, "format version %d.%d is unknown; 1.0 to 3.0 are read", pre[6], pre[7])
	}
	var buf [4]byte
	if _, err := io.ReadFull(r, buf[:lenBytes]); err != nil {
		return nil, 0, readError(err, pos)
	}
	n := binary.LittleEndian.Uint32(buf[:])
	if n > maxHeader {
		return nil, 0, diag.New(diag.ArraySizes, pos, "the header claims %d bytes; the limit is %d", n, maxHeader)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, 0, readError(err, pos)
	}
	h, err = parseHeader(string(text), pos)
	return h, int64(len(pre)) + int64(lenBytes) + int64(n), err
}

// readError tells a file that ends early from one that cannot be read.
func readError(err error, pos string) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return diag.New(diag.ArrayBroken, pos, "the data end early")
	}
	return diag.New(diag.ArrayBroken, pos, "%v", err)
}

// dict reads the Python dictionary of a header, and no more of the language than that.
type dict struct {
	rest, pos string
}

func (d *dict) fail(msg string, args ...any) error {
	return diag.New(diag.ArrayHeader, d.pos, "array header: "+msg, args...)
}

// take drops white space and then the text s, if it is next.
func (d *dict) take(s string) bool {
	d.rest = strings.TrimLeft(d.rest, " \t\r\n")
	rest, ok := strings.CutPrefix(d.rest, s)
	if ok {
		d.rest = rest
	}
	return ok
}

// quoted reads a Python string without escapes.
func (d *dict) quoted() (string, error) {
	for _, q := range []string{"'", `"`} {
		if !d.take(q) {
			continue
		}
		s, rest, ok := strings.Cut(d.rest, q)
		if !ok || strings.Contains(s, `\`) {
			return "", d.fail("a string is not closed or has escapes")
		}
		d.rest = rest
		return s, nil
	}
	return "", d.fail("expected a string at %.20q", d.rest)
}

func parseHeader(text, pos string) (*header, error) {
	d, h, seen := &dict{text, pos}, &header{}, ""
	if !d.take("{") {
		return nil, d.fail("expected { at %.20q", d.rest)
	}
	for !d.take("}") {
		key, err := d.quoted()
		if err != nil {
			return nil, err
		}
		if !d.take(":") || strings.Contains(seen, key+" ") {
			return nil, d.fail("expected a colon after a new key, key %q", key)
		}
		seen += key + " "
		switch key {
		case "descr":
			err = d.descr(h)
		case "fortran_order":
			h.fortran = d.take("True")
			if !h.fortran && !d.take("False") {
				err = d.fail("fortran_order is True or False, not %.20q", d.rest)
			}
		case "shape":
			h.shape, err = d.tuple()
		default:
			err = d.fail("unknown key %q", key)
		}
		if err != nil {
			return nil, err
		}
		if !d.take(",") && !strings.HasPrefix(d.rest, "}") {
			return nil, d.fail("expected , or } at %.20q", d.rest)
		}
	}
	if len(strings.Fields(seen)) != 3 {
		return nil, d.fail("it holds the keys %q; descr, fortran_order and shape are needed", strings.TrimSpace(seen))
	}
	if d.take(""); d.rest != "" {
		return nil, d.fail("%.20q follows the dictionary", d.rest)
	}
	return h, nil
}

// descr reads an element type such as '<f4'.
func (d *dict) descr(h *header) error {
	if d.take("[") {
		return diag.New(diag.ArrayElements, d.pos, "the elements are records; only plain numbers are read")
	}
	s, err := d.quoted()
	if err != nil {
		return err
	}
	if len(s) >= 3 && strings.ContainsRune("<>|=", rune(s[0])) {
		for _, t := range dtypes {
			if s[1] == t.kind && s[2:] == strconv.Itoa(t.size) {
				h.dtype, h.swapped = t, s[0] == '>'
				return nil
			}
		}
	}
	names := make([]string, len(dtypes))
	for i, t := range dtypes {
		names[i] = t.name
	}
	if strings.ContainsAny(s, "USO") {
		return diag.New(diag.ArrayElements, d.pos, "elements of type %q are texts or objects, and numbers are read", s).
			WithHint("replace classes by their numbers, in the order that lathe inspect lists: " +
				"numpy.unique(y, return_inverse=True)[1] if that is the sorted one")
	}
	return diag.New(diag.ArrayElements, d.pos, "elements of type %q are not read", s).
		WithHint("convert the array with astype to one of %s", strings.Join(names, ", "))
}

// tuple reads a shape such as (3, 4) or (5,).
func (d *dict) tuple() ([]int, error) {
	if !d.take("(") {
		return nil, d.fail("the shape is not a tuple: %.20q", d.rest)
	}
	shape := []int{}
	for !d.take(")") {
		i := 0
		for i < len(d.rest) && d.rest[i] >= '0' && d.rest[i] <= '9' {
			i++
		}
		v, err := strconv.Atoi(d.rest[:i])
		if err != nil || len(shape) == maxRank {
			return nil, d.fail("the shape has a dimension that is not a number, or more than %d of them", maxRank)
		}
		d.rest = strings.TrimPrefix(d.rest[i:], "L") // Python 2 wrote long integers
		shape = append(shape, v)
		if !d.take(",") && !strings.HasPrefix(d.rest, ")") {
			return nil, d.fail("expected , or ) at %.20q", d.rest)
		}
		d.take("")
	}
	if _, ok := elems(shape); !ok {
		return nil, diag.New(diag.ArraySizes, d.pos, "shape %v has more elements than the limit of %d bytes", shape,
			int64(maxBytes))
	}
	return shape, nil
}

// headerText is the version 1.0 header of an array in C order, padded so that the data begin at a multiple of 64.
func headerText(t dtype, shape []int) string {
	dims := make([]string, len(shape))
	for i, d := range shape {
		dims[i] = strconv.Itoa(d)
	}
	tuple := strings.Join(dims, ", ")
	if len(shape) == 1 {
		tuple += ","
	}
	order := "<"
	if t.size == 1 {
		order = "|"
	}
	descr := order + string(t.kind) + strconv.Itoa(t.size)
	text := "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + tuple + "), }"
	pre := len(magic) + 4
	text += strings.Repeat(" ", 63-(pre+len(text))%64) + "\n"
	return magic + "\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, uint16(len(text)))) + text
}
