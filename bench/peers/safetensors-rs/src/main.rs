//! safetensors-rs open TIMES FILE: a worker of the benchmarks, as bench/bench.h describes them.
//!
//! Opening is what the library's users do: open, map, deserialize. Closing is not counted.

use std::fs::File;
use std::hint::black_box;
use std::io::{self, BufRead, Write};
use std::time::{Duration, Instant};

use memmap2::Mmap;
use safetensors::SafeTensors;

fn open_once(path: &str) -> (Duration, usize) {
    let begin = Instant::now();
    let file = File::open(path).expect("open");
    // The file is the benchmark's own: nobody changes it meanwhile.
    let map = unsafe { Mmap::map(&file) }.expect("map");
    let tensors = black_box(SafeTensors::deserialize(&map).expect("deserialize"));
    (begin.elapsed(), tensors.len())
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.len() != 4 || arguments[1] != "open" {
        eprintln!("usage: safetensors-rs open TIMES FILE");
        std::process::exit(4);
    }
    let times: u32 = arguments[2].parse().expect("TIMES");
    let path = &arguments[3];
    println!("name safetensors 0.8.0\nwork {} tensors\nready", open_once(path).1);
    for line in io::stdin().lock().lines() {
        assert_eq!(line.expect("read"), "run");
        open_once(path);
        let sum: Duration = (0..times).map(|_| open_once(path).0).sum();
        println!("{:.1}", sum.as_nanos() as f64 / f64::from(times));
        io::stdout().flush().expect("write");
    }
}
