-- Renders of batches whose documents find too little storage, or too few credits, are held until there is more.
alter table jobs
    -- Why the render is or was held: 'storage' or 'credits'.
    add column hold text,
    -- How much of it its document needs, in bytes or in credits.
    add column needed bigint,
    -- Whether there was enough, and the render goes on. What it needs is then promised to it until its job is deleted.
    add column resumed boolean not null default false,
    add constraint jobs_hold check (
        case when hold is null then needed is null else hold in ('storage', 'credits') and needed > 0 end
    );
create index jobs_hold on jobs (account_id) where hold is not null;
