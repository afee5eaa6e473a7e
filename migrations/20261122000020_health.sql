-- How the processes of the service are, as they say themselves, for the operator.

-- One row for each process that runs. A process that stops in order takes its row along.
create table instance_health (
    -- As in jobs.
    instance uuid not null,
    host text not null,
    role text not null,
    version text not null,
    started_at timestamptz not null,
    -- By the database's clock. Older than a minute: the process has fallen silent.
    seen_at timestamptz not null,
    -- Browsers, sessions, lanes of the queue: what the build that wrote it knows of.
    state jsonb not null,
    constraint instance_health_pkey primary key (instance)
);

-- What each process did in each minute. It writes a minute again and again until that is over.
create table health_minutes (
    minute timestamptz not null,
    instance uuid not null,
    -- Renders that ended.
    succeeded bigint not null,
    failed bigint not null,
    cancelled bigint not null,
    -- Browsers that were replaced, and why.
    browsers_died bigint not null,
    browsers_retired bigint not null,
    egress_refusals bigint not null,
    -- The most renders that were seen waiting for a slot.
    peak_waiting bigint not null,
    -- Failures by kind, and how the times of phases are spread.
    detail jsonb not null,
    constraint health_minutes_pkey primary key (minute, instance)
);
