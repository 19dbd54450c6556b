// Allocates ordinary, grown, zeroed and aligned blocks. given_back() frees its blocks, and forgotten() leaks its blocks.
use std::hint::black_box;

#[repr(align(256))]
struct Aligned([u8; 768]);

#[inline(never)]
fn given_back(count: u64) -> u64 {
    let mut grown = Vec::with_capacity(4);
    for number in 0..count {
        grown.push(number);
    }
    let zeroed = black_box(vec![0u64; 333]);
    let aligned = black_box(Box::new(Aligned([1; 768])));
    black_box(&grown).iter().sum::<u64>() + zeroed[7] + u64::from(aligned.0[7])
}

#[inline(never)]
fn forgotten() -> usize {
    let boxed = Box::leak(black_box(Box::new([7u8; 4097])));
    let aligned = Box::leak(black_box(Box::new(Aligned([1; 768]))));
    let mut grown = Vec::with_capacity(3);
    for number in 0..65u16 {
        grown.push(number);
    }
    grown.shrink_to_fit();
    boxed.len() + aligned.0.len() + black_box(grown).leak().len()
}

fn main() {
    println!("{} {}", given_back(1000), forgotten());
}
