-- `log_r` fails where `log` does, and says `log`.
-- run: tape, reference, transform
-- => undefined: log at -1
(1).log_r(-1)
