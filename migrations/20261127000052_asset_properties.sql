-- Size of a picture, or description of a font, as the API shows them.
alter table assets add column properties jsonb;
create index assets_fonts on assets (account_id, name) where content_type like 'font/%';
