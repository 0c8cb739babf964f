-- Fills in fields and sub-resources of one source from another. Run in order after loading; `;` at
-- the end of a line ends a statement.

-- Senate roll calls identify members by LIS id.
UPDATE roll_call_votes_positions SET bioguide = l.id FROM legislators l
WHERE bioguide IS NULL AND roll_call_votes_positions.lis_id = l.lis_id;

UPDATE roll_call_votes_positions SET name = coalesce(roll_call_votes_positions.name, l.name),
  state = coalesce(roll_call_votes_positions.state, l.state), party = coalesce(roll_call_votes_positions.party, l.party)
FROM legislators l WHERE bioguide = l.id;

-- A bill's actions refer to its roll calls.
UPDATE roll_call_votes SET bill_id = a.bill FROM (SELECT vote_id, min(parent) AS bill FROM bills_actions
  WHERE vote_id IS NOT NULL GROUP BY vote_id HAVING count(DISTINCT parent) = 1) a
WHERE bill_id IS NULL AND roll_call_votes.id = a.vote_id;

UPDATE bills SET sponsor_name = coalesce(sponsor_name, l.name), sponsor_party = coalesce(sponsor_party, l.party),
  sponsor_state = coalesce(sponsor_state, l.state) FROM legislators l WHERE sponsor = l.id;

UPDATE amendments SET sponsor_name = coalesce(sponsor_name, l.name), sponsor_party = coalesce(sponsor_party, l.party),
  sponsor_state = coalesce(sponsor_state, l.state) FROM legislators l WHERE sponsor = l.id;

UPDATE bills_cosponsors SET name = coalesce(bills_cosponsors.name, l.name), party = coalesce(bills_cosponsors.party, l.party),
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

UPDATE bills SET is_law = law_id IS NOT NULL WHERE is_law IS NULL;

UPDATE bills SET status = 'enacted' WHERE law_id IS NOT NULL AND status IS DISTINCT FROM 'enacted';

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

UPDATE committees SET former_names = list_filter(former_names, lambda n: n <> name) WHERE former_names IS NOT NULL;

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
