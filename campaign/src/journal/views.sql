-- The runs of units, each in a row, with words for the numbers there; those that are compressed are not among them.
CREATE VIEW executions AS
    SELECT
        test_case,
        value ->> 0 AS mutant,
        '["passed", "failed", "not-terminated", "abnormal", "inconclusive"]' ->> (value ->> 1) AS verdict,
        '["none", "unexpected-result", "no-result", "check-failed", "steps", "events", "virtual-time", "hang", "panic",
          "stack-overflow", "memory", "abort", "exit", "undecided"]' ->> (value ->> 2) AS cause,
        value ->> 3 AS diverged, -- 1 if the events differ from the original's, else 0
        (SELECT text FROM reasons WHERE number = value ->> 4) AS reason,
        value ->> 5 AS events,
        value ->> 6 AS steps,
        value ->> 7 AS entered, -- the functions that the run called: number n is bit n % 64
        -- Of a run that passes with other events than the original's; with the same events it cost the same.
        value ->> 8 AS messages,
        value ->> 9 AS virtual_time_ns
    FROM units, json_each(CASE typeof(runs) WHEN 'text' THEN runs ELSE '[]' END);
