//! The standard loads that all ways of rendering are measured with.

use std::fmt::Write as _;

use base64::{Engine as _, prelude::BASE64_STANDARD};

const HELLO: &str = include_str!("../pages/hello.html");
const INVOICE: &str = include_str!("../pages/invoice.html");
const INVOICE_SCRIPT: &str = include_str!("../pages/invoice-script.html");
const TABLE: &str = include_str!("../pages/table.html");

/// The invoice's web fonts, by their paths in its style sheet.
pub(crate) const FONTS: [(&str, &[u8]); 2] = [
    (
        "fonts/ibm-plex-mono-latin-400-normal.woff2",
        include_bytes!("../pages/fonts/ibm-plex-mono-latin-400-normal.woff2"),
    ),
    (
        "fonts/ibm-plex-mono-latin-600-normal.woff2",
        include_bytes!("../pages/fonts/ibm-plex-mono-latin-600-normal.woff2"),
    ),
];

/// Rows of five columns: 19,400 cells, 100 pages of A4.
const TABLE_ROWS: u32 = 3_880;

/// One standard load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) name: &'static str,
    /// A complete document without external resources.
    pub(crate) html: String,
    /// The required number of A4 pages.
    pub(crate) page_count: usize,
    /// The name of a font that must be embedded; it is missing if the page was printed before the web font loaded.
    pub(crate) font: Option<&'static str>,
}

/// One page, without script.
pub(crate) fn hello() -> Load {
    Load {
        name: "hello",
        html: HELLO.to_owned(),
        page_count: 1,
        font: None,
    }
}

/// Two pages with a table, two web fonts and a logo, without script.
pub(crate) fn invoice() -> Load {
    let html = FONTS.iter().fold(INVOICE.to_owned(), |html, (path, bytes)| {
        html.replace(
            path,
            &format!("data:font/woff2;base64,{}", BASE64_STANDARD.encode(bytes)),
        )
    });
    Load {
        name: "invoice",
        html,
        page_count: 2,
        font: Some("IBMPlexMono"),
    }
}

/// The logo of the invoice, as a file.
pub(crate) fn invoice_logo() -> String {
    logo().replacen("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ", 1)
}

/// The invoice with the assets `logo.svg` and [`FONTS`].
pub(crate) fn invoice_with_assets() -> Load {
    let html = INVOICE.replace(
        logo(),
        "<img src=\"asset:logo.svg\" alt=\"Holloway &amp; Finch\" width=\"248\">",
    );
    Load {
        html: html.replace("url(\"fonts/", "url(\"asset:fonts/"),
        ..invoice()
    }
}

/// The invoice without logo and web fonts.
pub(crate) fn invoice_without_files() -> Load {
    let without_fonts = INVOICE.lines().filter(|line| !line.contains("@font-face"));
    Load {
        html: without_fonts
            .collect::<Vec<_>>()
            .join("\n")
            .replace(logo(), "Holloway &amp; Finch"),
        font: None,
        ..invoice()
    }
}

fn logo() -> &'static str {
    let logo = INVOICE.split_once("<svg ").and_then(|(before, _)| {
        let from = before.len();
        let to = from + INVOICE[from..].find("</svg>")? + "</svg>".len();
        INVOICE.get(from..to)
    });
    logo.unwrap_or_default()
}

/// The invoice with a script that sums it up: such a page requires a new JavaScript realm afterwards.
pub(crate) fn scripted_invoice() -> Load {
    let invoice = invoice();
    Load {
        name: "invoice+script",
        html: invoice.html.replace("</body>", &format!("{INVOICE_SCRIPT}</body>")),
        ..invoice
    }
}

/// 100 pages of a ledger, without script.
pub(crate) fn table() -> Load {
    Load {
        name: "table",
        html: TABLE.replace("<!-- rows -->", &table_rows()),
        page_count: 100,
        font: None,
    }
}

fn table_rows() -> String {
    const TEXTS: [&str; 7] = [
        "Card payments, shop",
        "Larch posts, delivery of the week",
        "Wages, joinery",
        "Electricity, workshop and yard",
        "Insurance of vehicles, instalment",
        "Customer invoice, garden studio",
        "Sharpening of saw blades",
    ];
    const ACCOUNTS: [&str; 5] = [
        "1200 Bank",
        "4000 Sales",
        "5000 Materials",
        "7000 Wages",
        "7200 Heat and power",
    ];
    let mut rows = String::new();
    for row in 0..TABLE_ROWS {
        let (month, day) = (row * 12 / TABLE_ROWS + 1, row % 28 + 1);
        let text = TEXTS[row as usize * 5 % TEXTS.len()];
        let account = ACCOUNTS[row as usize * 3 % ACCOUNTS.len()];
        let pence = u64::from(row) * 7_919 % 900_000 + 100;
        // Writing to a string cannot fail.
        let _ = writeln!(
            rows,
            "<tr><td>2026-{month:02}-{day:02}</td><td>{:06}</td><td>{text}</td><td>{account}</td>\
             <td class=\"figure\">{}.{:02}</td></tr>",
            100_000 + row,
            pence / 100,
            pence % 100,
        );
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::{hello, invoice, scripted_invoice, table};

    #[test]
    fn loads_ask_for_nothing_outside_themselves() {
        for load in [hello(), invoice(), scripted_invoice(), table()] {
            assert!(!load.html.contains("fonts/"), "{} names a font file", load.name);
            assert!(!load.html.contains("http"), "{} names an address", load.name);
        }
    }

    #[test]
    fn only_the_scripted_invoice_has_a_script() {
        assert!(scripted_invoice().html.contains("<script>"));
        for load in [hello(), invoice(), table()] {
            assert!(!load.html.contains("<script"), "{} has a script", load.name);
        }
    }

    #[test]
    fn the_table_has_19_400_cells() {
        assert_eq!(table().html.matches("<td").count(), 19_400);
    }
}
