-- Archives of accounts are stored in pieces instead of in the data folder, which processes had to share. Each has the same size but
-- the last, and is encrypted.
create table export_pieces (
    export_id uuid not null,
    number integer not null,
    -- To which its encryption is bound.
    id uuid not null,
    sealed bytea not null,
    constraint export_pieces_pkey primary key (export_id, number),
    constraint export_pieces_export_id_fkey foreign key (export_id) references exports (id) on delete cascade
);
alter table export_pieces alter column sealed set storage external;

-- Archives that earlier versions have written to a folder can't be downloaded any more; owners may ask for new ones.
delete from exports where state = 'ready';
