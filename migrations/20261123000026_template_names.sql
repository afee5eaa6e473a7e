-- Names of templates are labels: two of an account may have the same.
drop index templates_name_key;
