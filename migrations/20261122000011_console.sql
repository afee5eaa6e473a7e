-- What the scripts of a render's pages said: a list of {part, level, text}. Content, so that it stays only where its account
-- keeps content.

alter table renders add column console jsonb not null default '[]';
