-- A render that is held for lack of credits reserves none. Not valid: existing rows reserve at least one, and need not be read.
alter table renders
    drop constraint renders_reserved_sane,
    add constraint renders_reserved_sane check (reserved >= 0) not valid;
