// demo - a small program whose profiles are the test data of this folder.
//
// It does a little of everything that a Go profile can show: work with labels, inlined calls, recursion,
// allocations of many sizes, goroutines that wait, a contended mutex, a channel that blocks. Each profile is
// written at the end, in the compressed form and, where Go has one, in the text form of debug=1.
//
//	demo FOLDER
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"sort"
	"strings"
	"sync"
	"time"
)

var folder string

// Results go here, so that the compiler keeps the work.
var sink struct {
	sync.Mutex
	number int
	text   string
	kept   [][]byte
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// mix is small enough to be inlined: one location with two lines.
func mix(a, b uint32) uint32 { return (a^b)*16777619 + a>>7 }

func hash(text string) uint32 {
	h := uint32(2166136261)
	for i := 0; i < len(text); i++ {
		h = mix(h, uint32(text[i]))
	}
	return h
}

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

type table struct{ rows []string }

func (t *table) fill(n int) {
	t.rows = t.rows[:0]
	for i := 0; i < n; i++ {
		t.rows = append(t.rows, fmt.Sprintf("row %d", (i*7919)%n))
	}
}

func (t *table) order() { sort.Strings(t.rows) }

func work(kind string, until time.Time) {
	t := &table{}
	for time.Now().Before(until) {
		switch kind {
		case "count":
			sink.number += fib(22)
		case "hash":
			for i := 0; i < 300; i++ {
				sink.number += int(hash("the quick brown fox"))
			}
		default:
			t.fill(500)
			t.order()
			sink.text = strings.Join(t.rows, ",")
		}
	}
}

// Samples with two labels, with one of no text, and without any.
func cpu() {
	runtime.GC()
	out, err := os.Create(filepath.Join(folder, "cpu.pb.gz"))
	check(err)
	check(pprof.StartCPUProfile(out))
	for i, kind := range []string{"count", "hash", "order", "", "count"} {
		until := time.Now().Add(250 * time.Millisecond)
		if kind == "" {
			work("order", until)
			continue
		}
		labels := pprof.Labels("kind", kind, "request", fmt.Sprint("r", i))
		if i == 4 {
			labels = pprof.Labels("kind", kind, "none", "")
		}
		pprof.Do(context.Background(), labels, func(context.Context) { work(kind, until) })
	}
	pprof.StopCPUProfile()
	check(out.Close())
}

func allocate() {
	for i := 0; i < 2000; i++ {
		sink.kept = append(sink.kept, make([]byte, 64<<(i%8)))
	}
	for i := 0; i < 2000; i++ {
		sink.kept[i%50] = make([]byte, 4096)
		sink.text = strings.Repeat("x", 300)
	}
}

func holder(m *sync.Mutex, n int, done *sync.WaitGroup) {
	for i := 0; i < n; i++ {
		m.Lock()
		time.Sleep(200 * time.Microsecond)
		m.Unlock()
	}
	done.Done()
}

func contend() {
	var m, other sync.Mutex
	var done sync.WaitGroup
	done.Add(5)
	for i := 0; i < 3; i++ {
		go holder(&m, 40, &done)
	}
	for i := 0; i < 2; i++ {
		go func() { holder(&other, 10, &done) }()
	}
	done.Wait()
	ready := make(chan int)
	go func() {
		for i := 0; i < 20; i++ {
			time.Sleep(time.Millisecond)
			ready <- i
		}
		close(ready)
	}()
	for n := range ready {
		sink.number += n
	}
}

func wait(never chan struct{}) { <-never }

func park(started *sync.WaitGroup) chan struct{} {
	never := make(chan struct{})
	started.Add(12)
	for i := 0; i < 7; i++ {
		go func() {
			started.Done()
			wait(never)
		}()
	}
	labels := pprof.Labels("pool", "parked", "zone", "a b")
	for i := 0; i < 5; i++ {
		go pprof.Do(context.Background(), labels, func(context.Context) {
			started.Done()
			wait(never)
		})
	}
	return never
}

func write(name string, debug int, file string) {
	out, err := os.Create(filepath.Join(folder, file))
	check(err)
	check(pprof.Lookup(name).WriteTo(out, debug))
	check(out.Close())
}

func main() {
	folder = os.Args[1]
	runtime.MemProfileRate = 65536
	runtime.SetMutexProfileFraction(1)
	runtime.SetBlockProfileRate(1000)

	allocate()
	contend()
	cpu()
	runtime.GC()
	write("heap", 0, "heap.pb.gz")
	write("heap", 1, "heap.debug1.txt")
	write("mutex", 0, "mutex.pb.gz")
	write("mutex", 1, "mutex.debug1.txt")
	write("block", 0, "block.pb.gz")
	write("block", 1, "block.debug1.txt")

	var started sync.WaitGroup
	never := park(&started)
	started.Wait()
	time.Sleep(10 * time.Millisecond)
	write("goroutine", 0, "goroutine.pb.gz")
	write("goroutine", 1, "goroutine.debug1.txt")
	write("threadcreate", 0, "threadcreate.pb.gz")
	write("threadcreate", 1, "threadcreate.debug1.txt")
	close(never)
}
