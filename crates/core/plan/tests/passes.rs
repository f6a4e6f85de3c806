//! Plans of flow, both as text: `EDDY_BLESS=1` writes the new plans into the files.

use std::path::Path;

use eddy_flow::{text, verify};
use eddy_language::clocks;
use eddy_plan::show::report;
use eddy_plan::{Kinds, Options, Recompute, plan};
use eddy_tests::passes::check_folder;

#[test]
fn plans_of_flow() {
    check_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/passes"), planned);
}

/// The plan of a flow, with the options after the word `plan`.
fn planned(words: &[&str], flow: &str) -> Result<String, String> {
    let ["plan", given @ ..] = words else { return Err(format!("there is no pass `{}`", words.join(" "))) };
    let mut options = Options::default();
    for word in given {
        match *word {
            "checkpoints" => options.checkpoints = true,
            "nothing-again" => options.recompute = Recompute::Nothing,
            "bounded" => options.kinds = Kinds::Bounded,
            other => return Err(format!("there is no option `{other}`")),
        }
    }
    let flow = text::parse(flow).map_err(|error| error.to_string())?;
    verify(&flow).map_err(|violation| violation.to_string())?;
    let clocks = clocks::infer(&flow).map_err(|found| found[0].title.clone())?;
    Ok(report("f", &flow, &plan(&flow, &clocks, &options), None))
}
