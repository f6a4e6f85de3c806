use clarke
(if 1 <= 1 then 1 else 0, if 1 >= 1 then 1 else 0, if 1 == 1 then 1 else 0, if 1 != 1 then 1 else 0)
