//! The table of feeds: for each source its publisher, address, format, licence and update
//! frequency. `fetch` works by it, and `josh-data-build sources` prints it as SOURCES.md.

use super::feed_families::{
    US_WORK, congress_legislators, disbursements, fiscal_data, sap_list, topic_list,
};
use super::publishers::{Feed, Listing, NextPage, Numbered, Pages, Part};

const GPO: &str = "GPO govinfo";
const CONGRESS_GOV: &str = "Congress.gov (Library of Congress)";

/// The API has at most 20 pages of 250 records.
const REGULATIONS_PAGES: Pages = Pages {
    next: NextPage::Number { more: "/meta/hasNextPage", parameter: "page%5Bnumber%5D" },
    keep: "",
    list: "/data",
    count: "/meta/totalElements",
};

/// The address of a file on GitHub: `owner/repository/branch/path`.
macro_rules! github {
    ($path:literal) => {
        concat!("https://raw.githubusercontent.com/", $path)
    };
}

/// The address of the statements of one presidency.
macro_rules! sap_archive {
    ($name:literal) => {
        concat!(
            "https://raw.githubusercontent.com/unitedstates/",
            "statements-of-administration-policy/HEAD/archive/",
            $name,
            ".yaml"
        )
    };
}

pub const FEEDS: &[Feed] = &[
    Feed {
        source: "bills",
        publisher: GPO,
        address: "https://www.govinfo.gov/bulkdata/json/BILLSTATUS/{congress}",
        format: "BILLSTATUS XML",
        licence: US_WORK,
        frequency: "several times a day",
        folder: "status/{congress}",
        listing: Listing::Bulk { archives: true },
    },
    Feed {
        source: "bills",
        publisher: GPO,
        address: "https://www.govinfo.gov/bulkdata/json/BILLS/{congress}",
        format: "bill texts in XML (bill DTD, USLM)",
        licence: US_WORK,
        frequency: "daily",
        folder: "text/{congress}",
        listing: Listing::Bulk { archives: true },
    },
    Feed {
        source: "amendments",
        publisher: CONGRESS_GOV,
        address: "https://api.congress.gov/v3/amendment/{congress}?format=json&limit=250",
        format: "congress.gov API JSON, one amendment per file, with its actions",
        licence: US_WORK,
        frequency: "daily",
        folder: "{congress}",
        listing: Listing::Items {
            list: "amendments",
            parts: &[Part {
                from: "/amendment/actions/url",
                list: "actions",
                into: "/amendment/actions",
            }],
        },
    },
    Feed {
        source: "public-laws",
        publisher: GPO,
        address: "https://www.govinfo.gov/bulkdata/json/PLAW/{congress}/public",
        format: "USLM XML",
        licence: US_WORK,
        frequency: "as laws are printed",
        folder: "{congress}",
        listing: Listing::Bulk { archives: false },
    },
    Feed {
        source: "committee-reports",
        publisher: GPO,
        address: "https://www.govinfo.gov/sitemap/CRPT_{year}_sitemap.xml",
        format: "ZIP per report: text in HTML, MODS metadata, PDF",
        licence: US_WORK,
        frequency: "daily",
        folder: "{year}",
        listing: Listing::Sitemap { file: "https://www.govinfo.gov/content/pkg/{id}.zip" },
    },
    Feed {
        source: "crs-reports",
        publisher: CONGRESS_GOV,
        address: "https://api.congress.gov/v3/crsreport?format=json&limit=250\
            &fromDateTime={since}T00:00:00Z",
        format: "congress.gov API JSON, one report per file (summary, no full text)",
        licence: US_WORK,
        frequency: "daily",
        folder: "api",
        listing: Listing::Items { list: "CRSReports", parts: &[] },
    },
    Feed {
        source: "cbo-estimates",
        publisher: "Congressional Budget Office, listed by GPO govinfo",
        address: "https://www.govinfo.gov/bulkdata/json/BILLSTATUS/{congress}",
        format: "BILLSTATUS XML (`cboCostEstimates`)",
        licence: US_WORK,
        frequency: "with the bills",
        folder: "",
        listing: Listing::IncludedIn("bills"),
    },
    Feed {
        source: "gao-reports",
        publisher: "U.S. Government Accountability Office",
        address: "https://www.gao.gov/rss/reports.xml",
        format: "RSS of the newest reports",
        licence: US_WORK,
        frequency: "daily",
        // The feed has the newest reports only, so each day's version is kept.
        folder: "rss/{until}",
        listing: Listing::File,
    },
    Feed {
        source: "federal-register",
        publisher: GPO,
        address: "https://www.govinfo.gov/bulkdata/json/FR/{year}/{month}",
        format: "daily issues in XML (FEDREG)",
        licence: US_WORK,
        frequency: "every working day",
        folder: "{year}/{month}",
        listing: Listing::Bulk { archives: false },
    },
    Feed {
        source: "federal-register",
        publisher: "Office of the Federal Register",
        address: concat!(
            "https://www.federalregister.gov/api/v1/documents.json?per_page=1000&order=oldest",
            "&conditions%5Bpublication_date%5D%5Bis%5D={day}",
            "&fields%5B%5D=document_number&fields%5B%5D=title&fields%5B%5D=type",
            "&fields%5B%5D=subtype&fields%5B%5D=abstract&fields%5B%5D=action&fields%5B%5D=dates",
            "&fields%5B%5D=agencies&fields%5B%5D=publication_date&fields%5B%5D=effective_on",
            "&fields%5B%5D=comments_close_on&fields%5B%5D=signing_date&fields%5B%5D=significant",
            "&fields%5B%5D=cfr_references&fields%5B%5D=docket_ids&fields%5B%5D=topics",
            "&fields%5B%5D=regulation_id_numbers&fields%5B%5D=citation&fields%5B%5D=volume",
            "&fields%5B%5D=start_page&fields%5B%5D=end_page&fields%5B%5D=page_length",
            "&fields%5B%5D=correction_of&fields%5B%5D=corrections&fields%5B%5D=president",
            "&fields%5B%5D=executive_order_number&fields%5B%5D=proclamation_number",
            "&fields%5B%5D=html_url",
        ),
        format: "federalregister.gov API JSON, pages of documents by day, without their texts",
        licence: US_WORK,
        frequency: "every working day",
        folder: "api/{year}",
        // By day, because the API returns only the first 2,000 documents of a search.
        listing: Listing::Pages(&Pages {
            next: NextPage::Address("/next_page_url"),
            keep: "",
            list: "/results",
            count: "/count",
        }),
    },
    Feed {
        source: "cfr-sections",
        publisher: "Office of the Federal Register and GPO govinfo",
        address: "https://www.govinfo.gov/bulkdata/json/ECFR",
        format: "eCFR XML, one title per file",
        licence: US_WORK,
        frequency: "daily",
        folder: "ecfr",
        listing: Listing::Bulk { archives: false },
    },
    Feed {
        source: "congressional-record",
        publisher: GPO,
        address: "https://www.govinfo.gov/sitemap/CREC_{year}_sitemap.xml",
        format: "ZIP per day: granules in HTML, MODS metadata",
        licence: US_WORK,
        frequency: "every session day",
        folder: "{year}",
        listing: Listing::Sitemap { file: "https://www.govinfo.gov/content/pkg/{id}.zip" },
    },
    Feed {
        source: "presidential-documents",
        publisher: "Office of the Federal Register",
        address: "https://www.federalregister.gov/api/v1/documents.json?per_page=1000&order=oldest\
            &conditions%5Btype%5D%5B%5D=PRESDOCU\
            &conditions%5Bpresidential_document_type%5D%5B%5D=executive_order\
            &conditions%5Bpublication_date%5D%5Byear%5D={year}&fields%5B%5D=document_number\
            &fields%5B%5D=executive_order_number&fields%5B%5D=title&fields%5B%5D=signing_date\
            &fields%5B%5D=publication_date&fields%5B%5D=president&fields%5B%5D=html_url",
        format: "federalregister.gov API JSON (list of executive orders)",
        licence: US_WORK,
        frequency: "every working day",
        folder: "executive-orders",
        listing: Listing::Pages(&Pages {
            next: NextPage::Address("/next_page_url"),
            keep: "/results",
            list: "/results",
            count: "/count",
        }),
    },
    Feed {
        source: "presidential-documents",
        publisher: GPO,
        address: "https://www.govinfo.gov/bulkdata/json/FR/{year}/{month}",
        format: "daily issues in XML (`PRESDOCU`): orders and proclamations in full",
        licence: US_WORK,
        frequency: "every working day",
        folder: "",
        listing: Listing::IncludedIn("federal-register"),
    },
    sap_list(sap_archive!("40-Reagan"), Listing::File),
    sap_list(sap_archive!("41-Bush"), Listing::File),
    sap_list(sap_archive!("42-Clinton"), Listing::File),
    sap_list(sap_archive!("43-Bush"), Listing::File),
    sap_list(sap_archive!("44-Obama"), Listing::Statements),
    sap_list(sap_archive!("45-Trump"), Listing::Statements),
    sap_list(sap_archive!("46-Biden"), Listing::Statements),
    sap_list(sap_archive!("47-Trump"), Listing::Statements),
    congress_legislators(
        "legislators",
        github!("unitedstates/congress-legislators/main/legislators-current.yaml"),
    ),
    congress_legislators(
        "legislators",
        github!("unitedstates/congress-legislators/main/legislators-historical.yaml"),
    ),
    congress_legislators(
        "legislators",
        github!("unitedstates/congress-legislators/main/legislators-district-offices.yaml"),
    ),
    congress_legislators(
        "committees",
        github!("unitedstates/congress-legislators/main/committees-current.yaml"),
    ),
    congress_legislators(
        "committees",
        github!("unitedstates/congress-legislators/main/committees-historical.yaml"),
    ),
    congress_legislators(
        "committees",
        github!("unitedstates/congress-legislators/main/committee-membership-current.yaml"),
    ),
    Feed {
        source: "staff-directories",
        publisher: "House of Representatives, summarized by dwillis/house-expenditures",
        address: github!("dwillis/house-expenditures/HEAD/output/{year}Q{quarter}-summary.csv"),
        format: "CSV of offices by quarter",
        licence: "public record",
        frequency: "quarterly",
        folder: "house-summary",
        listing: Listing::File,
    },
    disbursements(
        "https://www.house.gov/the-house-explained/open-government/statement-of-disbursements",
    ),
    disbursements(
        "https://www.house.gov/the-house-explained/open-government/statement-of-disbursements/\
            archive",
    ),
    Feed {
        source: "lda-filings",
        publisher: "Office of Public Records, United States Senate",
        address: "https://lda.gov/api/v1/filings/?filing_dt_posted_after={day}\
            &filing_dt_posted_before={next_day}&page_size=25",
        format: "LDA API JSON, pages of filings by posting date",
        licence: US_WORK,
        frequency: "daily",
        folder: "{year}",
        listing: Listing::Pages(&Pages {
            next: NextPage::Address("/next"),
            keep: "",
            list: "/results",
            count: "/count",
        }),
    },
    Feed {
        source: "roll-call-votes",
        publisher: "Clerk of the House",
        address: "https://clerk.house.gov/evs/{year}/index.asp",
        format: "XML of the Clerk, one vote per file",
        licence: US_WORK,
        frequency: "after every vote",
        folder: "house/{year}",
        listing: Listing::Numbered(&Numbered {
            pattern: r"rollnumber=(\d+)",
            file: "https://clerk.house.gov/evs/{year}/roll{number:3}.xml",
            root: "rollcall-vote",
            date: "<action-date>([^<]+)<",
        }),
    },
    Feed {
        source: "roll-call-votes",
        publisher: "Secretary of the Senate",
        address: "https://www.senate.gov/legislative/LIS/roll_call_lists/\
            vote_menu_{congress}_{session}.xml",
        format: "XML of the Secretary, one vote per file",
        licence: US_WORK,
        frequency: "after every vote",
        folder: "senate/{congress}-{session}",
        listing: Listing::Numbered(&Numbered {
            pattern: r"<vote_number>\s*(\d+)\s*</vote_number>",
            file: "https://www.senate.gov/legislative/LIS/roll_call_votes/vote{congress}{session}/\
                vote_{congress}_{session}_{number:5}.xml",
            root: "roll_call_vote",
            date: "<vote_date>([^<]+)<",
        }),
    },
    Feed {
        source: "hearings",
        publisher: CONGRESS_GOV,
        address: "https://api.congress.gov/v3/committee-meeting/{congress}?format=json&limit=250",
        format: "congress.gov API JSON, one meeting per file",
        licence: US_WORK,
        frequency: "daily",
        folder: "meetings/{congress}",
        listing: Listing::Items { list: "committeeMeetings", parts: &[] },
    },
    Feed {
        source: "hearings",
        publisher: CONGRESS_GOV,
        address: "https://api.congress.gov/v3/hearing/{congress}?format=json&limit=250",
        format: "congress.gov API JSON, one printed hearing per file",
        licence: US_WORK,
        frequency: "as hearings are printed",
        folder: "printed/{congress}",
        listing: Listing::Items { list: "hearings", parts: &[] },
    },
    Feed {
        source: "regulations-dot-gov-dockets",
        publisher: "Regulations.gov (General Services Administration)",
        address: "https://api.regulations.gov/v4/documents?filter%5BpostedDate%5D%5Bge%5D={day}\
            &filter%5BpostedDate%5D%5Ble%5D={day}&sort=postedDate&page%5Bsize%5D=250",
        format: "regulations.gov v4 JSON, pages of documents by posting date",
        licence: US_WORK,
        frequency: "daily",
        folder: "documents/{year}",
        listing: Listing::Pages(&REGULATIONS_PAGES),
    },
    Feed {
        source: "regulations-dot-gov-dockets",
        publisher: "Regulations.gov (General Services Administration)",
        address: "https://api.regulations.gov/v4/dockets\
            ?filter%5BlastModifiedDate%5D%5Bge%5D={day}%2000:00:00\
            &filter%5BlastModifiedDate%5D%5Ble%5D={day}%2023:59:59\
            &sort=lastModifiedDate&page%5Bsize%5D=250",
        format: "regulations.gov v4 JSON, pages of dockets by modification date",
        licence: US_WORK,
        frequency: "daily",
        folder: "dockets/{year}",
        listing: Listing::Pages(&REGULATIONS_PAGES),
    },
    topic_list(
        github!("osma/annif-us-congress-bills/HEAD/policy_area.csv"),
        "CSV of policy areas (copy of osma/annif-us-congress-bills)",
        "CC0 1.0",
    ),
    topic_list(
        github!("osma/annif-us-congress-bills/HEAD/legislative_subjects.csv"),
        "CSV of legislative subjects (copy of osma/annif-us-congress-bills)",
        "CC0 1.0",
    ),
    topic_list(
        github!("govtrack/govtrack.us-web/HEAD/bill/crsnet.xml"),
        "XML of the subject hierarchy (copy of govtrack/govtrack.us-web)",
        US_WORK,
    ),
    Feed {
        source: "nominations",
        publisher: CONGRESS_GOV,
        address: "https://api.congress.gov/v3/nomination/{congress}?format=json&limit=250",
        format: "congress.gov API JSON, one nomination per file, with its actions",
        licence: US_WORK,
        frequency: "daily",
        folder: "{congress}",
        listing: Listing::Items {
            list: "nominations",
            parts: &[Part { from: "/nomination/actions/url", list: "actions", into: "/actions" }],
        },
    },
    fiscal_data(
        "https://api.fiscaldata.treasury.gov/services/api/fiscal_service/v2/accounting/od/\
            debt_to_penny?sort=record_date&page%5Bsize%5D=10000",
        "daily",
        "treasury/debt_to_penny",
    ),
    fiscal_data(
        "https://api.fiscaldata.treasury.gov/services/api/fiscal_service/v2/accounting/od/\
            debt_outstanding?sort=record_date&page%5Bsize%5D=10000",
        "yearly",
        "treasury/debt_outstanding",
    ),
    fiscal_data(
        "https://api.fiscaldata.treasury.gov/services/api/fiscal_service/v2/accounting/od/\
            avg_interest_rates?sort=record_date&page%5Bsize%5D=10000",
        "monthly",
        "treasury/avg_interest_rates",
    ),
    Feed {
        source: "statistical-series",
        publisher: "U.S. Bureau of Labor Statistics",
        address: "https://api.bls.gov/publicAPI/v2/timeseries/data/",
        format: "BLS Public Data API JSON",
        licence: US_WORK,
        frequency: "monthly",
        folder: "bls",
        listing: Listing::LaborSeries,
    },
    Feed {
        source: "statistical-series",
        publisher: "Bank of Japan",
        address: "https://www.stat-search.boj.or.jp/api/v1/getMetadata?format=json&lang=en&\
            db={database}",
        format: "Bank of Japan Time-Series Data Search API JSON",
        licence: "the Bank's terms: credit required, no commercial reproduction without permission",
        frequency: "daily",
        folder: "boj",
        listing: Listing::BankDatabases,
    },
];

#[cfg(test)]
mod tests {
    use super::FEEDS;

    #[test]
    fn every_source_has_a_feed_and_every_feed_a_source() {
        for source in josh::catalog::SOURCES {
            assert!(FEEDS.iter().any(|f| f.source == source.key), "{}", source.key);
        }
        for feed in FEEDS {
            assert!(josh::catalog::SOURCES.iter().any(|s| s.key == feed.source), "{}", feed.source);
            assert!(feed.address.starts_with("https://"), "{}", feed.address);
        }
    }
}
