// top.rs - an example in Rust: print the functions with the highest values of any profile
//
//     rustc -O top.rs $(pkg-config --libs-only-L pcol) -l pcol && ./top FILE [ROWS]    default: 10 rows
//
// Columns: self, total, name. No crate is needed: the declarations of pcol.h that the program uses
// are written out here. Opaque handles are owned by types that release them.
use std::ffi::{CStr, CString};
use std::fmt;
use std::io::Write;
use std::os::raw::{c_char, c_int, c_void};
use std::ptr::{null, null_mut};

mod sys {
    use super::{c_char, c_int, c_void};

    /// `pcol_error`: the library writes all of it, so its layout is that of pcol.h.
    #[repr(C)]
    pub struct Error {
        pub status: c_int,
        pub os_error: i32,
        pub offset: u64,
        pub inflated_offset: u64,
        pub line: u64,
        pub text_column: u64,
        pub row: u64,
        pub table: [c_char; 48],
        pub column: [c_char; 48],
        pub message: [c_char; 320],
        pub reserved: [u64; 8],
    }

    /// `pcol_str`: borrowed bytes, not terminated, not necessarily UTF-8.
    #[repr(C)]
    pub struct Str {
        pub data: *const c_char,
        pub size: usize,
    }

    macro_rules! opaque {
        ($($name:ident),*) => { $(#[repr(C)] pub struct $name { _private: [u8; 0] })* };
    }
    opaque!(File, Query, Result, Table, Column);

    #[link(name = "pcol")]
    extern "C" {
        pub fn pcol_open_any_path(path: *const c_char, options: *const c_void, file: *mut *mut File, err: *mut Error) -> c_int;
        pub fn pcol_file_close(file: *mut File);
        pub fn pcol_query_new(
            file: *const File, selection: *const c_void, control: *const c_void, query: *mut *mut Query, err: *mut Error,
        ) -> c_int;
        pub fn pcol_query_free(query: *mut Query);
        pub fn pcol_query_top(query: *mut Query, options: *const c_void, result: *mut *mut Result, err: *mut Error) -> c_int;
        pub fn pcol_result_free(result: *mut Result);
        pub fn pcol_result_table(result: *const Result) -> *const Table;
        pub fn pcol_table_rows(table: *const Table) -> u64;
        pub fn pcol_table_column_by_name(table: *const Table, name: *const c_char, index: *mut u32) -> *const Column;
        pub fn pcol_column_f64(column: *const Column, row: u64, value: *mut f64, valid: *mut c_int, err: *mut Error) -> c_int;
        pub fn pcol_column_str(column: *const Column, row: u64, value: *mut Str, valid: *mut c_int, err: *mut Error) -> c_int;
        pub fn pcol_error_place(err: *const Error, text: *mut c_char, size: usize) -> *const c_char;
    }
}

struct Failure(String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Makes a call, and its error a `Failure` with the place and the message.
fn call(f: impl FnOnce(*mut sys::Error) -> c_int) -> Result<(), Failure> {
    let mut err = std::mem::MaybeUninit::<sys::Error>::zeroed();
    if f(err.as_mut_ptr()) == 0 {
        return Ok(());
    }
    let mut place = [0 as c_char; 192];
    // The library has filled the error and ends both texts with a NUL.
    let (place, message) = unsafe {
        let err = err.assume_init_ref();
        sys::pcol_error_place(err, place.as_mut_ptr(), place.len());
        (CStr::from_ptr(place.as_ptr()).to_string_lossy().into_owned(), CStr::from_ptr(err.message.as_ptr()).to_string_lossy())
    };
    Err(Failure(if place.is_empty() { message.into_owned() } else { format!("{}: {}", place, message) }))
}

/// A profile of any format. Its results may outlive it: they hold a reference of their own.
struct Profile(*mut sys::File);

impl Profile {
    fn open(path: &str) -> Result<Profile, Failure> {
        let name = CString::new(path).map_err(|_| Failure("a path has a NUL".to_string()))?;
        let mut file = null_mut();
        call(|err| unsafe { sys::pcol_open_any_path(name.as_ptr(), null(), &mut file, err) })?;
        Ok(Profile(file))
    }

    fn top(&self) -> Result<Top, Failure> {
        let (mut query, mut result) = (null_mut(), null_mut());
        call(|err| unsafe { sys::pcol_query_new(self.0, null(), null(), &mut query, err) })?;
        let done = call(|err| unsafe { sys::pcol_query_top(query, null(), &mut result, err) });
        unsafe { sys::pcol_query_free(query) };
        done.map(|()| Top(result))
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        unsafe { sys::pcol_file_close(self.0) }
    }
}

struct Top(*mut sys::Result);

impl Top {
    fn table(&self) -> *const sys::Table {
        unsafe { sys::pcol_result_table(self.0) }
    }

    fn rows(&self) -> u64 {
        unsafe { sys::pcol_table_rows(self.table()) }
    }

    fn column(&self, name: &str) -> *const sys::Column {
        let name = CString::new(name).expect("names of columns have no NUL");
        unsafe { sys::pcol_table_column_by_name(self.table(), name.as_ptr(), null_mut()) }
    }

    fn number(&self, column: &str, row: u64) -> Result<f64, Failure> {
        let mut value = 0.0;
        call(|err| unsafe { sys::pcol_column_f64(self.column(column), row, &mut value, null_mut(), err) })?;
        Ok(value)
    }

    /// Bytes that belong to the result.
    fn name(&self, row: u64) -> Result<&[u8], Failure> {
        let mut text = sys::Str { data: null(), size: 0 };
        call(|err| unsafe { sys::pcol_column_str(self.column("name"), row, &mut text, null_mut(), err) })?;
        if text.size == 0 {
            return Ok(&[]);
        }
        Ok(unsafe { std::slice::from_raw_parts(text.data as *const u8, text.size) })
    }
}

impl Drop for Top {
    fn drop(&mut self) {
        unsafe { sys::pcol_result_free(self.0) }
    }
}

fn print(path: &str, most: u64) -> Result<(), Failure> {
    let top = Profile::open(path)?.top()?;
    let mut out = std::io::BufWriter::new(std::io::stdout());
    for row in 0..top.rows().min(most) {
        let (own, total) = (top.number("self", row)?, top.number("total", row)?);
        let name = top.name(row)?;
        write!(out, "{}\t{}\t", own, total)
            .and_then(|()| out.write_all(name))
            .and_then(|()| out.write_all(b"\n"))
            .map_err(|e| Failure(e.to_string()))?;
    }
    out.flush().map_err(|e| Failure(e.to_string()))
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let most = words.get(1).map_or(Ok(10), |word| word.parse());
    let code = match (words.len(), most) {
        (1..=2, Ok(most)) => match print(&words[0], most) {
            Ok(()) => 0,
            Err(failure) => {
                eprintln!("top: {}: {}", words[0], failure);
                1
            }
        },
        _ => {
            eprintln!("usage: top FILE [ROWS]");
            2
        }
    };
    std::process::exit(code);
}
