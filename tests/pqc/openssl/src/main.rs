//! Prints the folder of OpenSSL's sources, which Cargo has fetched and whose hash it has checked.
fn main() {
    println!("{}", openssl_src::source_dir().display());
}
