// The trace policy of a role by the variables of the environment, the documented switch among them.
import { expect, test } from 'vitest'
import { traceFields } from './platform-settings.ts'
import { resolveSettings, settingsBlock } from './settings.ts'

const block = settingsBlock('guide', traceFields('GUIDE'))

const resolveMode = (env: Readonly<Record<string, string>>) => {
  const neverCalled = () => {
    throw new Error('no path and no secret is set')
  }
  const sources = {
    profile: {},
    env,
    flags: {},
    resolvePath: neverCalled,
    readSecret: neverCalled,
    needsSecrets: () => true,
  }
  const { values, problems } = resolveSettings([block], sources)
  return problems.length > 0 ? problems : values.get('guide')?.trace_mode
}

test.each([
  [{}, 'adopt'],
  [{ GUIDE_REQUIRE_TRACEPARENT: 'true' }, 'require'],
  [{ GUIDE_REQUIRE_TRACEPARENT: 'false' }, 'adopt'],
  [{ GUIDE_TRACE_MODE: 'ignore' }, 'ignore'],
  [{ GUIDE_TRACE_MODE: 'ignore', GUIDE_REQUIRE_TRACEPARENT: 'true' }, 'ignore'],
])('with %j, the mode is %s', (env, mode) => {
  expect(resolveMode(env)).toBe(mode)
})

test('any other word is refused', () => {
  expect(resolveMode({ GUIDE_REQUIRE_TRACEPARENT: 'perhaps' })).toEqual([
    expect.objectContaining({ path: 'guide.trace_mode' }),
  ])
})
