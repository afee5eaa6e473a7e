-- Identifies the rows from which the credentials of a valid API key are read: another version once any of them has changed.
create view credentials_versions as
select
    api_keys.id as api_key_id,
    concat_ws(' ', api_keys.xmin, accounts.xmin, plans.xmin, users.xmin) as version
from api_keys
join accounts on accounts.id = api_keys.account_id
join plans on plans.name = accounts.plan
join users on users.id = api_keys.created_by
where api_keys.revoked_at is null;
