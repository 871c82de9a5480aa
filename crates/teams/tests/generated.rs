//! Files made from this crate's types. `cargo xtask gen` writes them anew.

use expect_test::expect_file;

/// Would fail if the schema that editors use lagged behind the format.
#[test]
fn generated_team_schema() {
    expect_file!["../../../docs/schemas/team.schema.json"].assert_eq(&thermidor_teams::team_schema());
}
