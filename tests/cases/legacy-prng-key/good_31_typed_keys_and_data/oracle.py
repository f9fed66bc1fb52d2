def good(m):
    assert m.noise([0, 3], 2).shape == (2,)
