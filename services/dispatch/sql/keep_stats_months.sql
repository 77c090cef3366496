-- keep_stats_months: make the months of text_gen_stats that come and drop those that ended too long ago; names of the dropped.
-- $1 now timestamptz
-- $2 keep_from timestamptz: a month that ended before goes
SELECT dropped FROM dispatch.keep_stats_months_v1($1::timestamptz, $2::timestamptz) AS dropped
