-- sql/parquet.sql - tables of profiles as Parquet files below the directory `lake`, for DuckDB, Spark, Trino and others
--
-- For DuckDB 1.4 and later with the extension pcol loaded (docs/sql.md), after
--     SET VARIABLE files = '1200.pcol';       -- a merged file, a pattern or a list; sources have the keys service, build, host
--     SET VARIABLE interval = '2026-11-21T1200';    -- begins the names of the files: running it again replaces these
--     SET VARIABLE types = ['cpu'];           -- optional: the sample types, as read_pcol() names them; default: all
--
-- lake/samples/service=S/hour=H/INTERVAL-*.parquet    time, build, host, type, stack, value: sums by profile (source) and stack,
--                                                     sorted by stack
-- lake/stacks/INTERVAL-*.parquet                      stack, function, filename, line (of the innermost frame), frames (innermost first)
-- lake/functions/INTERVAL-*.parquet                   function, name, system_name, filename
--
-- `stack` and `function` are content hashes as UUID, equal in all files. Tests: sql/tests/test_parquet.py.

SET VARIABLE pcol_types = coalesce(getvariable('types'), (SELECT list(DISTINCT name ORDER BY name) FROM (
    SELECT unnest([type, type || '/' || unit]) AS name FROM pcol_scan(getvariable('files'), 'sample_types', model := 'physical'))));

SELECT error('SET VARIABLE interval to a name of the files to be written') WHERE getvariable('interval') IS NULL;

CREATE OR REPLACE TEMP TABLE pcol_profiles AS
SELECT profile, source_id, ".service" AS service, ".build" AS build, ".host" AS host, CAST(source_timestamp AS TIMESTAMP) AS time
FROM pcol_scan(getvariable('files'), 'sources', profile := true);

-- A profile without a key or a time is an error, not a row that no question finds.
SELECT error(profile || ': source ' || source_id || ' lacks service, build, host or a timestamp') FROM pcol_profiles
WHERE service IS NULL OR build IS NULL OR host IS NULL OR time IS NULL;

CREATE OR REPLACE TEMP TABLE pcol_hashes AS
SELECT profile, row AS stack_id, CAST(".hash" AS UUID) AS stack FROM pcol_scan(getvariable('files'), 'stacks', profile := true);

CREATE OR REPLACE TEMP TABLE pcol_samples AS
SELECT service, strftime(time, '%Y-%m-%dT%H') AS hour, time, build, host, type, stack,
       CASE WHEN typeof(any_value(value)) = 'DOUBLE' THEN error('values are doubles; choose other types: SET VARIABLE types')
            ELSE CAST(sum(value) AS BIGINT) END AS value
FROM (
    UNPIVOT (
        SELECT profile, source_id, stack_id, COLUMNS(c -> list_contains(getvariable('pcol_types'), c))
        FROM read_pcol(getvariable('files'), profile := true) WHERE stack_id IS NOT NULL
    ) ON COLUMNS(* EXCLUDE (profile, source_id, stack_id)) INTO NAME type VALUE value
)
JOIN pcol_hashes USING (profile, stack_id) JOIN pcol_profiles USING (profile, source_id)
GROUP BY ALL HAVING sum(value) <> 0
ORDER BY service, hour, build, type, stack, host, time;

CREATE OR REPLACE TEMP TABLE pcol_stacks_once AS
SELECT stack, any_value(CAST(function AS VARCHAR)) AS function, any_value(CAST(filename AS VARCHAR)) AS filename,
       any_value(line) AS line, any_value(frames) AS frames
FROM pcol_stacks(getvariable('files'), profile := true) JOIN pcol_hashes USING (profile, stack_id)
GROUP BY stack ORDER BY stack;

CREATE OR REPLACE TEMP TABLE pcol_functions AS
SELECT DISTINCT CAST(".hash" AS UUID) AS function, name, system_name, filename
FROM pcol_scan(getvariable('files'), 'functions') ORDER BY function;

-- One thread writes the same files in each run, so that none of an earlier one remains.
SET threads = 1;
COPY pcol_stacks_once TO 'lake/stacks' (FORMAT parquet, COMPRESSION zstd, PER_THREAD_OUTPUT, OVERWRITE_OR_IGNORE,
    FILENAME_PATTERN (getvariable('interval') || '-{i}'));
COPY pcol_functions TO 'lake/functions' (FORMAT parquet, COMPRESSION zstd, PER_THREAD_OUTPUT, OVERWRITE_OR_IGNORE,
    FILENAME_PATTERN (getvariable('interval') || '-{i}'));
COPY pcol_samples TO 'lake/samples' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (service, hour), OVERWRITE_OR_IGNORE,
    FILENAME_PATTERN (getvariable('interval') || '-{i}'));
RESET threads;
