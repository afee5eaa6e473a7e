-- The version of the form in which a queued request is stored. 0: its body as it was sent, as releases before this column
-- store it, and as those still do that run beside this one. 1: the parsed request.
alter table render_contents add column version smallint not null default 0;
