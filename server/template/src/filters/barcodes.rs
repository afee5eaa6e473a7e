//! Machine-readable codes: QR, Data Matrix, Code 128 and EAN-13, as inline SVG.

#![expect(
    clippy::needless_pass_by_value,
    reason = "the engine passes named arguments only by value"
)]

use barcoders::sym::{code128::Code128, ean13::EAN13};
use datamatrix::{DataMatrix, SymbolList};
use minijinja::{Error, State, Value, value::Kwargs};
use qrcode::{Color, EcLevel, QrCode};

use super::{
    arguments::{invalid, is_empty},
    svg::{Picture, Stretch, checked_length},
};

/// Width of one bar in millimetres if the template gives no width: the nominal one of EAN-13.
const BAR_WIDTH: f64 = 0.33;

/// Longest Code 128, in characters: hand-held readers cannot read longer ones.
const LONGEST_CODE_128: usize = 80;

/// Width of the quiet zone in modules, by the standard of each code.
const QUIET_QR: usize = 4;
const QUIET_DATA_MATRIX: usize = 1;
const QUIET_BARS: usize = 11;

pub(super) fn qrcode(state: &State, value: &Value, arguments: Kwargs) -> Result<Value, Error> {
    let level: Option<&str> = arguments.get("level")?;
    let size = checked_length(arguments.get::<Option<&str>>("size")?.unwrap_or("25mm"))?.to_owned();
    let level = match level.unwrap_or("M") {
        "L" => EcLevel::L,
        "M" => EcLevel::M,
        "Q" => EcLevel::Q,
        "H" => EcLevel::H,
        other => return Err(invalid(format!("level must be L, M, Q or H, not {other:?}"))),
    };
    let label = label(&arguments)?;
    arguments.assert_all_used()?;
    if is_empty(state, value)? {
        return Ok(Value::from(""));
    }
    let text = value.to_string();
    let code = QrCode::with_error_correction_level(&text, level)
        .map_err(|error| invalid(format!("the value cannot be encoded as a QR code: {error}")))?;
    let modules: Vec<bool> = code.to_colors().into_iter().map(|color| color == Color::Dark).collect();
    let picture = Picture {
        modules: &modules,
        columns: code.width(),
        quiet_columns: QUIET_QR,
        quiet_rows: QUIET_QR,
        stretch: Stretch::Square,
        label: label.unwrap_or(&text),
    };
    Ok(Value::from_safe_string(picture.to_svg(&size, &size)))
}

pub(super) fn barcode(state: &State, value: &Value, kind: &str, arguments: Kwargs) -> Result<Value, Error> {
    let width = arguments
        .get::<Option<&str>>("width")?
        .map(checked_length)
        .transpose()?;
    let height = arguments
        .get::<Option<&str>>("height")?
        .map(checked_length)
        .transpose()?;
    let label = label(&arguments)?;
    arguments.assert_all_used()?;
    if is_empty(state, value)? {
        return Ok(Value::from(""));
    }
    let text = value.to_string();
    let label = label.unwrap_or(&text);
    match kind {
        "code128" => Ok(bars(&code_128(&text)?, label, width, height)),
        "ean13" => {
            let code = EAN13::new(&text)
                .map_err(|_| invalid("EAN-13 must have 12 digits, or 13 with the right check digit at the end"))?;
            Ok(bars(&code.encode(), label, width, height))
        }
        "datamatrix" => data_matrix(&text, label, width.or(height).unwrap_or("15mm")),
        other => Err(invalid(format!(
            "the kind of a barcode must be code128, ean13 or datamatrix, not {other:?}"
        ))),
    }
}

/// Returns the alternative text that replaces the value, which a screen reader would spell.
fn label(arguments: &Kwargs) -> Result<Option<&str>, Error> {
    let label: Option<&str> = arguments.get("label")?;
    Ok(label.filter(|label| !label.trim().is_empty()))
}

/// Encodes digits in pairs if the text is an even number of digits, else one character per symbol.
fn code_128(text: &str) -> Result<Vec<u8>, Error> {
    let printable = |character: char| (' '..='~').contains(&character);
    if text.len() > LONGEST_CODE_128 || !text.chars().all(printable) {
        return Err(invalid(format!(
            "Code 128 must have at most {LONGEST_CODE_128} printable ASCII characters"
        )));
    }
    // The encoder takes the code set as a prefix.
    let in_pairs = text.len().is_multiple_of(2) && text.bytes().all(|byte| byte.is_ascii_digit());
    let set = if in_pairs { '\u{106}' } else { '\u{181}' };
    Code128::new(format!("{set}{text}"))
        .map(|code| code.encode())
        .map_err(|error| invalid(format!("the value cannot be encoded as Code 128: {error}")))
}

fn bars(bars: &[u8], label: &str, width: Option<&str>, height: Option<&str>) -> Value {
    let modules: Vec<bool> = bars.iter().map(|bar| *bar == 1).collect();
    let picture = Picture {
        modules: &modules,
        columns: modules.len(),
        quiet_columns: QUIET_BARS,
        quiet_rows: 0,
        stretch: Stretch::Fill,
        label,
    };
    let natural = format!("{:.2}mm", BAR_WIDTH * (modules.len() + 2 * QUIET_BARS) as f64);
    Value::from_safe_string(picture.to_svg(width.unwrap_or(&natural), height.unwrap_or("15mm")))
}

fn data_matrix(text: &str, label: &str, size: &str) -> Result<Value, Error> {
    let code = DataMatrix::encode_str(text, SymbolList::default().enforce_square())
        .map_err(|error| invalid(format!("the value cannot be encoded as a Data Matrix: {error:?}")))?;
    let bitmap = code.bitmap();
    let picture = Picture {
        modules: bitmap.bits(),
        columns: bitmap.width(),
        quiet_columns: QUIET_DATA_MATRIX,
        quiet_rows: QUIET_DATA_MATRIX,
        stretch: Stretch::Square,
        label,
    };
    Ok(Value::from_safe_string(picture.to_svg(size, size)))
}
