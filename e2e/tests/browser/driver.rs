//! The driver itself: it must see every kind of problem, or the other stories prove nothing.

use e2e::stack::Stack;
use e2e::tab::Tab;

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_problem_is_seen() {
    let stack = Stack::start().await;
    let missing = stack.url("/missing");
    let mut tab = Tab::open(800, 600).await;
    tab.assert_quiet().await;
    let soon = "new Promise((done) => setTimeout(done, 20))";
    for (script, expected) in [
        ("console.error('boom')".to_owned(), "boom"),
        ("console.warn('careful')".to_owned(), "careful"),
        (
            format!("setTimeout(() => {{ throw Error('late') }}), {soon}"),
            "late",
        ),
        (
            format!("Promise.reject(Error('forgotten')), {soon}"),
            "forgotten",
        ),
        (
            format!("fetch('{missing}', {{ mode: 'cors' }}).catch(() => 1)"),
            "Failed to load resource",
        ),
    ] {
        let before = tab.problems().await.len();
        let _value: serde_json::Value = tab.eval(&script).await;
        // A failed load is logged by another process, some frames after its event.
        let mut frames = 0;
        while tab.problems().await.len() == before {
            frames += 1;
            assert!(frames < 600, "{script} was not seen");
            let _frame: f64 = tab.eval("new Promise(requestAnimationFrame)").await;
        }
        let problems = tab.problems().await;
        let last = problems.last().map(String::as_str).unwrap_or_default();
        assert!(last.contains(expected), "{script} gave {last}");
    }
}
