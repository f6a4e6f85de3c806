use clarke
grad[0](x. if x < 0 then 0 else 1)
