-- Texts of a version by language, as their author wrote them.
alter table template_versions add column translations json not null default '{}';

-- None count nothing, as before.
create or replace function template_version_bytes(version template_versions) returns bigint language sql immutable as $$
    select 1024 + octet_length(version.content) + octet_length(version.preview_context::text)
        + octet_length(version.translations::text) - octet_length('{}')
$$;
