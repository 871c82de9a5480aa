-- One row per tree, rewritten with every append. Lists read nothing else.
CREATE TABLE tree (
    number     INTEGER PRIMARY KEY,
    id         BLOB    NOT NULL UNIQUE CHECK (length(id) = 16),
    version    INTEGER NOT NULL,           -- the number of its records, the shared ones included
    shared     INTEGER NOT NULL DEFAULT 0, -- how many of them it shares with the tree it was forked from
    opened_at  INTEGER NOT NULL,           -- milliseconds since 1970, as all times
    changed_at INTEGER NOT NULL,
    title      TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    state      TEXT    NOT NULL,
    wake_at    INTEGER,
    steps      INTEGER NOT NULL,
    turns      INTEGER NOT NULL,
    tokens     INTEGER NOT NULL,
    micros     INTEGER,                    -- millionths of the currency, NULL when nothing was paid
    currency   TEXT
) STRICT;

-- A tree's records lie side by side: the key is the tree's number * 2^32 + the version the record made.
CREATE TABLE record (
    id      INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    node    INTEGER NOT NULL,
    kind    TEXT    NOT NULL,
    version INTEGER NOT NULL, -- of its stored form
    border  INTEGER NOT NULL, -- 1 for the last record of an append
    body    TEXT    NOT NULL,
    cuts    BLOB              -- 36 bytes per string cut out: position (little endian), content hash
) STRICT;

-- Where a fork finds the records it shares: those up to `until`, after the part before, are those of `source`.
CREATE TABLE part (
    tree   INTEGER NOT NULL REFERENCES tree (number),
    until  INTEGER NOT NULL,
    source INTEGER NOT NULL REFERENCES tree (number),
    PRIMARY KEY (tree, until)
) STRICT, WITHOUT ROWID;

CREATE TABLE blob (
    hash    BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    content BLOB NOT NULL
) STRICT;

-- Commands in the order they were posted. A handled one stays as a name, so that posting it again changes nothing.
CREATE TABLE inbox (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    tree    INTEGER NOT NULL REFERENCES tree (number),
    command BLOB    NOT NULL CHECK (length(command) = 16),
    node    INTEGER NOT NULL,
    request TEXT, -- NULL once handled
    UNIQUE (tree, command)
) STRICT;
CREATE INDEX waiting ON inbox (tree, seq) WHERE request IS NOT NULL;

-- Caches: may be emptied at any time.
CREATE TABLE snapshot (
    tree        INTEGER PRIMARY KEY REFERENCES tree (number),
    version     INTEGER NOT NULL,
    fingerprint BLOB    NOT NULL,
    body        BLOB    NOT NULL
) STRICT;
