-- The checklist of the first steps, on the overview of an account.

-- When a member dismissed it.
alter table members add column checklist_dismissed_at timestamptz;

-- Accounts that have rendered are past it.
update members set checklist_dismissed_at = now()
where exists (select from renders where renders.account_id = members.account_id);
