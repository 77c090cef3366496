-- compile_text_stats: fold what ended into the sums by period. Safe to run twice.
-- $1 through timestamptz endings before it are folded
SELECT dispatch.compile_text_stats_v1($1);
