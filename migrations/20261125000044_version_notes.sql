-- Notes on versions of templates.

alter table template_versions
    -- What the version changes, in the words of the member who published it. It may be added and replaced later. Not
    -- counted as storage: `template_version_bytes` adds a KiB for each version anyway.
    add column note text
    constraint template_versions_note_length check (char_length(note) between 1 and 500);
