//! What a page and an argument share although neither has it from the other.

use super::names::{any_tool, called};
use super::*;

#[test]
fn a_url_that_the_user_said_is_no_name_of_its_words() {
    let leaking = |user: &str, url: &str| {
        let run = called(url, "open", "link", url);
        let told = Told::default().with_user(user);
        let entry = any_tool().with_unless(FlowUnless::User);
        trace_flow_with(&run, &Flow::new([entry]), &told)
            .leaks
            .len()
    };
    for said in ["http://www.ok.example/a1", "www.ok.example/a1/"] {
        assert_eq!(leaking(said, "https://ok.example/a1"), 0, "{said}");
        assert_eq!(leaking(said, "https://ok.example/a1/"), 0, "{said}");
    }
    assert_eq!(leaking("http://ok.example/a2", "https://ok.example/a1"), 1);
}
