// top.go - an example in Go: print the functions with the highest values of any profile
//
//	go run top.go FILE [ROWS]        default: 10 rows
//
// Columns: self, total, name. pkg-config finds the library; PKG_CONFIG_PATH names its directory, if it is
// not installed in a standard place.
package main

/*
#cgo pkg-config: pcol
#include <pcol.h>
#include <stdlib.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"unsafe"
)

// Row is a row of the result.
type Row struct {
	Self, Total float64
	Name        string
}

func failure(err *C.pcol_error) error {
	place := make([]byte, 192)
	C.pcol_error_place(err, (*C.char)(unsafe.Pointer(&place[0])), C.size_t(len(place)))
	text := C.GoString(&err.message[0])
	if place[0] != 0 {
		text = C.GoString((*C.char)(unsafe.Pointer(&place[0]))) + ": " + text
	}
	return errors.New(text)
}

func column(table *C.pcol_table, name string) *C.pcol_column {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	return C.pcol_table_column_by_name(table, text, nil)
}

// Top returns the rows of the profile at path, at most `most` of them. Go's pointers do not outlive
// the calls; everything that the library gave out is released at the end.
func Top(path string, most uint64) ([]Row, error) {
	var file *C.pcol_file
	var query *C.pcol_query
	var result *C.pcol_result
	var err C.pcol_error

	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	if C.pcol_open_any_path(name, nil, &file, &err) != C.PCOL_OK {
		return nil, failure(&err)
	}
	defer C.pcol_file_close(file)
	if C.pcol_query_new(file, nil, nil, &query, &err) != C.PCOL_OK {
		return nil, failure(&err)
	}
	defer C.pcol_query_free(query)
	if C.pcol_query_top(query, nil, &result, &err) != C.PCOL_OK {
		return nil, failure(&err)
	}
	defer C.pcol_result_free(result)

	table := C.pcol_result_table(result)
	count := uint64(C.pcol_table_rows(table))
	if count > most {
		count = most
	}
	self, total, names := column(table, "self"), column(table, "total"), column(table, "name")
	rows := make([]Row, 0, count)
	for i := uint64(0); i < count; i++ {
		var a, b C.double
		var text C.pcol_str
		if C.pcol_column_f64(self, C.uint64_t(i), &a, nil, &err) != C.PCOL_OK ||
			C.pcol_column_f64(total, C.uint64_t(i), &b, nil, &err) != C.PCOL_OK ||
			C.pcol_column_str(names, C.uint64_t(i), &text, nil, &err) != C.PCOL_OK {
			return nil, failure(&err)
		}
		rows = append(rows, Row{float64(a), float64(b), C.GoStringN(text.data, C.int(text.size))})
	}
	return rows, nil
}

func main() {
	most := uint64(10)
	var bad error
	if len(os.Args) == 3 {
		most, bad = strconv.ParseUint(os.Args[2], 10, 64)
	}
	if len(os.Args) < 2 || len(os.Args) > 3 || bad != nil {
		fmt.Fprintln(os.Stderr, "usage: top FILE [ROWS]")
		os.Exit(2)
	}
	rows, err := Top(os.Args[1], most)
	if err != nil {
		fmt.Fprintf(os.Stderr, "top: %s: %s\n", os.Args[1], err)
		os.Exit(1)
	}
	for _, row := range rows {
		fmt.Printf("%.15g\t%.15g\t%s\n", row.Self, row.Total, row.Name)
	}
}
