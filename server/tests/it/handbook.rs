//! The statements in the operator's handbook (`docs/operations`) are valid.

use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::support::postgres;

const INCIDENTS: &str = include_str!("../../../docs/operations/incidents.md");

/// Returns the statements of the chapter on incidents, one per line.
fn statements() -> Vec<String> {
    let code = INCIDENTS
        .lines()
        .filter_map(|line| line.strip_prefix("    "))
        .map(str::trim);
    let mut statements: Vec<String> = Vec::new();
    for line in code {
        if ["select ", "update "]
            .iter()
            .any(|beginning| line.starts_with(beginning))
        {
            statements.push(String::new());
        }
        if let Some(statement) = statements.last_mut().filter(|statement| !statement.ends_with(';')) {
            statement.push_str(line);
            if !line.ends_with(';') {
                statement.push(' ');
            }
        }
    }
    statements
}

#[tokio::test]
async fn the_statements_for_incidents_suit_the_schema() {
    let statements = statements();
    assert!(statements.len() >= 7, "{statements:#?}");
    let mut connection = PgConnection::connect(&postgres::fresh_database().await).await.unwrap();
    for statement in statements {
        let filled = statement.replace('…', "019ab000-0000-7000-8000-000000000000");
        let done = sqlx::raw_sql(AssertSqlSafe(filled)).execute(&mut connection).await;
        assert!(done.is_ok(), "{statement}\n{done:?}");
    }
}
