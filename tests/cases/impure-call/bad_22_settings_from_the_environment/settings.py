import os


def drop_rate():
    return float(os.environ.get("DROP_RATE", "0.0"))  # expect: impure-call
