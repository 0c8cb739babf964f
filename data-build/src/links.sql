-- Fills in fields and sub-resources of one source from another. Run in order after loading; `;` at
-- the end of a line ends a statement.

-- A memorandum on the White House's site and in the Federal Register is one record: the Register's.
CREATE TABLE published_twice AS SELECT DISTINCT w.id FROM presidential_documents w
JOIN presidential_documents r ON w.signed_date = r.signed_date AND w.type = r.type
  AND regexp_replace(lower(w.title), '[^a-z0-9]', '', 'g') = regexp_replace(lower(r.title), '[^a-z0-9]', '', 'g')
WHERE w.type = 'memorandum' AND w.federal_register_id IS NULL AND r.federal_register_id IS NOT NULL;

DELETE FROM bills_mentions WHERE record_id IN (SELECT id FROM published_twice);

DELETE FROM public_laws_mentions WHERE record_id IN (SELECT id FROM published_twice);

DELETE FROM presidential_documents_body WHERE parent IN (SELECT id FROM published_twice);

DELETE FROM presidential_documents WHERE id IN (SELECT id FROM published_twice);

DROP TABLE published_twice;

-- The Record names measures without their Congress ("S. Res. 400", which is of the 94th). One that
-- was not introduced within a week is not of the Congress that sits: its number is higher than all
-- until then, or its own date is later.
CREATE TABLE not_yet AS WITH m AS
  (SELECT id, bill, date + 7 AS until, split_part(bill, ':', 1) AS type, split_part(bill, ':', 2)::BIGINT AS congress,
     split_part(bill, ':', 3)::BIGINT AS number
   FROM (SELECT id, date, unnest(bill_ids) AS bill FROM congressional_record WHERE bill_ids IS NOT NULL)),
k AS
  (SELECT type, congress, introduced_date AS day,
     max(max(number)) OVER (PARTITION BY type, congress ORDER BY introduced_date) AS highest
   FROM bills WHERE introduced_date IS NOT NULL GROUP BY type, congress, introduced_date),
n AS (SELECT type, congress, max(introduced_date) AS newest FROM bills GROUP BY type, congress)
SELECT DISTINCT m.id, m.bill FROM m
LEFT JOIN bills b ON b.id = m.bill
LEFT JOIN n ON n.type = m.type AND n.congress = m.congress
ASOF LEFT JOIN k ON k.type = m.type AND k.congress = m.congress AND k.day <= m.until
WHERE b.introduced_date > m.until OR (n.newest > m.until AND m.number > coalesce(k.highest, 0));

UPDATE congressional_record SET bill_ids = nullif(list_filter(bill_ids, lambda bill: NOT list_contains(n.bills, bill)), [])
FROM (SELECT id, list(bill) AS bills FROM not_yet GROUP BY id) n WHERE congressional_record.id = n.id;

DROP TABLE not_yet;

-- Senate roll calls identify members by LIS id.
UPDATE roll_call_votes_positions SET bioguide = l.id FROM legislators l
WHERE bioguide IS NULL AND roll_call_votes_positions.lis_id = l.lis_id;

-- A member has one name, whatever the roll call prints. Where it lacks party or state (the Clerk
-- writes XX for a territory), the term of that day has them.
UPDATE roll_call_votes_positions SET name = coalesce(l.name, roll_call_votes_positions.name)
FROM legislators l WHERE bioguide = l.id;

UPDATE roll_call_votes_positions SET party = coalesce(roll_call_votes_positions.party, t.party),
  state = coalesce(roll_call_votes_positions.state, t.state)
FROM (SELECT p.parent, p.bioguide, arg_max(t.party, t.start) AS party, arg_max(t.state, t.start) AS state
      FROM roll_call_votes_positions p JOIN roll_call_votes v ON v.id = p.parent
      JOIN legislators_terms t ON t.parent = p.bioguide AND v.date BETWEEN t.start AND t."end"
      WHERE p.party IS NULL OR p.state IS NULL GROUP BY p.parent, p.bioguide) t
WHERE roll_call_votes_positions.parent = t.parent AND roll_call_votes_positions.bioguide = t.bioguide;

-- Former members may have no terms in the bundle; delegates represent one territory only.
UPDATE roll_call_votes_positions SET state = l.state FROM legislators l
WHERE roll_call_votes_positions.state IS NULL AND bioguide = l.id AND l.chamber = 'house' AND l.district = 0;

-- An amendment's actions refer to its roll calls, which are also roll calls on its bill. A vote on
-- several amendments at once belongs to none of them.
UPDATE roll_call_votes SET amendment_id = a.amendment FROM (SELECT vote_id, min(parent) AS amendment FROM amendments_actions
  WHERE vote_id IS NOT NULL GROUP BY vote_id HAVING count(DISTINCT parent) = 1) a
WHERE amendment_id IS NULL AND roll_call_votes.id = a.vote_id;

UPDATE roll_call_votes SET bill_id = a.bill_id FROM amendments a
WHERE roll_call_votes.bill_id IS NULL AND amendment_id = a.id AND a.bill_id IS NOT NULL;

-- A bill's actions refer to its roll calls.
UPDATE roll_call_votes SET bill_id = a.bill FROM (SELECT vote_id, min(parent) AS bill FROM bills_actions
  WHERE vote_id IS NOT NULL GROUP BY vote_id HAVING count(DISTINCT parent) = 1) a
WHERE bill_id IS NULL AND roll_call_votes.id = a.vote_id;

-- A person has one name in all records: the one of the legislator's record. Party and state are
-- those of the time.
UPDATE bills SET sponsor_name = coalesce(l.name, sponsor_name), sponsor_party = coalesce(sponsor_party, l.party),
  sponsor_state = coalesce(sponsor_state, l.state) FROM legislators l WHERE sponsor = l.id;

UPDATE amendments SET sponsor_name = coalesce(l.name, sponsor_name), sponsor_party = coalesce(sponsor_party, l.party),
  sponsor_state = coalesce(sponsor_state, l.state) FROM legislators l WHERE sponsor = l.id;

UPDATE bills_cosponsors SET name = coalesce(l.name, bills_cosponsors.name), party = coalesce(bills_cosponsors.party, l.party),
  state = coalesce(bills_cosponsors.state, l.state) FROM legislators l WHERE bioguide = l.id;

UPDATE bills SET cosponsors = c.who, cosponsor_count = coalesce(cosponsor_count, c.n)
FROM (SELECT parent, list(bioguide ORDER BY _seq, _n) AS who, count(*) AS n FROM bills_cosponsors
      WHERE bioguide IS NOT NULL AND withdrawn_date IS NULL GROUP BY parent) c
WHERE bills.id = c.parent AND bills.cosponsors IS NULL;

UPDATE bills SET cosponsor_count = 0 WHERE cosponsor_count IS NULL AND introduced_date IS NOT NULL;

UPDATE bills SET committees = c.codes
FROM (SELECT parent, list_sort(list(DISTINCT committee)) AS codes FROM bills_committees WHERE committee IS NOT NULL GROUP BY parent) c
WHERE bills.id = c.parent AND bills.committees IS NULL;

UPDATE bills_committees SET name = coalesce(bills_committees.name, c.name), chamber = coalesce(bills_committees.chamber, c.chamber)
FROM committees c WHERE committee = c.id;

UPDATE bills SET subjects = s.names
FROM (SELECT parent, list(name ORDER BY _seq, _n) AS names FROM bills_subjects WHERE kind = 'subject' GROUP BY parent) s
WHERE bills.id = s.parent AND bills.subjects IS NULL;

UPDATE bills_related SET title = b.title FROM bills b WHERE bill_id = b.id AND bills_related.title IS NULL;

-- Links between bills and the laws they became, in both directions.
UPDATE public_laws SET bill_id = b.id FROM bills b WHERE public_laws.bill_id IS NULL AND b.law_id = public_laws.id;

UPDATE bills SET law_id = p.id FROM public_laws p WHERE bills.law_id IS NULL AND p.bill_id = bills.id;

UPDATE bills SET law_type = 'public', law_number = 'Public Law ' || replace(law_id[4:], ':', '-') WHERE law_id IS NOT NULL;

-- Whichever file says that a bill became law, its status, flag and law agree.
UPDATE bills SET status = 'enacted' WHERE law_number IS NOT NULL OR is_law;

UPDATE bills SET is_law = (status = 'enacted');

UPDATE public_laws SET policy_area = coalesce(public_laws.policy_area, b.policy_area),
  short_title = coalesce(public_laws.short_title, b.short_title), title = coalesce(public_laws.title, b.title)
FROM bills b WHERE public_laws.bill_id = b.id;

-- The text versions of a bill, oldest first.
UPDATE bills SET text_versions = v.versions
FROM (SELECT parent, list(version ORDER BY o, version) AS versions
      FROM (SELECT parent, version, max(version_order) AS o FROM bills_body GROUP BY ALL) GROUP BY parent) v
WHERE bills.id = v.parent;

-- A list of current members has no date: assign it to the newest congress.
UPDATE committees_members SET congress = (SELECT max(congress) FROM bills) WHERE congress IS NULL;

-- Committee seats, listed with the committee and with the member.
UPDATE committees_members SET name = coalesce(committees_members.name, l.name), party = coalesce(committees_members.party, l.party),
  state = coalesce(committees_members.state, l.state) FROM legislators l WHERE bioguide = l.id;

INSERT INTO legislators_committees BY NAME
SELECT m.bioguide AS parent, m.parent AS committee, c.name AS name, m.congress, m.side, m.rank, m.role, 0 AS _seq,
  row_number() OVER (PARTITION BY m.bioguide ORDER BY m.congress DESC, m.parent) AS _n
FROM committees_members m LEFT JOIN committees c ON c.id = m.parent WHERE m.bioguide IS NOT NULL;

UPDATE committees SET member_count = m.n
FROM (SELECT parent, count(*) AS n FROM committees_members r
      WHERE congress IS NOT DISTINCT FROM (SELECT max(congress) FROM committees_members x WHERE x.parent = r.parent) GROUP BY parent) m
WHERE committees.id = m.parent;

-- "Ethics (Select)" is no former name of the "Select Committee on Ethics".
UPDATE committees SET former_names = nullif(list_filter(former_names, lambda n:
  n <> name AND regexp_replace(n, ' \([^)]*\)$', '') <> regexp_replace(name, '^.*Committee on (the )?', '')), [])
WHERE former_names IS NOT NULL;

UPDATE hearings SET committee_name = c.name FROM committees c WHERE committee = c.id AND committee_name IS NULL;

-- The votes of each member, newest first.
INSERT INTO legislators_votes BY NAME
SELECT p.bioguide AS parent, v.id AS vote_id, v.congress, v.date, p.position, coalesce(v.question, v.title) AS question, v.result,
  v.bill_id, 0 AS _seq, row_number() OVER (PARTITION BY p.bioguide ORDER BY v.date DESC, v.number DESC, v.id) AS _n
FROM roll_call_votes_positions p JOIN roll_call_votes v ON v.id = p.parent WHERE p.bioguide IS NOT NULL;

-- The bills of each topic.
INSERT INTO topic_taxonomy_bills BY NAME
SELECT s.topic_id AS parent, b.id AS bill_id, b.title, b.congress, b.introduced_date, 0 AS _seq,
  row_number() OVER (PARTITION BY s.topic_id ORDER BY b.introduced_date DESC, length(b.id), b.id) AS _n
FROM (SELECT DISTINCT topic_id, parent FROM bills_subjects WHERE topic_id IS NOT NULL) s JOIN bills b ON b.id = s.parent;

UPDATE topic_taxonomy SET bill_count = coalesce((SELECT count(*) FROM topic_taxonomy_bills t WHERE t.parent = topic_taxonomy.id), 0);

-- The dates of a docket are those of its documents from all files.
UPDATE regulations_dot_gov_dockets SET document_count = d.n, opened_date = coalesce(d.first, opened_date),
  last_activity_date = coalesce(d.last, last_activity_date)
FROM (SELECT parent, count(*) AS n, min(posted_date) AS first, max(posted_date) AS last
      FROM regulations_dot_gov_dockets_documents GROUP BY parent) d
WHERE regulations_dot_gov_dockets.id = d.parent;

-- Mentions of bills and laws in fields; mentions in texts were staged with the texts.
INSERT INTO bills_mentions BY NAME SELECT bill_id AS parent, 'amendments' AS source, id AS record_id, 'bill_id' AS found_in, 0 AS _seq, 0 AS _n FROM amendments WHERE bill_id IS NOT NULL;
INSERT INTO bills_mentions BY NAME SELECT unnest(bill_ids) AS parent, 'committee-reports' AS source, id AS record_id, 'bill_ids' AS found_in, 0 AS _seq, 0 AS _n FROM committee_reports WHERE bill_ids IS NOT NULL;
INSERT INTO bills_mentions BY NAME SELECT unnest(bill_ids) AS parent, 'crs-reports' AS source, id AS record_id, 'bill_ids' AS found_in, 0 AS _seq, 0 AS _n FROM crs_reports WHERE bill_ids IS NOT NULL;
INSERT INTO bills_mentions BY NAME SELECT bill_id AS parent, 'cbo-estimates' AS source, id AS record_id, 'bill_id' AS found_in, 0 AS _seq, 0 AS _n FROM cbo_estimates WHERE bill_id IS NOT NULL;
INSERT INTO bills_mentions BY NAME SELECT unnest(bill_ids) AS parent, 'congressional-record' AS source, id AS record_id, 'bill_ids' AS found_in, 0 AS _seq, 0 AS _n FROM congressional_record WHERE bill_ids IS NOT NULL;
INSERT INTO bills_mentions BY NAME SELECT bill_id AS parent, 'saps' AS source, id AS record_id, 'bill_id' AS found_in, 0 AS _seq, 0 AS _n FROM saps WHERE bill_id IS NOT NULL;
INSERT INTO bills_mentions BY NAME SELECT unnest(bill_ids) AS parent, 'lda-filings' AS source, id AS record_id, 'bill_ids' AS found_in, 0 AS _seq, 0 AS _n FROM lda_filings WHERE bill_ids IS NOT NULL;
INSERT INTO bills_mentions BY NAME SELECT bill_id AS parent, 'roll-call-votes' AS source, id AS record_id, 'bill_id' AS found_in, 0 AS _seq, 0 AS _n FROM roll_call_votes WHERE bill_id IS NOT NULL;
INSERT INTO bills_mentions BY NAME SELECT unnest(bill_ids) AS parent, 'hearings' AS source, id AS record_id, 'bill_ids' AS found_in, 0 AS _seq, 0 AS _n FROM hearings WHERE bill_ids IS NOT NULL;
INSERT INTO public_laws_mentions BY NAME SELECT law_id AS parent, 'bills' AS source, id AS record_id, 'law_id' AS found_in, 0 AS _seq, 0 AS _n FROM bills WHERE law_id IS NOT NULL;
INSERT INTO public_laws_mentions BY NAME SELECT unnest(law_ids) AS parent, 'cfr-sections' AS source, id AS record_id, 'law_ids' AS found_in, 0 AS _seq, 0 AS _n FROM cfr_sections WHERE law_ids IS NOT NULL;
INSERT INTO public_laws_mentions BY NAME SELECT unnest(law_ids) AS parent, 'federal-register' AS source, id AS record_id, 'law_ids' AS found_in, 0 AS _seq, 0 AS _n FROM federal_register WHERE law_ids IS NOT NULL;

-- A summary is a report's text only if there is no other.
DELETE FROM crs_reports_body WHERE version = 'summary'
  AND parent IN (SELECT parent FROM crs_reports_body WHERE version <> 'summary');

DELETE FROM gao_reports_body WHERE version = 'summary'
  AND parent IN (SELECT parent FROM gao_reports_body WHERE version <> 'summary');

-- The House's statements name offices; its summary of the same quarter has their members.
UPDATE staff_directories SET bioguide = o.member FROM (SELECT office, period, min(bioguide) AS member FROM staff_directories
  WHERE chamber = 'house' AND bioguide IS NOT NULL GROUP BY office, period HAVING count(DISTINCT bioguide) = 1) o
WHERE staff_directories.bioguide IS NULL AND staff_directories.office = o.office AND staff_directories.period = o.period;

-- Of several reports for one registrant, client and period, the newest counts: amendments, terminations and repeated
-- reports replace what was filed before. Registrations and filings of an index that states no numbers are left alone.
UPDATE lda_filings SET superseded = true, superseded_by = n.newest FROM (
  SELECT id, first_value(id) OVER (PARTITION BY registrant_id, client_id, filing_year, filing_period
    ORDER BY try_cast(filed_at AS TIMESTAMPTZ) DESC NULLS LAST, id) AS newest
  FROM lda_filings WHERE registrant_id IS NOT NULL AND client_id IS NOT NULL AND filing_year IS NOT NULL
    AND filing_period IS NOT NULL AND filing_type NOT LIKE 'R%') n
WHERE lda_filings.id = n.id AND n.newest <> n.id;

UPDATE lda_filings SET superseded = false WHERE superseded IS NULL;

-- Several files may hold a period of a series: the one read last counts. Newest periods come first.
DELETE FROM statistical_series_observations o USING
  (SELECT parent, period, max(_seq) AS last FROM statistical_series_observations GROUP BY ALL) k
WHERE o.parent = k.parent AND o.period = k.period AND o._seq < k.last;

UPDATE statistical_series_observations SET _n = DATE '2200-01-01' - date, _seq = 0;

UPDATE statistical_series SET first_period = o.first_period, last_period = o.last_period,
  last_date = o.last_date, last_value = o.last_value,
  observation_count = o.observation_count
FROM (SELECT parent, arg_min(period, date) AS first_period, arg_max(period, date) FILTER (WHERE value IS NOT NULL) AS last_period,
        max(date) FILTER (WHERE value IS NOT NULL) AS last_date, arg_max(value, date) AS last_value,
        count(*) AS observation_count
      FROM statistical_series_observations GROUP BY parent) o
WHERE statistical_series.id = o.parent;
