// SPDX-License-Identifier: Apache-2.0

// Package rdb keeps studies in a database, an SQLite file or PostgreSQL, in the tables of Optuna's RDBStorage: Optuna's
// programs and its dashboard may read and write the same studies at the same time. The library for SQLite is its
// translation to Go, so that nothing needs a C compiler.
package rdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"

	"lathe/internal/diag"
	"lathe/search"
)

// Storage is a database.
type Storage struct {
	where string
	d     *dialect
	db    *sql.DB

	mu    sync.Mutex
	dists map[string]*search.Distribution
}

// Open opens an SQLite file, which need not be there yet where create says so. Error L1103 where it cannot be read or
// is no database, L1109 where its tables are of another version.
func Open(ctx context.Context, path string, create bool) (*Storage, error) {
	s := &Storage{where: path, d: &sqlite}
	if _, err := os.Stat(path); err != nil && !(create && errors.Is(err, fs.ErrNotExist)) {
		return nil, s.failed(err)
	}
	// Writers queue up: each transaction takes the lock as it begins, and waits for it.
	options := url.Values{"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(NORMAL)"},
		"_txlock": {"immediate"}}
	return s.open(ctx, "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+options.Encode(), 1)
}

// Connect opens a database of PostgreSQL by its URL, postgresql://USER:PASSWORD@HOST:PORT/DATABASE, and makes the
// tables where there are none. Errors as Open.
func Connect(ctx context.Context, address string) (*Storage, error) {
	s := &Storage{where: Shown(address), d: &postgres}
	return s.open(ctx, address, 4)
}

// Shown is the address of a database as messages may show it, without a password.
func Shown(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "postgresql://"
	}
	return u.Redacted()
}

// open opens the database for so many connections.
func (s *Storage) open(ctx context.Context, source string, connections int) (*Storage, error) {
	s.dists = map[string]*search.Distribution{}
	db, err := sql.Open(s.d.driver, source)
	if err != nil {
		return nil, s.failed(err)
	}
	db.SetMaxOpenConns(connections)
	s.db = db
	if err := s.begin(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// failed is error L1103.
func (s *Storage) failed(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	first, rest, _ := strings.Cut(err.Error(), "\n")
	if strings.HasSuffix(first, ":") { // of a connection: the cause follows, for each address
		rest, _, _ = strings.Cut(strings.TrimSpace(rest), "\n")
		first += " " + rest
	}
	return diag.New(diag.StudyStorage, s.where, "the database: %s", first)
}

// begin makes the tables of a new database, and checks those of an old one.
func (s *Storage) begin(ctx context.Context) error {
	return s.write(ctx, func(tx *tx) error {
		var count, version int
		if s.d.lock != "" { // two may begin at a time
			if _, err := tx.exec(ctx, s.d.lock); err != nil {
				return err
			}
		}
		if err := tx.row(ctx, s.d.begun).Scan(&count); err != nil {
			return err
		}
		if count == 0 {
			for _, t := range s.d.tables() {
				if _, err := tx.exec(ctx, t); err != nil {
					return err
				}
			}
			if _, err := tx.exec(ctx, `INSERT INTO version_info VALUES (1, ?, ?)`, schemaVersion, release); err != nil {
				return err
			}
			_, err := tx.exec(ctx, `INSERT INTO alembic_version VALUES (?)`, migration)
			return err
		}
		if err := tx.row(ctx, `SELECT schema_version FROM version_info`).Scan(&version); err != nil {
			return err
		}
		if version != schemaVersion {
			return diag.New(diag.StudySchema, s.where, "its tables are of version %d, and %d is known", version, schemaVersion).
				WithHint("optuna storage upgrade brings older ones up to date")
		}
		return nil
	})
}

// tx is a transaction that takes statements with a ? for each value.
type tx struct {
	*sql.Tx
	d *dialect
}

func (t *tx) exec(ctx context.Context, text string, args ...any) (sql.Result, error) {
	return t.ExecContext(ctx, t.d.marked(text), args...)
}

func (t *tx) row(ctx context.Context, text string, args ...any) *sql.Row {
	return t.QueryRowContext(ctx, t.d.marked(text), args...)
}

// write runs a transaction. Errors of the catalogue stay as they are.
func (s *Storage) write(ctx context.Context, do func(tx *tx) error) error {
	var one *sql.Tx
	err := s.again(func() (err error) { one, err = s.db.BeginTx(ctx, nil); return err })
	if err == nil {
		if err = do(&tx{one, s.d}); err == nil {
			err = one.Commit()
		} else {
			err = errors.Join(err, one.Rollback())
		}
	}
	switch {
	case err == nil || diag.CodeOf(err) != "":
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return s.failed(err)
}

// again does something that changes nothing twice, where a server has ended the connections that wait.
func (s *Storage) again(do func() error) error {
	err := do()
	var answer *pgconn.PgError
	for range s.db.Stats().Idle + 1 {
		if err == nil || !s.d.numbered || errors.As(err, &answer) {
			break
		}
		err = do()
	}
	return err
}

// known is error L1104 where there is no study of an ID. end ends the question.
func known(ctx context.Context, tx *tx, id search.StudyID, end string) (name string, err error) {
	err = tx.row(ctx, `SELECT study_name FROM studies WHERE study_id = ?`+end, id).Scan(&name)
	if errors.Is(err, sql.ErrNoRows) {
		err = search.NoStudy(id)
	}
	return name, err
}

// CreateStudy makes a study.
func (s *Storage) CreateStudy(ctx context.Context, name string, directions []search.Direction) (id search.StudyID,
	err error) {
	err = s.write(ctx, func(tx *tx) error {
		err := tx.row(ctx, `INSERT INTO studies (study_name) VALUES (?)
			ON CONFLICT (study_name) DO NOTHING RETURNING study_id`, name).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return search.NameTaken(name)
		}
		for i, d := range directions {
			if err == nil {
				_, err = tx.exec(ctx, `INSERT INTO study_directions (direction, study_id, objective) VALUES (?, ?, ?)`,
					d.String(), id, i)
			}
		}
		return err
	})
	return id, err
}

// DeleteStudy removes a study with its trials.
func (s *Storage) DeleteStudy(ctx context.Context, id search.StudyID) error {
	return s.write(ctx, func(tx *tx) error {
		if _, err := known(ctx, tx, id, ""); err != nil {
			return err
		}
		for _, t := range []string{trialUser, trialSystem, "trial_params", "trial_values", "trial_intermediate_values",
			"trial_heartbeats"} {
			_, err := tx.exec(ctx, `DELETE FROM `+t+
				` WHERE trial_id IN (SELECT trial_id FROM trials WHERE study_id = ?)`, id)
			if err != nil {
				return err
			}
		}
		for _, t := range []string{"trials", studyUser, studySystem, "study_directions", "studies"} {
			if _, err := tx.exec(ctx, `DELETE FROM `+t+` WHERE study_id = ?`, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// Studies are all of them, in the order of their making.
func (s *Storage) Studies(ctx context.Context) (out []*search.StudyInfo, err error) {
	at := map[search.StudyID]*search.StudyInfo{}
	err = s.rows(ctx, `SELECT study_id, study_name FROM studies ORDER BY study_id`, nil, func(r *sql.Rows) error {
		info := &search.StudyInfo{User: search.Attributes{}, System: search.Attributes{}}
		err := r.Scan(&info.ID, &info.Name)
		at[info.ID], out = info, append(out, info)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = s.rows(ctx, `SELECT study_id, direction FROM study_directions ORDER BY study_id, objective`, nil,
		func(r *sql.Rows) error {
			var id search.StudyID
			var word string
			err := r.Scan(&id, &word)
			if info := at[id]; info != nil {
				d := search.Minimize
				if word == search.Maximize.String() {
					d = search.Maximize
				}
				info.Directions = append(info.Directions, d)
			}
			return err
		})
	for _, table := range []string{studyUser, studySystem} {
		if err != nil {
			return nil, err
		}
		err = s.rows(ctx, `SELECT study_id, "key", value_json FROM `+table, nil, func(r *sql.Rows) error {
			var id search.StudyID
			var key, value string
			err := r.Scan(&id, &key, &value)
			if info := at[id]; info != nil && table == studyUser {
				info.User[key] = []byte(value)
			} else if info != nil {
				info.System[key] = []byte(value)
			}
			return err
		})
	}
	return out, err
}

// rows reads the rows of a question.
func (s *Storage) rows(ctx context.Context, question string, args []any, each func(*sql.Rows) error) error {
	var r *sql.Rows
	err := s.again(func() (err error) { r, err = s.db.QueryContext(ctx, s.d.marked(question), args...); return err })
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return s.failed(err)
	}
	defer r.Close()
	for r.Next() {
		if err := each(r); err != nil {
			return s.failed(err)
		}
	}
	if err := r.Err(); err != nil {
		return s.failed(err)
	}
	return nil
}

// insert adds rows to a table, or replaces those of the same key: columns are its names, the first keys of which are
// the key.
func insert(ctx context.Context, tx *tx, table string, columns []string, keys int, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	var set []string
	for _, c := range columns[keys:] {
		set = append(set, c+" = excluded."+c)
	}
	one := "(" + strings.TrimSuffix(strings.Repeat("?, ", len(columns)), ", ") + ")"
	for part := range slices.Chunk(rows, 500) { // a statement has no more than so many marks
		text := fmt.Sprintf("INSERT INTO %s (%s) VALUES %s ON CONFLICT (%s) DO UPDATE SET %s", table,
			strings.Join(columns, ", "), strings.TrimSuffix(strings.Repeat(one+", ", len(part)), ", "),
			strings.Join(columns[:keys], ", "), strings.Join(set, ", "))
		if _, err := tx.exec(ctx, text, slices.Concat(part...)...); err != nil {
			return err
		}
	}
	return nil
}

// attrs adds attributes to a study or to a trial.
func attrs(ctx context.Context, tx *tx, of string, id int64, list []search.Attr) error {
	for _, system := range []bool{false, true} {
		table := of + "_user_attributes"
		if system {
			table = of + "_system_attributes"
		}
		at := map[string]int{} // the last value of a key counts
		var rows [][]any
		for _, a := range list {
			if a.System != system {
				continue
			}
			if _, has := at[a.Key]; !has {
				at[a.Key], rows = len(rows), append(rows, nil)
			}
			rows[at[a.Key]] = []any{id, a.Key, string(a.Value)}
		}
		if err := insert(ctx, tx, table, []string{of + "_id", `"key"`, "value_json"}, 2, rows); err != nil {
			return err
		}
	}
	return nil
}

// SetStudy sets attributes of a study.
func (s *Storage) SetStudy(ctx context.Context, id search.StudyID, list ...search.Attr) error {
	return s.write(ctx, func(tx *tx) error {
		if _, err := known(ctx, tx, id, ""); err != nil {
			return err
		}
		return attrs(ctx, tx, "study", int64(id), list)
	})
}

// Close closes the file.
func (s *Storage) Close() error { return s.db.Close() }

// layout is how times stand in the tables: UTC, without a zone.
const layout = "2006-01-02 15:04:05.000000"

func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(layout)
}

func timeOf(text sql.NullString) time.Time {
	t, err := time.Parse("2006-01-02 15:04:05.999999", text.String)
	if err != nil {
		return time.Time{}
	}
	return t
}
