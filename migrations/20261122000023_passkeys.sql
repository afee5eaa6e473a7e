-- Passkeys, a second factor beside the app or in its place.

create table passkeys (
    -- For lists; not what the authenticator calls it.
    id uuid not null,
    user_id uuid not null,
    -- What the authenticator calls it. No secret.
    credential_id bytea not null,
    -- The public key and what else the check of a signature needs, as webauthn-rs writes it. No secret.
    credential jsonb not null,
    -- What the user calls it.
    name text not null,
    -- The authenticator's count of signatures when it was last used. 0: it was not used yet, or does not count.
    sign_count bigint not null default 0,
    used_at timestamptz,
    inserted_at timestamptz not null,
    constraint passkeys_pkey primary key (id),
    constraint passkeys_credential_id_key unique (credential_id),
    constraint passkeys_user_id_fkey foreign key (user_id) references users (id) on delete cascade
);

create index passkeys_user_id on passkeys (user_id);

-- Who has a second factor: an app, passkeys, or both. Nothing else says so.
create view users_with_second_factor as
    select user_id from second_factors where turned_on_at is not null
    union
    select user_id from passkeys;

-- Recovery codes stand in for passkeys too, so that they go with the last factor and not with the app.
alter table recovery_codes
    drop constraint recovery_codes_user_id_fkey,
    add constraint recovery_codes_user_id_fkey foreign key (user_id) references users (id) on delete cascade;
