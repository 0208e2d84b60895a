// SPDX-License-Identifier: Apache-2.0

package rdb

import (
	"regexp"
	"strconv"
	"strings"
)

// dialect is what one database does otherwise than another.
type dialect struct {
	driver string
	// begun counts the tables of Optuna, lock waits for others that make them, and update ends a question about a row that
	// nobody else may change for now; "" where a transaction has the database for itself.
	begun, lock, update string
	numbered            bool // values are $1, $2 and so on
	tables              func() []string
}

var sqlite = dialect{driver: "sqlite", begun: `SELECT COUNT(*) FROM sqlite_master WHERE name = 'version_info'`,
	tables: func() []string { return tables }}

// The number of the lock is made of the letters of "optuna", a byte each.
var postgres = dialect{driver: "pgx", numbered: true, update: " FOR UPDATE",
	lock: `SELECT pg_advisory_xact_lock(122528780873313)`,
	begun: `SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = current_schema() AND ` +
		`table_name = 'version_info'`,
	tables: postgresTables}

// marked is a statement with the marks of the dialect for values.
func (d *dialect) marked(text string) string {
	if !d.numbered {
		return text
	}
	var b strings.Builder
	n := 0
	for _, r := range text {
		if r != '?' {
			b.WriteRune(r)
			continue
		}
		n++
		b.WriteString("$" + strconv.Itoa(n))
	}
	return b.String()
}

var (
	serial = regexp.MustCompile(`^(CREATE TABLE \w+ \(\n\t\w+_id) INTEGER NOT NULL`)
	enums  = []struct{ column, name, words string }{
		{"direction VARCHAR(8)", "studydirection", "'NOT_SET', 'MINIMIZE', 'MAXIMIZE'"},
		{"state VARCHAR(8)", "trialstate", "'RUNNING', 'COMPLETE', 'PRUNED', 'FAIL', 'WAITING'"},
		{"\tvalue_type VARCHAR(7)", "trialvaluetype", "'FINITE', 'INF_POS', 'INF_NEG'"},
		{"\tintermediate_value_type VARCHAR(7)", "trialintermediatevaluetype", "'FINITE', 'INF_POS', 'INF_NEG', 'NAN'"},
	}
)

// postgresTables are the same tables with the types that SQLAlchemy gives them there.
func postgresTables() (out []string) {
	for _, e := range enums {
		out = append(out, "CREATE TYPE "+e.name+" AS ENUM ("+e.words+")")
	}
	for _, t := range tables {
		for _, e := range enums {
			words := strings.Fields(e.column)
			t = strings.ReplaceAll(t, "\n\t"+strings.TrimSpace(e.column), "\n\t"+words[0]+" "+e.name)
		}
		if !strings.Contains(t, "CHECK (version_info_id=1)") {
			t = serial.ReplaceAllString(t, "$1 SERIAL NOT NULL")
		}
		t = strings.ReplaceAll(t, " DATETIME", " TIMESTAMP WITHOUT TIME ZONE")
		out = append(out, strings.ReplaceAll(t, " FLOAT", " DOUBLE PRECISION"))
	}
	return out
}
