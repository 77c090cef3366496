-- empty_queue: takes the requests of fill_queue away again, with all that hangs on them: no foreign key does it on that connection.
WITH gone AS MATERIALIZED (
    DELETE FROM dispatch.waiting_prompts WHERE client_agent = 'horde-bench' RETURNING id
), entries AS (
    DELETE FROM dispatch.wp_models m USING gone WHERE m.wp_id = gone.id
), named AS (
    DELETE FROM dispatch.wp_allowed_workers a USING gone WHERE a.wp_id = gone.id
), tricked AS (
    DELETE FROM dispatch.wp_tricked_workers t USING gone WHERE t.wp_id = gone.id
)
DELETE FROM dispatch.processing_gens g USING gone WHERE g.wp_id = gone.id
