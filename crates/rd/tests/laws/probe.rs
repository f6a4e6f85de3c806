#[test]
fn probe() {
    crate::harness::law(
        "probe",
        400,
        |g| crate::body::Body::sample(g, 1),
        |body| {
            let (o, obs) = crate::observe::observe(
                &crate::harness::accepted(&body.derivative())?,
                crate::harness::LIMITS,
            );
            let n = obs.first().map_or(0, |o| crate::alpha::subterms(&o.terms, o.trace).len());
            crate::harness::show(&format!("PROBE {n} {} <- {}", crate::compare::show(&o), body.derivative()));
            Ok(crate::harness::Verdict::Holds)
        },
    );
}
