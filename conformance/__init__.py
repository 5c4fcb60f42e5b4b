"""Programs that compare stride0 with the standard and other libraries; `python -m conformance` lists them."""
