use std::process::Command;

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
