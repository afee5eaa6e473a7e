-- Words by which members and keys find assets.
alter table assets add column tags text[] not null default '{}';
