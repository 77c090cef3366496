-- settle_queue: what autovacuum does within a minute of a queue that grew at once: for `horde bench pop`.
VACUUM (ANALYZE) dispatch.waiting_prompts, dispatch.wp_models, dispatch.lanes, dispatch.wp_allowed_workers, dispatch.processing_gens
