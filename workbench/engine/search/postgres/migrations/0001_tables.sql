-- Whatever comes from files is bytea: any text fits, whatever the encoding of the database, and sorts by its bytes.
CREATE EXTENSION IF NOT EXISTS vector;

-- A memory as one scope sees it; the owner's own has the scope ''.
CREATE TABLE views (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key text NOT NULL UNIQUE,
    machine bytea NOT NULL,
    path bytea NOT NULL,
    scope text NOT NULL DEFAULT '',
    project bytea, person bytea, team bytea,
    -- Whether `workbench hub` keeps it indexed.
    kept boolean NOT NULL DEFAULT false
);

-- One index of a view. One of another shape is built beside it and takes over.
CREATE TABLE collections (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    view integer NOT NULL REFERENCES views ON DELETE CASCADE,
    shape text NOT NULL,
    embedder text NOT NULL,
    dimensions integer NOT NULL DEFAULT 0,
    complete boolean NOT NULL DEFAULT false,
    next_number integer NOT NULL DEFAULT 1,
    next_file integer NOT NULL DEFAULT 1,
    chunks integer NOT NULL DEFAULT 0,
    terms bigint NOT NULL DEFAULT 0,
    -- Like terms, with those of titles.
    tokens bigint NOT NULL DEFAULT 0,
    wanted integer NOT NULL DEFAULT 0,
    last_sync timestamptz
);
CREATE INDEX collections_by_view ON collections (view);

CREATE TABLE files (
    collection integer NOT NULL, number integer NOT NULL, path_hash bigint NOT NULL, path bytea NOT NULL,
    digest bytea NOT NULL,
    PRIMARY KEY (collection, number)
);
CREATE INDEX files_by_path ON files (collection, path_hash);

-- The number is the collection's id times 2^31, plus a number of its own.
CREATE TABLE chunks (
    number bigint PRIMARY KEY, collection integer NOT NULL, file integer NOT NULL, place integer NOT NULL,
    memory_hash bigint NOT NULL, memory_id bytea NOT NULL, store text NOT NULL, day date, start_line integer NOT NULL,
    is_retired boolean NOT NULL, superseded_by bytea, until bytea, terms integer NOT NULL, embedded boolean NOT NULL,
    title bytea NOT NULL, text bytea NOT NULL, tags bytea NOT NULL, unit_terms bytea NOT NULL
);
CREATE INDEX chunks_by_file ON chunks (collection, file, place);
CREATE INDEX chunks_by_memory ON chunks (collection, memory_hash);
CREATE INDEX chunks_by_day ON chunks (collection, day, number) WHERE day IS NOT NULL;
CREATE INDEX chunks_to_embed ON chunks (collection, number) WHERE NOT embedded;

-- Vectors of length 1 stand apart, so that a scan of a collection reads little else.
CREATE TABLE vectors (
    number bigint PRIMARY KEY, collection integer NOT NULL, store text NOT NULL, day date,
    embedding vector NOT NULL
);
ALTER TABLE vectors ALTER embedding SET STORAGE MAIN;
CREATE INDEX vectors_by_collection ON vectors (collection);
CREATE TABLE units (number bigint PRIMARY KEY, collection integer NOT NULL, codes bytea NOT NULL);
CREATE INDEX units_by_collection ON units (collection);

-- Which chunks hold a term, how often, and how long each is: packed, a row for 4,096 numbers.
CREATE TABLE postings (
    term bytea NOT NULL, collection integer NOT NULL, block integer NOT NULL, held integer NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (term, collection, block)
);
CREATE INDEX postings_by_collection ON postings (collection);

-- Scores of memories as they were on a day; they fall from there by the decay per day.
CREATE TABLE relevances (
    collection integer NOT NULL, memory_hash bigint NOT NULL, memory_id bytea NOT NULL, value real NOT NULL,
    status text NOT NULL, day date NOT NULL,
    PRIMARY KEY (collection, memory_hash, memory_id)
);

-- Which role of the database sees which view.
CREATE TABLE grants (
    role text NOT NULL, view integer NOT NULL REFERENCES views ON DELETE CASCADE, PRIMARY KEY (role, view)
);

-- What a role was not given does not exist for it; the owner of the tables, who indexes, sees everything.
ALTER TABLE grants ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON grants FOR SELECT USING (
    role IN (SELECT rolname FROM pg_roles WHERE pg_has_role(oid, 'member'))
);
ALTER TABLE views ENABLE ROW LEVEL SECURITY;
CREATE POLICY granted ON views FOR SELECT USING (id IN (SELECT view FROM grants));
ALTER TABLE collections ENABLE ROW LEVEL SECURITY;
CREATE POLICY granted ON collections FOR SELECT USING (view IN (SELECT view FROM grants));
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['files', 'chunks', 'vectors', 'units', 'postings', 'relevances'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY granted ON %I FOR SELECT USING (collection IN (SELECT id FROM collections))', name
        );
    END LOOP;
END $$;
