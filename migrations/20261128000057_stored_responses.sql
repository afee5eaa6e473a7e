-- Responses to repeated requests are stored with their keys instead of in the data folder, which processes had to share. They are
-- encrypted; `answer_id`, to which the encryption is bound, is set once the render has ended with this response. Earlier responses
-- in the folder are no longer found: their requests are rendered again.
alter table idempotency_keys add column answer bytea;
alter table idempotency_keys alter column answer set storage external;
