-- Under another derivative the point stays open; only tracing uses its value.
-- run: tape, reference, transform
-- => 12
grad[2](x. grad[x](y. y * y * y))
