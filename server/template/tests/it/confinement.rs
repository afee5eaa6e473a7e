use std::{
    io::Read,
    process::{Command, Stdio},
};

use crate::support::child;

#[test]
fn a_child_can_open_connect_and_start_nothing() {
    let command = child(Some("try"));
    let output = Command::new(&command.program)
        .args(&command.arguments)
        .env_clear()
        .output()
        .expect("the child starts");
    let report = String::from_utf8(output.stdout).expect("the report is text");
    assert_eq!(report.lines().count(), 10, "{report}");
    for line in report.lines() {
        assert!(line.contains("PermissionDenied"), "{line}");
    }
}

#[test]
fn a_child_ends_when_its_parent_is_gone() {
    let command = child(None);
    let mut process = Command::new(&command.program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the child starts");
    let mut ready = [1; 4];
    let output = process.stdout.as_mut().expect("it has an output");
    output.read_exact(&mut ready).expect("it says that it is ready");
    assert_eq!(ready, [0; 4]);
    drop(process.stdin.take());
    assert!(process.wait().expect("it ends").success());
}
