//! The programs of the modules: those that come with Eddy, or the files of a folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use eddy_driver::program::MemoryReport;
use eddy_driver::{BuildOptions, Deaf, Options, Program, Session};
use eddy_syntax::suggest::nearest;
use eddy_syntax::{SourceFile, Sources};

use crate::input;
use crate::languages::reactive::Reactive;

/// The programs of `bench/gradbench`, and what they import.
const OWN: &[(&str, &str)] = &[
    ("ba.eddy", include_str!("../../../../../bench/gradbench/ba.eddy")),
    ("descent.eddy", include_str!("../../../../../bench/gradbench/descent.eddy")),
    ("det.eddy", include_str!("../../../../../bench/gradbench/det.eddy")),
    ("gmm.eddy", include_str!("../../../../../bench/gradbench/gmm.eddy")),
    ("hello.eddy", include_str!("../../../../../bench/gradbench/hello.eddy")),
    ("ht.eddy", include_str!("../../../../../bench/gradbench/ht.eddy")),
    ("kmeans.eddy", include_str!("../../../../../bench/gradbench/kmeans.eddy")),
    ("llsq.eddy", include_str!("../../../../../bench/gradbench/llsq.eddy")),
    ("lse.eddy", include_str!("../../../../../bench/gradbench/lse.eddy")),
    ("lstm.eddy", include_str!("../../../../../bench/gradbench/lstm.eddy")),
    ("ode.eddy", include_str!("../../../../../bench/gradbench/ode.eddy")),
    ("particle.eddy", include_str!("../../../../../bench/gradbench/particle.eddy")),
    ("saddle.eddy", include_str!("../../../../../bench/gradbench/saddle.eddy")),
];

pub struct Programs {
    session: Session,
    /// `None` for the programs that come with Eddy.
    folder: Option<PathBuf>,
}

impl Programs {
    pub fn new(folder: Option<PathBuf>) -> Programs {
        let options = Options::new(BuildOptions::from_environment());
        Programs { session: Session::new(options, Arc::new(Deaf)), folder }
    }

    /// The checked program of a module, or the reason for its absence.
    pub fn load(&self, module: &str) -> Result<Program, String> {
        let sources = match &self.folder {
            Some(folder) => read(&folder.join(format!("{module}.eddy")))?,
            None => own(module)?,
        };
        let program = self.session.load(sources).map_err(|refusal| super::reason(&refusal))?;
        program.check(MemoryReport::LeftOut).map_err(|refusal| super::reason(&refusal))?;
        Ok(program)
    }
}

fn read(path: &Path) -> Result<Sources, String> {
    input::read(path, &Reactive)
        .map_err(|unreadable| format!("{}: {}", path.display(), unreadable.diagnostic.title))
}

fn own(module: &str) -> Result<Sources, String> {
    let Some(text) = own_text(&format!("{module}.eddy")) else {
        let known = OWN.iter().filter_map(|(name, _)| name.strip_suffix(".eddy"));
        let tip = match nearest(module, known) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "`--programs DIR` reads programs from a folder".to_string(),
        };
        return Err(format!("there is no program for the module `{module}`: {tip}"));
    };
    let main = SourceFile::new(format!("{module}.eddy"), text);
    let import = |path: &str| match own_text(path) {
        Some(text) => Ok(text.as_bytes().to_vec()),
        None => Err("no program of this name comes with eddy".to_string()),
    };
    Ok(Sources::new(main, Box::new(import)))
}

fn own_text(name: &str) -> Option<&'static str> {
    OWN.iter().find(|(other, _)| *other == name).map(|(_, text)| *text)
}
