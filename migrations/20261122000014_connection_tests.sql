-- What came of the last test of each storage connection, for lists.

create table connection_tests (
    connection_id uuid not null,
    tested_at timestamptz not null,
    -- Until the last thing that was tried had succeeded or failed.
    milliseconds integer not null,
    -- What was tried, in this order: [{"action": "write", "advice": null}, …]. The advice is for people, and says what is
    -- wrong; null: nothing is.
    steps json not null,

    constraint connection_tests_pkey primary key (connection_id),
    constraint connection_tests_connection_id_fkey foreign key (connection_id) references connections (id)
        on delete cascade
);
