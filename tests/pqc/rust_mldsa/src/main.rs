//! ML-DSA of libcrux, for test_other_ml_dsa.py: a line of words, a line back. Messages and contexts
//! have a byte before them, as no word is empty.
//!
//! key SET SEED                             -> PK
//! sign SET SEED MESSAGE CONTEXT            -> SIGNATURE, deterministic
//! verify SET PK MESSAGE CONTEXT SIGNATURE  -> 01 or 00

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
    ($set:ident, $public:ident, $signature:ident, $words:expr) => {{
        use libcrux_ml_dsa::$set;
        let words = $words;
        if words[0] == "verify" {
            let pk = $set::$public::new(array(words[2]));
            let signature = $set::$signature::new(array(words[5]));
            let (message, context) = (bytes(words[3]), bytes(words[4]));
            let valid = $set::verify(&pk, &message[1..], &context[1..], &signature).is_ok();
            hex(&[valid as u8])
        } else {
            let pair = $set::generate_key_pair(array(words[2]));
            if words[0] == "key" {
                hex(pair.verification_key.as_slice())
            } else {
                let (message, context) = (bytes(words[3]), bytes(words[4]));
                let signature =
                    $set::sign(&pair.signing_key, &message[1..], &context[1..], [0; 32]).unwrap();
                hex(signature.as_slice())
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
                "ML-DSA-44" =>
                    answer!(ml_dsa_44, MLDSA44VerificationKey, MLDSA44Signature, &words),
                "ML-DSA-65" =>
                    answer!(ml_dsa_65, MLDSA65VerificationKey, MLDSA65Signature, &words),
                _ => answer!(ml_dsa_87, MLDSA87VerificationKey, MLDSA87Signature, &words),
            }
        );
    }
}
