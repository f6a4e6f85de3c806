//! How a command ends; each way has its exit code.

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It did its job and wrote its answer.
    Answered,
    /// The program or its data was refused; the diagnostics say why.
    Refused,
    /// The program was run and has no value: undefined, or out of fuel or memory.
    NoValue,
}

impl Status {
    /// The exit code: 0, 1 or 3; 2 is for a wrong command line.
    pub fn exit_code(self) -> u8 {
        match self {
            Status::Answered => 0,
            Status::Refused => 1,
            Status::NoValue => 3,
        }
    }

    /// The status in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Status::Answered => "answered",
            Status::Refused => "refused",
            Status::NoValue => "no-value",
        }
    }
}
