instruction_set: str
