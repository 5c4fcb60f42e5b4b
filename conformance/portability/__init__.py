"""Real portability bugs of other projects, and which library catches them."""
