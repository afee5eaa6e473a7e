//! The scopes of members, by their roles; the playground sends members' requests to the API.

use platen_app::model::role::{Permission, Role};

use crate::domain::api_key::{Scope, Scopes};

/// Returns what a member with this role may do through the API.
pub fn scopes(role: Role) -> Scopes {
    Scope::ALL
        .into_iter()
        .filter(|scope| role.may(permission(*scope)))
        .collect()
}

fn permission(scope: Scope) -> Permission {
    match scope {
        Scope::Render | Scope::RendersRead | Scope::TemplatesRead | Scope::TemplatesWrite => Permission::Produce,
        Scope::UsageRead => Permission::SeeAccount,
        Scope::ConnectionsRead | Scope::ConnectionsWrite => Permission::ManageDestinations,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_does_by_the_api_what_the_dashboard_allows() {
        for role in [Role::Admin, Role::Owner] {
            assert_eq!(scopes(role), Scopes::all(), "{role}");
        }
        let of_member = scopes(Role::Member);
        assert!(of_member.contains(Scope::TemplatesWrite) && !of_member.contains(Scope::ConnectionsRead));
    }
}
