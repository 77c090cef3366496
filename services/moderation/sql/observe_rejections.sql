-- observe_rejections: the events of the last five minutes by reason, and how many subjects all of them have.
SELECT e.reason, count(*) AS events,
       (SELECT count(DISTINCT s.ip_subject_key) FROM moderation.moderation_events s WHERE s.created > now() - interval '5 minutes') AS subjects
FROM moderation.moderation_events e
WHERE e.created > now() - interval '5 minutes'
GROUP BY e.reason
