//! A small document of every publisher, in the publisher's own form.

use super::support::zip_of;

pub const BILL: &str =
    "<billStatus><version>3.0.0</version><bill><type>HR</type><number>12</number>
    <congress>119</congress><title>Boats Act</title><introducedDate>2025-01-03</introducedDate>
    <actions><item><actionDate>2025-01-09</actionDate><text>Referred.</text></item></actions>
    <cboCostEstimates><item><url>https://www.cbo.gov/publication/57269</url><title>H.R. 12</title>
    <pubDate>2025-01-20T15:00:00Z</pubDate></item></cboCostEstimates></bill></billStatus>";

pub const BILL_TEXT: &str = r#"<bill bill-stage="Introduced-in-House"><metadata><dublinCore>
    <title>119 HR 12 IH: Boats Act</title></dublinCore></metadata><form>
    <congress>119th CONGRESS</congress>
    <legis-num>H. R. 12</legis-num><official-title>To float boats.</official-title></form>
    <legis-body><section><enum>1.</enum><header>Short title</header>
    <text>This Act may be cited as the Boats Act.</text>
    </section></legis-body></bill>"#;

pub const PEOPLE: &str = "- id:\n    bioguide: D000001\n  name:\n    first: Ada\n    last: Doe\n  \
    terms:\n  - type: rep\n    \
    start: '2025-01-03'\n    end: '2027-01-03'\n    state: WA\n    district: 1\n    \
    party: Democrat\n";

pub const PAST_PEOPLE: &str = "- id:\n    bioguide: R000001\n  name:\n    first: Abe\n    \
    last: Roe\n  terms:\n  - type: sen\n    \
    start: '1801-03-04'\n    end: '1803-03-03'\n    state: VA\n    party: Whig\n";

pub const HOUSE_VOTE: &str = r#"<rollcall-vote><vote-metadata><congress>119</congress>
    <session>1st</session>
    <rollcall-num>1</rollcall-num><legis-num>H R 12</legis-num>
    <vote-question>On Passage</vote-question>
    <vote-type>YEA-AND-NAY</vote-type><vote-result>Passed</vote-result>
    <action-date>15-Jan-2025</action-date>
    <vote-desc>Boats Act</vote-desc></vote-metadata><vote-data><recorded-vote>
    <legislator name-id="D000001" party="D" state="WA">Doe</legislator>
    <vote>Yea</vote></recorded-vote></vote-data>
    </rollcall-vote>"#;

pub const SENATE_VOTE: &str = "<roll_call_vote><congress>119</congress><session>1</session>\
    <vote_number>1</vote_number>
    <vote_date>January 9, 2025, 02:00 PM</vote_date><question>On the Motion</question>\
    <vote_title>Motion</vote_title>
    <vote_result>Motion Agreed to</vote_result><members/></roll_call_vote>";

pub const ISSUE: &str = r#"<FEDREG><VOL>90</VOL><DATE>Friday, January 3, 2025</DATE>
    <RULES><RULE><PREAMB>
    <PRTPAGE P="100"/><AGENCY TYPE="F">DEPARTMENT OF BOATS</AGENCY>
    <SUBJECT>On Ferries</SUBJECT></PREAMB>
    <SUPLINF><P>Words.</P></SUPLINF><FRDOC>[FR Doc. 2025-00001 Filed 1-2-25; 8:45 am]</FRDOC>
    </RULE></RULES></FEDREG>"#;

pub const NOMINATION: &str = r#"{"nomination": {"congress": 119, "number": 7, "citation": "PN7",
    "partNumber": "00",
    "description": "Ada Doe, of Ohio, to be Judge, vice Al Roe, retired.",
    "receivedDate": "2025-01-20",
    "latestAction": {"actionDate": "2025-01-20", "text": "Received in the Senate."},
    "actions": {"count": 1,
    "url": "https://api.congress.gov/v3/nomination/119/7/actions?format=json"}}}"#;

pub const ACTIONS: &str = r#"{"actions": [{"actionDate": "2025-01-20",
    "text": "Received in the Senate and referred to the Committee on the Judiciary.",
    "type": "IntroReferral"}]}"#;

pub const AMENDMENT: &str = r#"{"amendment": {"type": "SAMDT", "congress": 119, "number": "8",
    "purpose": "To add.",
    "submittedDate": "2025-01-15T05:00:00Z",
    "amendedBill": {"type": "HR", "congress": 119, "number": "12"},
    "actions": {"count": 1,
    "url": "https://api.congress.gov/v3/amendment/119/samdt/8/actions?format=json"}}}"#;

pub const AMENDMENT_ACTIONS: &str = r#"{"actions": [{"actionDate": "2025-01-16",
    "actionCode": "94000",
    "text": "Amendment SA 8 agreed to in Senate by Voice Vote."}], "pagination": {"count": 1}}"#;

pub const LAW: &str = "<pLaw xmlns='u'><meta><docNumber>1</docNumber><congress>119</congress>
    <publicPrivate>public</publicPrivate></meta><main><longTitle>\
    <officialTitle>To name it.</officialTitle>
    <sidenote><p>Jan. 29, 2025</p></sidenote></longTitle><section><num value='1'>SECTION 1. </num>
    <content>It is named.</content></section></main></pLaw>";

pub const REPORT: &str =
    "<html><title>House Report 119-1 - ON BOATS</title><body><pre>\n[House Report 119-1]\n
    January 21, 2025.--Referred to the House Calendar and ordered to be printed\n
    Mr. Doe of Maine, from the Committee on Rules, submitted the following\n
    [To accompany H. Res. 53]\n\n    It provides for H.R. 12.\n</pre></body></html>";

pub const ECFR: &str = r#"<DLPSTEXTCLASS><ECFRBRWS><AMDDATE>Dec. 29, 2024(fm)</AMDDATE>
    <DIV1 N="24" NODE="40:24" TYPE="TITLE">
    <DIV5 N="122" TYPE="PART"><DIV8 N="§ 122.26" TYPE="SECTION"><HEAD>§ 122.26   Boats.</HEAD>
    <P>(a) All boats.</P>
    </DIV8></DIV5></DIV1></ECFRBRWS></DLPSTEXTCLASS>"#;

pub const ORDERS: &str = r#"{"count": 1, "total_pages": 1,
    "results": [{"document_number": "2025-00002",
    "executive_order_number": "14147", "title": "On Boats", "signing_date": "2025-01-20",
    "publication_date": "2025-01-28", "president": {"name": "Donald Trump"},
    "html_url": "https://www.federalregister.gov/d/1"}]}"#;

pub const REGISTER_DOCUMENTS: &str = r#"{"description": "Documents published on 01/03/2025",
    "count": 1, "total_pages": 1, "results": [{"document_number": "2025-00001",
    "title": "On Ferries", "type": "Rule", "publication_date": "2025-01-03", "significant": true,
    "agencies": [{"raw_name": "DEPARTMENT OF BOATS", "name": "Boats Department", "id": 1}],
    "volume": 90, "start_page": 100, "end_page": 101, "page_length": 2,
    "cfr_references": [{"title": 40, "part": 122}], "docket_ids": [],
    "regulation_id_numbers": [], "effective_on": "2025-02-03", "comments_close_on": null,
    "html_url": "https://www.federalregister.gov/d/2025-00001"}]}"#;

pub const STATEMENTS: &str =
    "- bills: [hr12]\n  document_title: H.R. 12\n  congress: 119\n  date_issued: '2025-01-09'\n";

pub const FILINGS: &str = r#"{"count": 1, "next": null,
    "results": [{"filing_uuid": "d7ac3f5a-2b56-4f5e-8f30-0d3a6e7c1b22",
    "filing_type": "Q4", "filing_period": "fourth_quarter", "filing_year": 2024,
    "dt_posted": "2025-01-20T10:00:00-05:00",
    "registrant": {"name": "Ferry Friends"}, "client": {"name": "Boats Inc"},
    "lobbying_activities": []}]}"#;

pub const MEETING: &str = r#"{"committeeMeeting": {"chamber": "House", "congress": 119,
    "eventId": "117001",
    "title": "Markup of H.R. 12", "date": "2025-01-15T15:00:00Z", "type": "Markup"}}"#;

pub const HEARING: &str = r#"{"hearing": {"chamber": "Senate", "congress": 119,
    "jacketNumber": 58064, "title": "BOATS",
    "dates": [{"date": "2025-01-14"}]}}"#;

pub const CRS_REPORT: &str = r#"{"CRSReport": {"id": "R48000", "title": "Boats",
    "status": "Active", "version": 2,
    "publishDate": "2025-01-15T05:00:00Z", "updateDate": "2025-01-16T22:38:55Z",
    "contentType": "Reports",
    "authors": [{"author": "Jane Doe"}], "topics": [{"topic": "Ferries"}], "formats": [],
    "relatedMaterials": [{"congress": 119, "number": "12", "type": "HR", "title": "Boats Act"}],
    "summary": "Boats float. The Boats Act would float more.",
    "url": "congress.gov/crs-report/R48000"}}"#;

pub const GAO_FEED: &str = "<rss version='2.0'><channel><title>Reports</title><item>\
    <title>Boats: More Needed</title>
    <link>https://www.gao.gov/products/gao-25-107743</link>\
    <pubDate>Thu, 23 Jan 2025 07:26:10 -0500</pubDate>
    <description>&lt;p&gt;What GAO Found&lt;/p&gt;&lt;p&gt;Boats leak.&lt;/p&gt;</description>\
    </item></channel></rss>";

pub const GRANULE: &str = "<html><head><title>Congressional Record</title></head><body><pre>
[Congressional Record Volume 171, Number 1 (Friday, January 3, 2025)]\n[House]\n[Page H5]
From the Congressional Record Online through the Government Publishing Office \
    [<a href=\"x\">www.gpo.gov</a>]\n\n
                                 BOATS\n\n  Ms. DOE. Boats float.\n</pre></body></html>";

pub const MODS: &str = r#"<mods xmlns="http://www.loc.gov/mods/v3">
    <extension><congress>119</congress></extension>
    <relatedItem type="constituent" ID="id-CREC-2025-01-03-pt1-PgH5-2">
    <titleInfo><title>ON BOATS</title></titleInfo>
    <extension><accessId>CREC-2025-01-03-pt1-PgH5-2</accessId><granuleClass>HOUSE</granuleClass>
    <granuleDate>2025-01-03</granuleDate>
    <congMember bioGuideId="D000001" chamber="H" congress="119" role="SPEAKING"/>
    <bill congress="119" context="TITLE" number="12" type="HR"/></extension></relatedItem></mods>"#;

pub const PAYMENTS: &str = "ORGANIZATION,PROGRAM,SORT SUBTOTAL DESCRIPTION,SORT SEQUENCE,\
    VENDOR NAME,PERFORM END DT,\
    DESCRIPTION,AMOUNT \n\
    2025 HON. ADA DOE,M,PERSONNEL COMPENSATION,DETAIL,\"ROE,AL\",31-Mar-25,CLERK,100.00\n\
    2025 HON. ADA DOE,M,TRAVEL,DETAIL,TRAINS INC,31-Mar-25,TRAIN,10.00\n";

pub const REPORT_MODS: &str = r#"<mods xmlns="http://www.loc.gov/mods/v3" ID="P0b002ee1">
    <titleInfo><title>House Report 119-1 - On Boats</title></titleInfo></mods>"#;

/// A day of the Record as GPO packs it.
pub fn record_of_a_day() -> Vec<u8> {
    zip_of(&[
        ("CREC-2025-01-03/html/CREC-2025-01-03-pt1-PgH5-2.htm", GRANULE),
        ("CREC-2025-01-03/mods.xml", MODS),
        ("CREC-2025-01-03/pdf/CREC-2025-01-03.pdf", "%PDF"),
    ])
}

/// A report as GPO packs it.
pub fn report_package() -> Vec<u8> {
    zip_of(&[
        ("CRPT-119hrpt1/html/CRPT-119hrpt1.htm", REPORT),
        ("CRPT-119hrpt1/mods.xml", REPORT_MODS),
        ("CRPT-119hrpt1/pdf/CRPT-119hrpt1.pdf", "%PDF"),
    ])
}
