// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Postgres is a server of PostgreSQL that ends with its test. It listens on this machine alone.
type Postgres struct {
	// URL is that of its database.
	URL string

	bin, dir string
	port     int
	as       *syscall.SysProcAttr
	server   *exec.Cmd
}

// NeedPostgres starts a server with an empty database. Without the programs of PostgreSQL the test is skipped as Need
// does: scripts/setup --postgres installs them.
func NeedPostgres(t testing.TB) *Postgres {
	t.Helper()
	p := &Postgres{as: &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}}
	if all, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pg_isready"); len(all) > 0 { // as Debian has them
		p.bin = filepath.Dir(all[len(all)-1])
	} else if path, err := exec.LookPath("pg_isready"); err == nil && len(missing([]string{"initdb", "postgres"})) == 0 {
		p.bin = filepath.Dir(path)
	} else {
		message{t.Name() + " needs PostgreSQL (scripts/setup --postgres installs it)", inCI()}.end(t)
	}
	var err error
	if p.dir, err = os.MkdirTemp("", "lathe-postgres-"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(p.dir) })
	if os.Geteuid() == 0 { // the server refuses to run as root
		if err := p.asOwner(); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := p.command("initdb", "-D", filepath.Join(p.dir, "data"), "-A", "trust", "-U", "lathe", "--no-sync",
		"-E", "UTF8").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.port = l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	p.URL = fmt.Sprintf("postgresql://lathe@127.0.0.1:%d/postgres?sslmode=disable", p.port)
	p.Start(t)
	t.Cleanup(p.Stop)
	return p
}

// asOwner has the programs run as the user that Debian's package makes, or nobody.
func (p *Postgres) asOwner() error {
	owner, err := user.Lookup("postgres")
	if err != nil {
		if owner, err = user.Lookup("nobody"); err != nil {
			return err
		}
	}
	uid, err := strconv.Atoi(owner.Uid)
	if err != nil {
		return err
	}
	gid, err := strconv.Atoi(owner.Gid)
	if err != nil {
		return err
	}
	p.as.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return os.Chown(p.dir, uid, gid)
}

func (p *Postgres) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(p.bin, name), args...)
	c.Dir, c.SysProcAttr = p.dir, p.as
	return c
}

// Start starts the server, and waits until it answers.
func (p *Postgres) Start(t testing.TB) {
	t.Helper()
	p.server = p.command("postgres", "-D", filepath.Join(p.dir, "data"), "-k", p.dir, "-p", strconv.Itoa(p.port),
		"-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "max_connections=60")
	var log bytes.Buffer
	p.server.Stderr = &log
	if err := p.server.Start(); err != nil {
		t.Fatal(err)
	}
	for range 600 {
		if p.command("pg_isready", "-h", "127.0.0.1", "-p", strconv.Itoa(p.port), "-q").Run() == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	p.Stop()
	t.Fatalf("PostgreSQL does not answer\n%s", log.String())
}

// Stop ends the server at once: those that are connected lose it.
func (p *Postgres) Stop() {
	if p.server == nil {
		return
	}
	_ = p.server.Process.Signal(syscall.SIGQUIT)
	_ = p.server.Wait()
	p.server = nil
}
