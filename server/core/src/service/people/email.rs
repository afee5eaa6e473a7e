//! Change of a user's email address. It takes effect when the user follows the mailed link while logged in.

use platen_domain::{
    client::Client,
    ids::UserId,
    mail::MailKind,
    one_time_token::{Purpose, TokenDigest},
    validation::Problem,
};
use time::OffsetDateTime;

use crate::{
    service::people::{People, PeopleError, email_of, read_email, taken_or},
    store::{mails, one_time_tokens, tx, users},
};

/// Mails a link to the new address and a notice to the current one. Replaces an earlier request. Validation errors are
/// at `/email`.
pub async fn request_change(
    people: &People,
    user: UserId,
    client: &Client,
    new: &str,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let new = read_email(new)?;
    let former = email_of(people, user).await?;
    if new == former {
        let problem = Problem::invalid("/email", "this is already your email address");
        return Err(PeopleError::Invalid(vec![problem]));
    }
    people.limits.ask_for_mail(client, &new)?;
    let notice = MailKind::AddressChangeAsked {
        new_address: new.as_str().to_owned(),
    };
    let mut transaction = tx::begin(&people.db).await?;
    one_time_tokens::delete_of_user(&mut transaction, user, Some(Purpose::ChangeEmail)).await?;
    mails::delete_address_changes(&mut transaction, user).await?;
    mails::insert(&mut transaction, &new, Some(user), &MailKind::ConfirmAddress, now).await?;
    mails::insert(&mut transaction, &former, Some(user), &notice, now).await?;
    Ok(tx::commit(transaction).await?)
}

/// Changes a user's address to the one that the link was sent to. The user must be the one who requested the change,
/// because a link alone must not redirect another user's mail.
pub async fn confirm_change(
    people: &People,
    user: UserId,
    token: &str,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    let digest = TokenDigest::of(token);
    let subject = one_time_tokens::find(&people.db, digest, Purpose::ChangeEmail, now).await?;
    let subject = subject.filter(|subject| subject.user == Some(user));
    let new = subject.ok_or(PeopleError::WorthlessLink)?.email;
    let former = email_of(people, user).await?;
    let mut transaction = tx::begin(&people.db).await?;
    if !one_time_tokens::use_up(&mut transaction, digest, Purpose::ChangeEmail, now).await? {
        return Err(PeopleError::WorthlessLink);
    }
    let changed = users::update_email(&mut transaction, user, former.as_str(), &new).await;
    if !changed.map_err(taken_or)? {
        return Err(PeopleError::WorthlessLink);
    }
    // Links that were sent to the former address become invalid.
    one_time_tokens::delete_of_user(&mut transaction, user, None).await?;
    let notice = MailKind::AddressChanged {
        new_address: new.as_str().to_owned(),
    };
    mails::insert(&mut transaction, &former, Some(user), &notice, now).await?;
    Ok(tx::commit(transaction).await?)
}
