//! What the Bank's manual lists: databases, parameters, messages, limits. The API has no endpoint
//! for them.

/// The document that these lists were taken from.
pub const SOURCE_DOCUMENT: &str = "api_manual.pdf";
pub const SOURCE_DATE: &str = "2026-02-18";

/// A database of the Bank.
pub struct Database {
    pub code: &'static str,
    pub category: (&'static str, &'static str),
    /// In Japanese and in English.
    pub name: (&'static str, &'static str),
}

const fn database(
    code: &'static str,
    category: (&'static str, &'static str),
    name: (&'static str, &'static str),
) -> Database {
    Database { code, category, name }
}

const DEPOSIT_AND_LOAN_RATES: (&str, &str) =
    ("金利（預金・貸出関連）", "Interest Rates on Deposits and Loans");
const FINANCIAL_MARKETS: (&str, &str) = ("マーケット関連", "Financial Markets");
const PAYMENT_AND_SETTLEMENT: (&str, &str) = ("決済関連", "Payment and Settlement");
const MONEY_DEPOSITS_AND_LOANS: (&str, &str) = ("預金・マネー・貸出", "Money, Deposits and Loans");
const BALANCE_SHEETS: (&str, &str) =
    ("金融機関バランスシート", "Balance Sheets of the Bank of Japan and Financial Institutions");
const FLOW_OF_FUNDS: (&str, &str) = ("資金循環", "Flow of Funds");
const OTHER_BANK_STATISTICS: (&str, &str) =
    ("その他の日本銀行関連", "Other Bank of Japan Statistics");
const TANKAN: (&str, &str) = ("短観", "TANKAN");
const PRICES: (&str, &str) = ("物価", "Prices");
const PUBLIC_FINANCE: (&str, &str) = ("財政関連", "Public Finance");
const BALANCE_OF_PAYMENTS: (&str, &str) =
    ("国際収支・BIS関連", "Balance of Payments and BIS-Related Statistics");
const OTHERS: (&str, &str) = ("その他", "Others");

#[rustfmt::skip]
pub const DATABASES: &[Database] = &[
    database("IR01", DEPOSIT_AND_LOAN_RATES, (
        "基準割引率および基準貸付利率（従来「公定歩合」として掲載されていたもの）の推移",
        "The Basic Discount Rates and Basic Loan Rates (Previously Indicated as \"Official \
         Discount Rates\")",
    )),
    database("IR02", DEPOSIT_AND_LOAN_RATES, (
        "預金種類別店頭表示金利の平均年利率等",
        "Average Interest Rates Posted at Financial Institutions by Type of Deposit",
    )),
    database("IR03", DEPOSIT_AND_LOAN_RATES, (
        "定期預金の預入期間別平均金利",
        "Average Interest Rates on Time Deposits by Term",
    )),
    database("IR04", DEPOSIT_AND_LOAN_RATES, (
        "貸出約定平均金利",
        "Average Contract Interest Rates on Loans and Discounts",
    )),
    database("FM01", FINANCIAL_MARKETS, (
        "無担保コールＯ／Ｎ物レート（毎営業日）",
        "Uncollateralized Overnight Call Rate (average) (Updated every business day)",
    )),
    database("FM02", FINANCIAL_MARKETS, ("短期金融市場金利", "Short-term Money Market Rates")),
    database("FM03", FINANCIAL_MARKETS, (
        "短期金融市場残高",
        "Amounts Outstanding in Short-term Money Market",
    )),
    database("FM04", FINANCIAL_MARKETS, (
        "コール市場残高",
        "Amounts Outstanding in the Call Money Market",
    )),
    database("FM05", FINANCIAL_MARKETS, (
        "公社債発行・償還および現存額",
        "Issuance, Redemption, and Outstanding of Public and Corporate Bonds",
    )),
    database("FM06", FINANCIAL_MARKETS, (
        "公社債消化状況（利付国債）",
        "Trading of Interest-bearing Government Bonds by Purchaser (Interest-bearing Government \
         Bonds)",
    )),
    database("FM07", FINANCIAL_MARKETS, (
        "(参考）国債窓口販売額・窓口販売率（2004年1月まで）",
        "(Reference)Government Bonds Sales Over the Counter / Counter Sales Ratio (through \
         January 2004)",
    )),
    database("FM08", FINANCIAL_MARKETS, ("外国為替市況", "Foreign Exchange Rates")),
    database("FM09", FINANCIAL_MARKETS, ("実効為替レート", "Effective Exchange Rate")),
    database("PS01", PAYMENT_AND_SETTLEMENT, ("各種決済", "Other Payment and Settlement Systems")),
    database("PS02", PAYMENT_AND_SETTLEMENT, ("フェイルの発生状況", "Basic Figures on Fails")),
    database("MD01", MONEY_DEPOSITS_AND_LOANS, ("マネタリーベース", "Monetary Base")),
    database("MD02", MONEY_DEPOSITS_AND_LOANS, ("マネーストック", "Money Stock")),
    database("MD03", MONEY_DEPOSITS_AND_LOANS, ("マネタリーサーベイ", "Monetary Survey")),
    database("MD04", MONEY_DEPOSITS_AND_LOANS, (
        "(参考) マネーサプライ (M2+CD) 増減と信用面の対応",
        "(Reference) Changes in Money Stock (M2+CDs) and Credit",
    )),
    database("MD05", MONEY_DEPOSITS_AND_LOANS, ("通貨流通高", "Currency in Circulation")),
    database("MD06", MONEY_DEPOSITS_AND_LOANS, (
        "日銀当座預金増減要因と金融調節（実績）",
        "Sources of Changes in Current Account Balances at the Bank of Japan and Market \
         Operations (Final Figures)",
    )),
    database("MD07", MONEY_DEPOSITS_AND_LOANS, ("準備預金額", "Reserves")),
    database("MD08", MONEY_DEPOSITS_AND_LOANS, (
        "業態別の日銀当座預金残高",
        "BOJ Current Account Balances by Sector",
    )),
    database("MD09", MONEY_DEPOSITS_AND_LOANS, (
        "マネタリーベースと日本銀行の取引",
        "Monetary Base and the Bank of Japan's Transactions",
    )),
    database("MD10", MONEY_DEPOSITS_AND_LOANS, (
        "預金者別預金",
        "Amounts Outstanding of Deposits by Depositor",
    )),
    database("MD11", MONEY_DEPOSITS_AND_LOANS, (
        "預金・現金・貸出金",
        "Deposits, Vault Cash, and Loans and Bills Discounted",
    )),
    database("MD12", MONEY_DEPOSITS_AND_LOANS, (
        "都道府県別預金・現金・貸出金",
        "Deposits, Vault Cash, and Loans and Bills Discounted by Prefecture (Domestically \
         Licensed Banks)",
    )),
    database("MD13", MONEY_DEPOSITS_AND_LOANS, (
        "貸出・預金動向",
        "Principal Figures of Financial Institutions",
    )),
    database("MD14", MONEY_DEPOSITS_AND_LOANS, (
        "定期預金の残高および新規受入高",
        "Time Deposits: Amounts Outstanding and New Deposits by Maturity",
    )),
    database("LA01", MONEY_DEPOSITS_AND_LOANS, ("貸出先別貸出金", "Loans and Bills Discounted by Sector")),
    database("LA02", MONEY_DEPOSITS_AND_LOANS, (
        "日本銀行貸出",
        "Loans and Discounts by the Bank of Japan",
    )),
    database("LA03", MONEY_DEPOSITS_AND_LOANS, ("その他貸出残高", "Outstanding of Loans (Others)")),
    database("LA04", MONEY_DEPOSITS_AND_LOANS, (
        "コミットメントライン契約額、利用額",
        "Commitment Lines Extended by Japanese Banks",
    )),
    database("LA05", MONEY_DEPOSITS_AND_LOANS, (
        "主要銀行貸出動向アンケート調査",
        "Senior Loan Officer Opinion Survey on Bank Lending Practices at Large Japanese Banks",
    )),
    database("BS01", BALANCE_SHEETS, ("日本銀行勘定", "Bank of Japan Accounts")),
    database("BS02", BALANCE_SHEETS, ("民間金融機関の資産・負債", "Financial Institutions Accounts")),
    database("FF", FLOW_OF_FUNDS, ("資金循環", "Flow of Funds")),
    database("OB01", OTHER_BANK_STATISTICS, (
        "日本銀行の対政府取引",
        "Bank of Japan's Transactions with the Government",
    )),
    database("OB02", OTHER_BANK_STATISTICS, (
        "日本銀行が受入れている担保の残高",
        "Collateral Accepted by the Bank of Japan",
    )),
    database("CO", TANKAN, ("短観", "TANKAN")),
    database("PR01", PRICES, ("企業物価指数", "Corporate Goods Price Index (CGPI)")),
    database("PR02", PRICES, ("企業向けサービス価格指数", "Services Producer Price Index (SPPI)")),
    database("PR03", PRICES, (
        "製造業部門別投入・産出物価指数",
        "Input-Output Price Index of the Manufacturing Industry by Sector (IOPI)",
    )),
    database("PR04", PRICES, (
        "＜サテライト指数＞最終需要・中間需要物価指数",
        "<Satellite series> Final Demand-Intermediate Demand price indexes (FD-ID price indexes)",
    )),
    database("PF01", PUBLIC_FINANCE, (
        "財政資金収支",
        "Statement of Receipts and Payments of the Treasury Accounts",
    )),
    database("PF02", PUBLIC_FINANCE, ("政府債務", "National Government Debt")),
    database("BP01", BALANCE_OF_PAYMENTS, ("国際収支統計", "Balance of Payments")),
    database("BIS", BALANCE_OF_PAYMENTS, (
        "BIS 国際資金取引統計および国際与信統計の日本分集計結果",
        "BIS International Locational Banking Statistics and BIS International Consolidated \
         Banking Statistics in Japan",
    )),
    database("DER", BALANCE_OF_PAYMENTS, (
        "デリバティブ取引に関する定例市場報告",
        "Regular Derivatives Market Statistics in Japan",
    )),
    database("OT", OTHERS, ("その他", "Others")),
];

/// A message of the Bank: status, ID, text in Japanese, text in English. The Bank's own English is
/// known of a few; the others are described.
#[derive(Clone, Copy)]
pub struct Message {
    pub status: i64,
    pub id: &'static str,
    pub japanese: &'static str,
    pub english: &'static str,
}

const fn message(
    status: i64,
    id: &'static str,
    japanese: &'static str,
    english: &'static str,
) -> Message {
    Message { status, id, japanese, english }
}

#[rustfmt::skip]
pub const MESSAGES: &[Message] = &[
    message(200, "M181000I", "正常に終了しました。", "Successfully completed"),
    message(
        200, "M181030I",
        "正常に終了しましたが、該当データはありませんでした。",
        "Successfully completed, but there is no data",
    ),
    message(400, "M181001E", "Invalid input parameters", "Invalid input parameters"),
    message(400, "M181002E", "Invalid language setting", "Invalid language setting"),
    message(400, "M181003E", "結果ファイル形式が正しくありません。", "Invalid format"),
    message(400, "M181004E", "DBが指定されていません。", "The database is missing"),
    message(400, "M181005E", "DB名が正しくありません。", "Invalid database name"),
    message(400, "M181006E", "系列コードが指定されていません。", "The series code is missing"),
    message(400, "M181007E", "系列コードの数が1250を超えています。", "There are more than 1,250 series codes"),
    message(400, "M181008E", "指定した開始期が正しくありません。", "Invalid start date"),
    message(400, "M181009E", "指定した終了期が正しくありません。", "Invalid end date"),
    message(
        400, "M181010E",
        "時期は1850年から2050年までを数値で指定してください。",
        "Periods lie between 1850 and 2050, in digits",
    ),
    message(400, "M181011E", "開始期と終了期の順序を正しく指定してください。", "The start date is after the end date"),
    message(400, "M181012E", "検索開始位置が正しくありません。", "Invalid start position"),
    message(400, "M181013E", "指定した系列コードは存在しません。", "Nonexistent series code"),
    message(400, "M181014E", "指定した系列コードの期種が一致しません。", "The series codes differ in frequency"),
    message(
        400, "M181015E",
        "指定した開始期の設定形式が期種と一致しません。",
        "The start date does not fit the frequency",
    ),
    message(400, "M181016E", "指定した終了期の設定形式が期種と一致しません。", "The end date does not fit the frequency"),
    message(400, "M181017E", "期種が指定されていません。", "The frequency is missing"),
    message(400, "M181018E", "期種が正しくありません。", "Invalid frequency"),
    message(400, "M181019E", "階層情報が指定されていません。", "The layer is missing"),
    message(400, "M181020E", "階層情報設定が正しくありません。", "Invalid layer"),
    message(
        500, "M181090S",
        "予期しないエラーが発生しました。時間をおいてからやり直してください。",
        "Unexpected error; try again later",
    ),
    message(
        503, "M181091S",
        "データベースにアクセス中にエラーになりました。時間をおいてからやり直してください。",
        "The database could not be accessed; try again later",
    ),
];
/// The message with this ID.
pub fn message_with(id: &str) -> Option<&'static Message> {
    MESSAGES.iter().find(|message| message.id == id)
}

/// Frequencies as they are asked for, and the names in answers that they stand for.
pub const FREQUENCIES: &[(&str, &str)] = &[
    ("CY", "ANNUAL"),
    ("FY", "ANNUAL(MAR)"),
    ("CH", "SEMIANNUAL"),
    ("FH", "SEMIANNUAL(SEP)"),
    ("Q", "QUARTERLY"),
    ("M", "MONTHLY"),
    ("W", "WEEKLY"),
    ("D", "DAILY"),
];

/// Digits of a start or end date for a frequency, by its name in answers.
pub fn date_digits(frequency: &str) -> usize {
    if frequency.starts_with("ANNUAL") { 4 } else { 6 }
}

/// Series in one answer, values in one answer, series that one question may mean.
pub const MOST_SERIES: usize = 250;
pub const MOST_VALUES: usize = 60_000;
pub const MOST_CODES: usize = 1_250;

/// Who asks for what: required, optional, or unsupported.
pub struct ParameterRow {
    pub name: &'static str,
    pub about: &'static str,
    pub values: &'static [&'static str],
    /// getDataCode, getDataLayer, getMetadata.
    pub needs: [&'static str; 3],
    pub notes: &'static [&'static str],
}

const R: &str = "required";
const O: &str = "optional";
const U: &str = "unsupported";

const fn row(
    name: &'static str,
    about: &'static str,
    values: &'static [&'static str],
    needs: [&'static str; 3],
    notes: &'static [&'static str],
) -> ParameterRow {
    ParameterRow { name, about, values, needs, notes }
}

const DATE_NOTES: &[&str] = &[
    "CY, FY: YYYY. CH, FH: YYYYHH (01, 02). Q: YYYYQQ (01 to 04). M, W, D: YYYYMM.",
    "Years from 1850 to 2050; without it from the first or to the last period.",
];

#[rustfmt::skip]
pub const PARAMETERS: &[ParameterRow] = &[
    row("format", "結果ファイル形式", &["json", "csv"], [O, O, O], &["json by default"]),
    row("lang", "言語", &["jp", "en"], [O, O, O], &["jp by default"]),
    row("db", "DB名", &[], [R, R, R], &["One of boj_list_databases"]),
    row("code", "系列コード", &[], [R, U, U],
        &["Without the database's prefix; all of one frequency; at most 1,250"]),
    row("layer", "階層情報", &[], [U, R, U], &["1 to 5 numbers; * stands for any"]),
    row("frequency", "期種", &["CY", "FY", "CH", "FH", "Q", "M", "W", "D"], [U, R, U], &[]),
    row("startDate", "開始期", &[], [O, O, U], DATE_NOTES),
    row("endDate", "終了期", &[], [O, O, U], DATE_NOTES),
    row("startPosition", "検索開始位置", &[], [O, O, U],
        &["From 1; NEXTPOSITION of the answer before"]),
];
