def good(m):
    assert m.fill().cells == {0: 1.0, 1: 2.0}
