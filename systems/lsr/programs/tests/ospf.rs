//! What the program that plays a network of other routers says where it cannot.
#![cfg(target_os = "linux")]

use std::process::Command;

#[test]
fn who_may_have_no_namespaces_is_told_so() {
    let arguments = "--daemon bird --routers 1@0,2@0 --links 1-2/1 --messages 1:1-2 --output .";
    // In there this process is nobody.
    let output = Command::new("unshare")
        .args(["--user", env!("CARGO_BIN_EXE_lsr-ospf")])
        .args(arguments.split(' '))
        .output()
        .expect("unshare starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(69), "{said}");
    assert!(said.contains("namespaces are unavailable") && said.contains("run as root, on Linux"), "{said}");
}
