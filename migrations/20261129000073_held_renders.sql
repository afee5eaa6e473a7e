-- Renders of batches whose documents find too little storage, or too few credits, are held until there is more.
alter table jobs
    -- What the render has lacked: 'storage' or 'credits'. Stays while it is rendered again, so that what is free is not promised twice.
    add column lacked text,
    -- How much of it its document needs, in bytes or in credits.
    add column lacked_amount bigint,
    add constraint jobs_lacked check (
        case when lacked is null then lacked_amount is null else lacked in ('storage', 'credits') and lacked_amount > 0 end
    );
create index jobs_lacked on jobs (account_id) where lacked is not null;
