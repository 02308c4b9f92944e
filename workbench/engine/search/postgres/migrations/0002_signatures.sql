-- Signatures of vectors, packed: a row for 112 numbers of a collection, which fits into a page.
CREATE TABLE signatures (
    collection integer NOT NULL, block integer NOT NULL, data bytea NOT NULL,
    PRIMARY KEY (collection, block)
);
ALTER TABLE signatures ALTER data SET STORAGE PLAIN;

-- Another number with each change of its signatures; 0 without any.
ALTER TABLE collections ADD signed bigint NOT NULL DEFAULT 0;

ALTER TABLE signatures ENABLE ROW LEVEL SECURITY;
CREATE POLICY granted ON signatures FOR SELECT USING (collection IN (SELECT id FROM collections));

-- How many chunks hold a term is read from the index alone: a common term has a row in every collection.
ALTER TABLE postings DROP CONSTRAINT postings_pkey;
ALTER TABLE postings ADD PRIMARY KEY (term, collection, block) INCLUDE (held);

DO $$
DECLARE
    name text;
BEGIN
    -- Whoever was granted a memory before reads this table as well.
    FOR name IN SELECT DISTINCT role FROM grants JOIN pg_roles ON rolname = role LOOP
        EXECUTE format('GRANT SELECT ON signatures TO %I', name);
    END LOOP;
    -- The approximate index of all vectors, whose place they take.
    FOR name IN SELECT indexname FROM pg_indexes WHERE schemaname = 'workbench' AND indexname LIKE 'vectors_nearest_%' LOOP
        EXECUTE format('DROP INDEX workbench.%I', name);
    END LOOP;
END $$;
