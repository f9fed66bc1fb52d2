def summary(residual, value):
    worst = abs(residual).max()
    return {"residual": residual.tolist(), "worst": worst.item()}  # expect: host-item
