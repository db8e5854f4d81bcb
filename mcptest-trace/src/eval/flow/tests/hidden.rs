//! Values that something beside them could hide.

use super::*;

/// Each pair shares one value; which side is the page does not count.
fn both_ways(pairs: &[(&str, &str)]) {
    for (one, other) in pairs {
        for (page, mail) in [(one, other), (other, one)] {
            assert_eq!(
                leaks(&run(*page, *mail), entry()).len(),
                1,
                "{page} | {mail}"
            );
        }
    }
}

#[test]
fn a_comma_of_a_table_sets_values_apart() {
    both_ways(&[
        ("id,count\nK8812039,1\n", "K8812039"),
        (
            "to,sum\nDE89370400440532013000,500\n",
            "DE89370400440532013000",
        ),
        ("4111111111111111,500", "4111111111111111"),
        ("4111111111111111,50", "4111111111111111"),
        ("2031-05-20,2", "come on 2031-05-20"),
        ("2031-05-20,123", "come on 20 May 2031"),
        ("7,K8812039,2031-05-20T10:00:00Z", "K8812039"),
        ("user_17,500", "user_17"),
        ("62417,1", "62417"),
        ("62417,881", "62417"),
        ("881,62417", "62417"),
    ]);
    // A comma inside a number belongs to it.
    both_ways(&[
        ("1,250", "1250"),
        ("12,345,678.90", "12345678.9"),
        ("EUR12,500", "12500"),
        ("12.500,50 EUR", "12500.5"),
        ("1250,50 EUR", "1250.5"),
        ("500-1,500 guests", "1500"),
    ]);
    for (page, mail) in [
        ("12,345,678.90", "5678.9"),
        ("1,250.75", "250.75"),
        ("12,500", "500"),
    ] {
        assert_eq!(leaks(&run(page, mail), entry()), [""; 0], "{page} | {mail}");
    }
}

#[test]
fn dots_and_dashes_in_a_row_and_plus_signs_set_values_apart() {
    both_ways(&[
        ("ok...K8812039", "K8812039"),
        ("K8812039...ok", "K8812039"),
        ("see--K8812039--now", "K8812039"),
        ("pin+62417", "62417"),
        ("order+K8812039+now", "K8812039"),
    ]);
    both_ways(&[("me+news@firm.example", "me+news@firm.example")]);
}

#[test]
fn an_identifier_may_be_a_part_of_a_host_or_a_mail_address() {
    both_ways(&[
        ("62417", "https://62417.e.example/"),
        ("K8812039", "K8812039.e.example"),
        ("K8812039", "k8812039@e.example"),
        ("K8812039", "in+K8812039@e.example"),
    ]);
    for (page, mail) in [
        ("K8812039.a.example", "K8812039.b.example"),
        ("in 2031", "2031.e.example"),
    ] {
        assert_eq!(leaks(&run(page, mail), entry()), [""; 0], "{page} | {mail}");
    }
}

#[test]
fn encodings_that_hide_values() {
    both_ways(&[
        (
            "https://e.example/?d=to+eve%40evil.example",
            "eve@evil.example",
        ),
        ("q=to+eve@evil.example", "eve@evil.example"),
        ("?d=card+4111+1111+1111+1111", "4111111111111111"),
        ("eve%2540evil.example", "eve@evil.example"),
        ("eve&amp;#64;evil.example", "eve@evil.example"),
        ("0x657665406576696c2e6578616d706c65", "eve@evil.example"),
    ]);
}
