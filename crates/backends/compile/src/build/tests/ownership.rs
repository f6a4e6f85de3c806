//! Files that other users own or can write are not used; objects that do not load are built anew; nothing
//! depends on `TMPDIR`.

use std::os::unix::fs::PermissionsExt;

use super::*;

pub(super) fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
}

#[test]
fn a_folder_that_others_can_write_is_not_used() {
    for mode in [0o777, 0o770, 0o720, 0o702] {
        for inner in ["", "compiled", "compilers"] {
            let mut place = Place::new();
            let first = place.built(2);
            let folder = place.cache().folder.join(inner);
            fs::create_dir_all(&folder).expect("it can be made");
            set_mode(&folder, mode);
            let again = place.built(2);
            assert!(!again.was_cached && !again.path.starts_with(&place.cache().folder));
            let [note] = again.notes.as_slice() else { panic!("{:?}", again.notes) };
            assert!(
                note.starts_with("the cache of compiled programs is not used: other users can write to"),
                "{note}"
            );
            assert_eq!(place.built(2).notes, Vec::<String>::new(), "it is said once");
            set_mode(&folder, 0o700);
            assert_eq!(place.built(2).path, first.path);
        }
    }
}

#[test]
fn an_object_that_others_can_write_is_made_anew() {
    let place = Place::new();
    let first = place.built(2);
    for path in [&first.path, first.path.parent().expect("it is in a folder")] {
        set_mode(path, 0o777);
        assert!(!place.built(2).was_cached);
        set_mode(path, 0o700);
        assert!(place.built(2).was_cached);
    }
}

#[test]
fn an_entry_that_others_can_write_is_replaced() {
    let place = Place::new();
    let first = place.built(2);
    let entry = first.path.parent().expect("it is in a folder").to_owned();
    fs::write(entry.join("planted"), "").expect("it is ours");
    set_mode(&entry, 0o777);
    assert!(!place.built(2).was_cached);
    assert!(place.built(2).was_cached, "it is built once, not each time");
    let mode = fs::metadata(&entry).expect("it is there").permissions().mode();
    assert_eq!((mode & 0o077, entry.join("planted").exists()), (0, false));
    assert_eq!(place.objects(), [first.path]);
}

#[test]
fn a_folder_of_another_user_is_not_used() {
    let mut place = Place::new();
    place.built(2);
    let folder = place.cache().folder.clone();
    // Only root can change the owner of a folder.
    if std::os::unix::fs::chown(&folder, Some(12345), None).is_err() {
        return;
    }
    let again = place.built(2);
    assert!(!again.was_cached);
    assert!(again.notes[0].ends_with("belongs to another user"), "{:?}", again.notes);
}

#[test]
fn a_generous_umask_does_no_harm() {
    let place = Place::new().with_compiler("umask 0; exec cc \"$@\"");
    place.built(2);
    assert!(place.built(2).was_cached);
}

#[test]
fn an_object_that_does_not_load_is_made_anew() {
    let place = Place::new();
    let sizes = Sizes { state: 1, input: 8, output: 8, max_outputs: 1 };
    let header = header(2);
    let open = || build_and_open(&text(&header), sizes, &place.options, &mut || ());
    let (first, library) = open().expect("it is opened");
    drop(library);
    // The contents match the name, but are not an object.
    let useless = b"no object".as_slice();
    fs::remove_file(&first.path).expect("it is ours");
    let path = first.path.with_file_name(format!("{}{}", blake3::hash(useless), env::consts::DLL_SUFFIX));
    fs::write(&path, useless).expect("it can be written");
    set_mode(&path, 0o700);
    assert_eq!(place.build(2).expect("it is found").path, path);
    let (second, _) = open().expect("it is made anew");
    assert!(!second.was_cached);
    assert_eq!(run(&second, 3.0), 6.0);
}

#[test]
fn a_missing_folder_for_temporary_files_does_no_harm() {
    let place = Place::new();
    let missing = [("TMPDIR", "/no/such/folder")];
    assert_eq!(Process::start(&place, "first", &missing).outcome(), "42 false None");
    assert_eq!(Process::start(&place, "second", &missing).outcome(), "42 true None");
}

#[test]
fn abandoned_work_is_distinguished_from_work_in_progress() {
    let mut place = Place::new();
    let compiled = place.cache().folder.join("compiled");
    let left = compiled.join(".making-left");
    let at_work = compiled.join(".making-at-work");
    for folder in [&left, &at_work] {
        fs::create_dir_all(folder).expect("it can be made");
        fs::write(folder.join("lock"), "").expect("it can be written");
    }
    set_mode(&place.cache().folder, 0o700);
    set_mode(&compiled, 0o700);
    let lock = fs::File::open(at_work.join("lock")).expect("it is there");
    lock.try_lock().expect("no other has it");
    place.built(2);
    assert!(!left.exists() && at_work.exists());
}
