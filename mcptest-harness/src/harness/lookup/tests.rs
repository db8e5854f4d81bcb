//! Where recorded runs are looked for.

use std::cmp::Ordering;
use std::fs;

use super::*;

/// A crate with files, and what an agent looks for in it.
fn files_of(files: &[&str], cassette: Option<&str>) -> Result<Vec<String>, PlaceError> {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file).unwrap();
    }
    let wanted = RunLookup {
        crate_dir: folder.path(),
        shown_from: folder.path(),
        suite_dir: &folder.path().join("suites/shop"),
        suite_stem: "shop/orders".into(),
        cassette,
        stems: vec!["Agent__m".to_owned()],
        agents: &[],
        near: &OnceLock::new(),
    };
    Ok(wanted
        .files()?
        .into_iter()
        .map(|(_, shown)| shown)
        .collect())
}

#[test]
fn each_layout_is_found_in_each_place() {
    for place in ["suites/shop/cassettes", "cassettes/shop/orders"] {
        for (layout, count) in [
            (vec!["Agent__m.json"], 1),
            (vec!["Agent__m.jsonl"], 1),
            (vec!["Agent__m/run-10.json", "Agent__m/run-2.json"], 2),
        ] {
            let files: Vec<String> = layout
                .iter()
                .map(|file| format!("{place}/{file}"))
                .collect();
            let found =
                files_of(&files.iter().map(String::as_str).collect::<Vec<_>>(), None).unwrap();
            assert_eq!(found.len(), count);
        }
    }
}

#[test]
fn runs_come_in_natural_order_and_other_files_are_not_runs() {
    let found = files_of(
        &[
            "cassettes/shop/orders/Agent__m/run-10.json",
            "cassettes/shop/orders/Agent__m/run-2.json",
            "cassettes/shop/orders/Agent__m/.run-3.json",
            "cassettes/shop/orders/Agent__m/notes.txt",
        ],
        None,
    );
    assert_eq!(
        found.unwrap(),
        [
            "cassettes/shop/orders/Agent__m/run-2.json",
            "cassettes/shop/orders/Agent__m/run-10.json"
        ]
    );
}

#[test]
fn two_places_or_two_layouts_are_an_error_that_names_both() {
    let both = files_of(
        &[
            "suites/shop/cassettes/Agent__m.json",
            "cassettes/shop/orders/Agent__m.jsonl",
        ],
        None,
    );
    let PlaceError::Several(places) = both.unwrap_err() else {
        panic!("another error")
    };
    assert_eq!(
        places,
        [
            "suites/shop/cassettes/Agent__m.json",
            "cassettes/shop/orders/Agent__m.jsonl"
        ]
    );
    assert!(
        files_of(
            &[
                "cassettes/shop/orders/Agent__m.json",
                "cassettes/shop/orders/Agent__m/a.json"
            ],
            None
        )
        .is_err()
    );
    assert!(
        files_of(
            &[
                "x/a.json",
                "suites/shop/x/a.json",
                "suites/shop/cassettes/Agent__m.json"
            ],
            Some("x/a.json")
        )
        .is_err()
    );
}

#[test]
fn an_own_place_may_be_a_file_a_folder_or_a_pattern() {
    let files = [
        "suites/shop/x/a-2.json",
        "suites/shop/x/a-10.json",
        "suites/shop/x/b.jsonl",
    ];
    assert_eq!(
        files_of(&files, Some("x/b.jsonl")).unwrap(),
        ["suites/shop/x/b.jsonl"]
    );
    let both = ["suites/shop/x/a-2.json", "suites/shop/x/a-10.json"];
    assert_eq!(files_of(&files, Some("x")).unwrap(), both);
    assert_eq!(files_of(&files, Some("x/a-*.json")).unwrap(), both);
    assert!(matches!(
        files_of(&files, Some("x/[a")),
        Err(PlaceError::Unusable { .. })
    ));
    assert!(matches!(
        files_of(&files, Some("y/*.json")),
        Err(PlaceError::Unusable { .. })
    ));
}

#[test]
fn an_own_place_may_be_the_usual_one() {
    let files = [
        "suites/shop/cassettes/Agent__m.json",
        "suites/shop/cassettes/Other__m.json",
    ];
    for cassette in [
        "cassettes/Agent__m.json",
        "./cassettes/Agent__m.json",
        "cassettes/A*.json",
    ] {
        let found = files_of(&files, Some(cassette)).unwrap();
        assert_eq!(found.len(), 1, "{cassette}");
    }
    let folder = [
        "suites/shop/cassettes/Agent__m/1.json",
        "suites/shop/cassettes/Agent__m/2.json",
    ];
    assert_eq!(
        files_of(&folder, Some("cassettes/Agent__m")).unwrap().len(),
        2
    );
}

#[test]
fn numbers_in_names_count_as_numbers() {
    let mut names = ["run-10", "run-2", "run-02", "run-1", "a", "run-2b", "run"];
    names.sort_by(|left, right| natural_order(Path::new(left), Path::new(right)));
    assert_eq!(
        names,
        ["a", "run", "run-1", "run-02", "run-2", "run-2b", "run-10"]
    );
}

#[test]
fn the_order_is_total_and_huge_numbers_do_not_overflow() {
    let big = format!("run-{}", "9".repeat(400));
    let bigger = format!("run-1{}", "0".repeat(400));
    assert_eq!(
        natural_order(Path::new(&big), Path::new(&bigger)),
        Ordering::Less
    );
    assert_eq!(
        natural_order(Path::new("a"), Path::new("a")),
        Ordering::Equal
    );
}

/// Names that are no text look alike in a message, and are different files.
#[cfg(unix)]
#[test]
fn names_that_are_no_text_have_an_order_too() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let [one, other] =
        [b"run-\xfe.json", b"run-\xff.json"].map(|name| Path::new(OsStr::from_bytes(name)));
    assert_eq!(natural_order(one, other), Ordering::Less);
    assert_eq!(natural_order(other, one), Ordering::Greater);
}

#[test]
fn a_named_place_is_the_only_one() {
    let beside = ["suites/shop/cassettes/Agent__m.json"];
    let PlaceError::Nothing { looked, put, .. } =
        files_of(&beside, Some("nope/x.json")).unwrap_err()
    else {
        panic!("another error")
    };
    assert_eq!(looked, ["suites/shop/nope/x.json"]);
    assert_eq!(put[0], "suites/shop/nope/x.json");
}

#[test]
fn a_pattern_that_nothing_fits_says_what_is_there_and_where_to_record_to() {
    let said = |pattern| match files_of(&["suites/shop/kept/notes.md"], Some(pattern)) {
        Err(PlaceError::Unusable { problem, help }) => (problem, help),
        other => panic!("{other:?}"),
    };
    let (problem, help) = said("../../nope/*.json");
    assert_eq!(
        problem,
        "`cassette: ../../nope/*.json` fits no file: there is no folder nope"
    );
    assert!(
        help.ends_with(
            "to record new runs, write `cassette: ../../nope`, because a pattern names no file"
        ),
        "{help}"
    );
    let (problem, help) = said("kept/run-*.json");
    assert_eq!(
        problem,
        "`cassette: kept/run-*.json` fits no `.json` or `.jsonl` file in suites/shop/kept"
    );
    assert!(
        help.ends_with("write `cassette: kept`, because a pattern names no file"),
        "{help}"
    );
    let (_, help) = said("run-*.json");
    assert!(help.ends_with("because a pattern names no file"), "{help}");
}

#[test]
fn a_run_in_other_letters_is_named_whether_another_is_there_or_not() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("suites/cassettes");
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join("Agent__m.JSON"), "").unwrap();
    fs::write(place.join("agent__m.jsonl.txt"), "").unwrap();
    fs::write(place.join("Agent__m2.json"), "").unwrap();
    let wanted = RunLookup {
        crate_dir: folder.path(),
        shown_from: folder.path(),
        suite_dir: &folder.path().join("suites"),
        suite_stem: "s".into(),
        cassette: None,
        stems: vec!["Agent__m".to_owned()],
        agents: &[],
        near: &OnceLock::new(),
    };
    let named = [
        "suites/cassettes/Agent__m.JSON",
        "suites/cassettes/agent__m.jsonl.txt",
    ];
    let PlaceError::Nothing { near, .. } = wanted.files().unwrap_err() else {
        panic!("another error")
    };
    assert_eq!(near, named);
    fs::write(place.join("Agent__m.json"), "").unwrap();
    assert_eq!(wanted.files_and_rest().unwrap().1, named);
}

#[test]
fn a_pattern_stays_where_it_can_be_walked() {
    let unbounded = |pattern: &str| match files_of(&["suites/shop/a/run.json"], Some(pattern)) {
        Err(PlaceError::Unusable { problem, .. }) if !problem.contains("fits no") => Some(problem),
        _ => None,
    };
    for refused in [
        "../../../**/*.json",
        "../../../../../*/x.json",
        "../../**/*.json",
        "*/../../../**/*.json",
        "a/**/../../*.json",
    ] {
        assert!(unbounded(refused).is_some(), "{refused}");
    }
    for fine in [
        "**/*.json",
        "../**/*.json",
        "../../recorded/*/*.json",
        "../../../runs-*.json",
    ] {
        assert_eq!(unbounded(fine), None, "{fine}");
    }
}

#[test]
fn what_looks_like_a_run_and_is_not_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().join("suites/cassettes/Agent__m");
    fs::create_dir_all(runs.join("old")).unwrap();
    fs::create_dir_all(runs.join(".staged")).unwrap();
    for file in [
        "run-1.json",
        "run-2.jsonl",
        "run-2.JSON",
        "run-3.json.bak",
        "notes.md",
        ".run-4.json",
    ] {
        fs::write(runs.join(file), "").unwrap();
    }
    let wanted = RunLookup {
        crate_dir: folder.path(),
        shown_from: folder.path(),
        suite_dir: &folder.path().join("suites"),
        suite_stem: "s".into(),
        cassette: None,
        stems: vec!["Agent__m".to_owned()],
        agents: &[],
        near: &OnceLock::new(),
    };
    let named = ["old", "run-2.JSON", "run-2.jsonl", "run-3.json.bak"];
    assert_eq!(
        wanted.files_and_rest().unwrap().1,
        named.map(|name| format!("suites/cassettes/Agent__m/{name}"))
    );
}

/// What is found of an agent with these files, asked by the names in its folders.
fn listed(files: &[&str], stem: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let path = folder.path().join("suites/cassettes").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file).unwrap();
    }
    let wanted = RunLookup {
        crate_dir: folder.path(),
        shown_from: folder.path(),
        suite_dir: &folder.path().join("suites"),
        suite_stem: "shop".into(),
        cassette: None,
        stems: vec![stem.to_owned()],
        agents: &[],
        near: &OnceLock::new(),
    };
    let found = wanted.files_and_rest().map(|(files, _)| files);
    let shown = |(_, shown): (PathBuf, String)| shown.replace("suites/cassettes/", "");
    let found = found.unwrap_or_default().into_iter().map(shown);
    found.collect()
}

#[test]
fn a_listing_finds_what_a_look_at_the_disk_finds() {
    for (stem, file) in [
        ("Agent__m", "Agent__m.json"),
        ("Agent__m", "Agent__m.jsonl"),
        ("Agent__m", "Agent__m/run-1.json"),
        ("Größe__m", "Größe__m.json"),
        ("notes.txt", "notes.txt.json"),
        ("notes.txt", "notes.txt/run-1.json"),
    ] {
        assert_eq!(listed(&[file, "Other__m.json"], stem), [file], "{stem}");
    }
    assert!(listed(&["Agent__n.json"], "Agent__m").is_empty());
}

#[test]
fn what_was_recorded_after_the_first_look_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let (suites, near) = (folder.path().join("suites"), OnceLock::new());
    let wanted = RunLookup {
        crate_dir: folder.path(),
        shown_from: folder.path(),
        suite_dir: &suites,
        suite_stem: "shop".into(),
        cassette: None,
        stems: vec!["Agent__m".to_owned()],
        agents: &[],
        near: &near,
    };
    assert!(matches!(wanted.files(), Err(PlaceError::Nothing { .. })));
    let path = suites.join("cassettes/Agent__m/run-1.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "{}").unwrap();
    assert_eq!(wanted.files().unwrap().len(), 1);
    assert!(matches!(wanted.layout(1), Ok(Layout::Folder(_))));
}

#[test]
fn what_may_be_meant_for_a_run_is_named_with_why_it_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("suites/cassettes");
    fs::create_dir_all(place.join("Shop_agent__gpt-5")).unwrap();
    fs::write(place.join("Shop_agent__gpt-5/notes.md"), "").unwrap();
    for name in [
        ".Shop_agent__gpt-5.json",
        ".gitignore",
        "README.md",
        "Other__gpt-5.json",
        "Shop_agent.json",
        "Shop_agent__gpt-4o.json",
        "Shop_agent__gpt-5.json.tmp",
        "Shop_agent__gpt-5 (1).json",
        "Shop_agnt__gpt-5.json",
    ] {
        fs::write(place.join(name), "").unwrap();
    }
    let text = "agents: [{ name: Shop agent, model: gpt-5, prompt: p, calls: { max: 1 } }, { name: Other, model: gpt-5, prompt: p, calls: { max: 1 } }]";
    let suite = mcptest_suite::Source::new("s.yml", "s.yml", text);
    let suite = crate::parse_suite(suite).unwrap();
    let suites = folder.path().join("suites");
    let meant = |cassette| {
        let near = OnceLock::new();
        let wanted = RunLookup {
            crate_dir: folder.path(),
            shown_from: folder.path(),
            suite_dir: &suites,
            suite_stem: "s".into(),
            cassette,
            stems: suite.agents[0].cassette_stems(&suite.agents[0].models[0].value),
            agents: &suite.agents,
            near: &near,
        };
        let PlaceError::Nothing { meant, .. } = wanted.files().unwrap_err() else {
            panic!("another error")
        };
        let told = meant
            .into_iter()
            .map(|(path, why)| format!("{path}: {why}"));
        told.collect::<Vec<_>>()
    };
    let place = "suites/cassettes";
    assert_eq!(
        meant(None),
        [
            format!("{place}/.Shop_agent__gpt-5.json: its name begins with a dot"),
            format!("{place}/Shop_agent.json: its name has no model"),
            format!("{place}/Shop_agent__gpt-4o.json: its name says that it is of another model"),
            format!("{place}/Shop_agent__gpt-5: it holds no `.json` file"),
            format!(
                "{place}/Shop_agent__gpt-5 (1).json: its name goes on after `Shop_agent__gpt-5`; several runs must be in a folder of that name"
            ),
            format!(
                "{place}/Shop_agent__gpt-5.json.tmp: the name of a run ends in `.json` or `.jsonl`"
            ),
            format!(
                "{place}/Shop_agnt__gpt-5.json: its name is similar to `Shop_agent__gpt-5`, but not equal"
            ),
        ]
    );
    assert_eq!(
        meant(Some("cassettes/Shop_agent__gpt-4.json"))[..2],
        [
            format!(
                "{place}/Shop_agent__gpt-4o.json: its name goes on after `Shop_agent__gpt-4`; several runs must be in a folder of that name"
            ),
            format!(
                "{place}/Shop_agent__gpt-5 (1).json: its name is similar to `Shop_agent__gpt-4`, but not equal"
            ),
        ]
    );
}
