//! ML-KEM of libcrux, for test_other_implementations.py: a line of words, a line back.
//!
//! key SET SEED             -> EK
//! encapsulate SET EK M     -> C K
//! decapsulate SET SEED C   -> K

use std::io::{self, BufRead};

fn bytes(word: &str) -> Vec<u8> {
    (0..word.len()).step_by(2).map(|k| u8::from_str_radix(&word[k..k + 2], 16).unwrap()).collect()
}

fn hex(data: &[u8]) -> String {
    data.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn array<const N: usize>(word: &str) -> [u8; N] {
    bytes(word).try_into().unwrap()
}

macro_rules! answer {
    ($set:ident, $public:ident, $ciphertext:ident, $words:expr) => {{
        use libcrux_ml_kem::$set;
        let words = $words;
        if words[0] == "encapsulate" {
            let ek = $set::$public::from(array(words[2]));
            let (c, key) = $set::encapsulate(&ek, array(words[3]));
            format!("{} {}", hex(c.as_ref()), hex(&key))
        } else {
            let pair = $set::generate_key_pair(array(words[2]));
            if words[0] == "key" {
                hex(pair.pk())
            } else {
                let c = $set::$ciphertext::from(array(words[3]));
                hex(&$set::decapsulate(pair.private_key(), &c))
            }
        }
    }};
}

fn main() {
    for line in io::stdin().lock().lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        println!(
            "{}",
            match words[1] {
                "ML-KEM-512" => answer!(mlkem512, MlKem512PublicKey, MlKem512Ciphertext, &words),
                "ML-KEM-768" => answer!(mlkem768, MlKem768PublicKey, MlKem768Ciphertext, &words),
                _ => answer!(mlkem1024, MlKem1024PublicKey, MlKem1024Ciphertext, &words),
            }
        );
    }
}
