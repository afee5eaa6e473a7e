-- The standard that the document was checked to conform to, for instance PDF/A-2b. Null for plain PDF, and for documents
-- from before the check.
alter table renders add column conformance text;
