temperature = 1.0


def set_temperature(value):
    global temperature
    temperature = value
