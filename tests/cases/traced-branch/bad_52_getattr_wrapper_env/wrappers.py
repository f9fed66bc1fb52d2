class Wrapper:
    def __init__(self, env):
        self._env = env

    def __getattr__(self, name):
        return getattr(self._env, name)


class Autoreset(Wrapper):
    def step(self, key, state, action):
        state, reward, done = self._env.step(key, state, action)
        if done:  # expect: traced-branch
            state = self._env.reset(key)
        return state, reward, done
