-- Says of every row that text_gen_stats has, and gets until the swap, that it lies before a month that is more than a
-- day away: so the swap need not read the table. Not checked yet; that is done beside the writers.
DO $$
DECLARE
    v_end timestamptz := date_trunc('month', now() + interval '1 day', 'UTC') + interval '1 month';
BEGIN
    ALTER TABLE dispatch.text_gen_stats DROP CONSTRAINT IF EXISTS ck_text_gen_stats_before;
    EXECUTE format('ALTER TABLE dispatch.text_gen_stats ADD CONSTRAINT ck_text_gen_stats_before CHECK (finished < %L) NOT VALID', v_end);
END $$;
