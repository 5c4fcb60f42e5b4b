F(pow)
F(atan2)
F(hypot)
G(logaddexp)
