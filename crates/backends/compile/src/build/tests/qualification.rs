//! Compilers with planted bugs are detected, used with safer flags or not at all, and qualified only once.

use super::ownership::set_mode;
use super::*;

/// A wrapper around the real compiler. It records each qualification; `plant` may change the text of a
/// battery, `"$source"`, before it is compiled. Batteries are compiled without optimisation, which is faster.
fn with_mistake(plant: &str) -> Place {
    let script = format!(
        "for word in \"$@\"; do case \"$word\" in *battery.c) source=\"$word\";; esac; done\n\
         if [ -n \"$source\" ]; then\n  echo \"$*\" >> \"$(dirname \"$0\")/trials\"\n  {plant}\n  exec cc \"$@\" -O0\nfi\nexec cc \"$@\""
    );
    let mut place = Place::new().with_compiler(&script);
    place.options.tries_compiler = true;
    place
}

/// Takes the wrong one of two elements.
const WRONG_CHOICE: &str = "sed -i 's/(y.bits & mask)/(y.bits \\& ~mask)/' \"$source\"";

fn n_trials(place: &Place) -> usize {
    fs::read_to_string(place.folder.path().join("trials")).unwrap_or_default().lines().count()
}

/// The only verdict in the cache.
fn verdict(place: &Place) -> PathBuf {
    let folder = place.options.cache.as_ref().expect("it has a cache").folder.join("compilers");
    let mut files = fs::read_dir(folder).expect("it is there").map(|file| file.expect("it is read").path());
    files.next().expect("there is a verdict")
}

#[test]
fn a_compiler_that_is_right_is_tried_once_and_nothing_is_said() {
    let place = with_mistake("true");
    assert_eq!(place.built(2).notes, Vec::<String>::new());
    assert_eq!(n_trials(&place), 2, "one for each precision");
    assert!(place.built(2).was_cached);
    place.built(5);
    assert_eq!(n_trials(&place), 2);
}

#[test]
fn a_compiler_that_is_wrong_with_the_usual_flags_gets_others() {
    let place = with_mistake(&format!("case \"$*\" in *-O2*) ;; *) {WRONG_CHOICE};; esac"));
    let built = place.built(2);
    let [note] = built.notes.as_slice() else { panic!("{:?}", built.notes) };
    assert!(note.contains("(a script) gives wrong results with the usual flags (wrong: "), "{note}");
    assert!(note.contains("compiled with `-O2 -fno-tree-vectorize`"), "{note}");
    assert_eq!(n_trials(&place), 4);
    let again = place.built(5);
    assert_eq!(again.notes, Vec::<String>::new(), "it is said once");
    assert_eq!(n_trials(&place), 4);
}

#[test]
fn a_compiler_that_is_always_wrong_is_not_used() {
    let place = with_mistake(WRONG_CHOICE);
    for _ in 0..2 {
        let error = place.build(2).expect_err("it is not used");
        assert!(matches!(error, BuildError::Unreliable { .. }), "{error}");
        assert!(
            error.to_string().contains("gives wrong results, also without optimisation (wrong: "),
            "{error}"
        );
        assert_eq!(n_trials(&place), 8, "each of the flags, once");
    }
}

#[test]
fn a_crash_of_compiled_code_is_a_mistake_like_others() {
    let crash = "sed -i 's/^int main.*/&__builtin_trap();/' \"$source\"";
    let place = with_mistake(&format!("case \"$*\" in *-O1*) ;; *) {crash};; esac"));
    let built = place.built(2);
    let [note] = built.notes.as_slice() else { panic!("{:?}", built.notes) };
    assert!(note.contains("a loop that crashes") && note.contains("`-O1`"), "{note}");
}

#[test]
fn a_compiler_that_changed_is_tried_again() {
    let place = with_mistake("true");
    place.built(2);
    let script = place.folder.path().join("compiler.sh");
    let text = fs::read_to_string(&script)
        .expect("it is there")
        .replace("\n  true\n", &format!("\n  {WRONG_CHOICE}\n"));
    fs::write(&script, text).expect("it can be written");
    assert!(matches!(place.build(2), Err(BuildError::Unreliable { .. })));
}

#[test]
fn a_verdict_that_is_not_whole_is_not_believed() {
    let place = with_mistake("true");
    place.built(2);
    let verdict = verdict(&place);
    let whole = fs::read(&verdict).expect("it is there");
    for part in [&whole[..whole.len() - 9], b"", b"eddy-verdict 1\nflags 0\n"] {
        let n = n_trials(&place);
        fs::write(&verdict, part).expect("it can be written");
        place.built(2);
        assert_eq!(n_trials(&place), n + 2);
        assert_eq!(fs::read(&verdict).expect("it is there"), whole);
    }
}

#[test]
fn without_a_cache_a_compiler_is_tried_once_in_a_process() {
    let mut place = with_mistake("true");
    place.options.cache = None;
    place.built(2);
    place.built(5);
    assert_eq!(n_trials(&place), 2);
}

#[test]
fn a_verdict_that_cannot_be_kept_is_reported() {
    let place = with_mistake("true");
    let cache = place.options.cache.as_ref().expect("it has a cache");
    fs::create_dir_all(&cache.folder).expect("it can be made");
    set_mode(&cache.folder, 0o700);
    fs::write(cache.verdicts(), "").expect("it can be written");
    set_mode(&cache.verdicts(), 0o600);
    let built = place.built(2);
    let [note] = built.notes.as_slice() else { panic!("{:?}", built.notes) };
    assert!(note.starts_with("the C compiler is tested again each time: `"), "{note}");
    assert!(built.is_kept());
    place.built(5);
    assert_eq!(n_trials(&place), 2, "the verdict is valid for this process");
}

#[test]
fn a_compiler_that_makes_no_program_is_unfit() {
    let place = with_mistake("exec cc -c \"$@\"");
    let error = place.build(2).expect_err("an object is not a program");
    assert!(
        matches!(&error, BuildError::Unfit { output, .. } if output.starts_with("its program does not start: ")),
        "{error}"
    );
}
