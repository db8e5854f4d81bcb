//! A client of the agent's own in a process that plays, and never records.

use mcptest_session::endpoint::Place;

#[tokio::test]
async fn a_client_is_made_where_nothing_is_recorded() {
    let _place = Place::new().await.unwrap();
    reqwest::Client::builder().build().unwrap();
}
