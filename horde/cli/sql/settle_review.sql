-- settle_review: what autovacuum does within a minute of tables that grew at once: for `horde bench moderation`.
VACUUM (ANALYZE) moderation.moderation_events, moderation.moderation_event_notes, moderation.moderation_event_marks,
    moderation.unmarked_events,    moderation.moderation_access_log, moderation.user_problem_jobs, moderation.worker_suspicion_events, admission.users,
    admission.user_roles, admission.user_suspicions, dispatch.workers, dispatch.worker_suspicions
