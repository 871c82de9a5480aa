use crate::{ChatRequest, Quirk, Quirks, dialect::Unencodable};

/// `temperature` and `top_p`. Neither is sent where the model thinks or its provider fixes them; where only one may
/// be sent, it is the temperature.
///
/// # Errors
/// [`Unencodable::Temperature`] and [`Unencodable::OutOfRange`].
pub(super) fn sampling(
    request: &ChatRequest,
    quirks: &Quirks,
    thinks: bool,
) -> Result<(Option<f32>, Option<f32>), Unencodable> {
    let (temperature, top_p) = (request.temperature, request.top_p);
    if let Some(temperature) = temperature.filter(|value| !(0.0..=2.0).contains(value)) {
        return Err(Unencodable::Temperature(temperature.to_string()));
    }
    if let Some(top_p) = top_p.filter(|value| !(0.0..=1.0).contains(value)) {
        return Err(Unencodable::OutOfRange(format!("top_p is {top_p}: set it between 0 and 1")));
    }
    if thinks || quirks.has(Quirk::FixedSampling) {
        return Ok((None, None));
    }
    let most = if quirks.has(Quirk::TemperatureToOne) { 1.0 } else { 2.0 };
    let temperature = temperature.map(|value| value.min(most));
    let top_p = top_p.filter(|_| temperature.is_none() || !quirks.has(Quirk::TemperatureOrTopP));
    Ok((temperature, top_p))
}
