// Which calls guardrails refuse, and the limits of the others.
import { describe, expect, test } from 'vitest'
import { type GuardedCall, type Guardrail, guardrail } from './model.ts'
import { judgeCall, max_searched_characters } from './rules.ts'

const levels = ['UNCLASSIFIED', 'RESTRICTED', 'SECRET']
const call = (changes: Partial<GuardedCall> = {}): GuardedCall => ({
  ...{
    kind: 'tool',
    tenant_id: 't',
    subject: 'ann',
    roles: ['analyst'],
    level: 'SECRET',
    service: 'intelligence-service',
  },
  ...{ tool: 'intelligence-service__signal_list', body_bytes: 100, texts: [] },
  ...changes,
})
const restCall = (changes: Partial<GuardedCall> = {}) =>
  call({ kind: 'rest', tool: undefined, method: 'POST', path: '/api/v1/signal?limit=5', ...changes })

type GivenGuardrail = Omit<Partial<Guardrail>, 'name'>
function judge(given: GivenGuardrail | readonly GivenGuardrail[], judged = call()) {
  const list = (Array.isArray(given) ? given : [given]) as readonly GivenGuardrail[]
  const guardrails = list.map((each, at) => {
    const parsed = guardrail.parse({ name: `rule-${at}`, ...each })
    const searches = (parsed.deny_patterns ?? []).map((text) => ({
      isFoundIn: (given: string) => given.includes(text),
    }))
    return { ...parsed, searches }
  })
  const verdict = judgeCall({ guardrails, levels }, judged)
  return 'denial' in verdict ? `${verdict.denial.guardrail} ${verdict.denial.reason}` : verdict.limits
}

const unlimited = { max_body_bytes: Number.POSITIVE_INFINITY, ceiling: undefined, counts: [] }

test('without guardrails a call goes on without limits', () => expect(judge([])).toEqual(unlimited))

describe('a guardrail is for the calls that it names', () => {
  test.each<[GivenGuardrail, GuardedCall]>([
    [{}, call()],
    [{ kinds: ['tool', 'chat'] }, call()],
    [{ roles: ['auditor', 'analyst'] }, call()],
    [{ subjects: ['a*'] }, call()],
    [{ services: ['intelligence-service'] }, call()],
    [{ tools: ['*__signal_*'] }, call()],
    [{ methods: ['GET', 'POST'] }, restCall()],
    [{ paths: ['/api/v1/signal'] }, restCall()],
    [{ paths: ['/api/*'], kinds: ['rest'], roles: ['analyst'] }, restCall()],
    [{ paths: ['/userspace/signal'] }, restCall()],
    [{ paths: ['/api/v1/signal/*:run'] }, restCall({ path: '/userspace/signal/a%3Arun' })],
    [{ methods: ['GET'] }, restCall({ method: 'HEAD' })],
  ])('%j', (given, judged) => expect(judge({ ...given, deny: true }, judged)).toBe('rule-0 denied'))

  test.each<[GivenGuardrail, GuardedCall]>([
    [{ kinds: ['rest'] }, call()],
    [{ roles: ['admin'] }, call()],
    [{ subjects: ['an'] }, call()],
    [{ services: ['intelligence'] }, call()],
    [{ services: ['*'] }, call({ kind: 'chat', service: undefined, tool: undefined })],
    [{ tools: ['*__signal'] }, call()],
    [{ tools: ['*'] }, restCall()],
    [{ methods: ['GET'] }, restCall()],
    [{ methods: ['GET'] }, call()],
    [{ paths: ['/api/v1/sig'] }, restCall()],
    [{ roles: ['analyst'], paths: ['/other/*'] }, restCall()],
  ])('and for no other: %j', (given, judged) => expect(judge({ ...given, deny: true }, judged)).toEqual(unlimited))
})

describe('it refuses', () => {
  test('a body that is announced as larger', () => {
    expect(judge({ max_body_bytes: 99 })).toBe('rule-0 too_large')
    expect(judge({ max_body_bytes: 100 })).toMatchObject({ max_body_bytes: 100 })
    expect(judge({ max_body_bytes: 1 }, call({ body_bytes: undefined }))).toMatchObject({ max_body_bytes: 1 })
  })

  test('an expression in a text, or in path and query', () => {
    expect(judge({ deny_patterns: ['password'] }, call({ texts: ['a', 'my password'] }))).toBe('rule-0 pattern')
    expect(judge({ deny_patterns: ['limit=5'] }, restCall())).toBe('rule-0 pattern')
    expect(judge({ deny_patterns: ['password'] }, call({ texts: ['a'] }))).toEqual(unlimited)
    for (const path of ['/a?q=pass%77ord', '/p%61ssword', '/a?q=pass%2577ord+password'])
      expect(judge({ deny_patterns: ['password'] }, restCall({ path }))).toBe('rule-0 pattern')
    for (const path of ['/a?q=code+name', '/a?q=code%20name', '/code%20name'])
      expect(judge({ deny_patterns: ['code name'] }, restCall({ path }))).toBe('rule-0 pattern')
  })

  test('more text than is searched, but only where expressions apply', () => {
    const texts = ['x'.repeat(max_searched_characters), 'x']
    expect(judge({ deny_patterns: ['y'] }, call({ texts }))).toBe('rule-0 too_much_text')
    expect(judge({ calls_per_day: 5 }, call({ texts }))).toMatchObject({ ceiling: undefined })
  })

  test('a REST call of a caller that is cleared above its ceiling, whose token stays as it is', () => {
    const ceiling = { label_ceiling: 'RESTRICTED' }
    expect(judge(ceiling, restCall())).toBe('rule-0 label')
    expect(judge(ceiling, restCall({ level: 'RESTRICTED' }))).toMatchObject({ ceiling: 'RESTRICTED' })
    expect(judge(ceiling, restCall({ level: undefined }))).toMatchObject({ ceiling: 'RESTRICTED' })
    expect(judge(ceiling, call())).toMatchObject({ ceiling: 'RESTRICTED' })
  })

  test('by the first in the order of the profile', () =>
    expect(judge([{ max_body_bytes: 500 }, { max_body_bytes: 5 }, { deny: true }])).toBe('rule-1 too_large'))
})

test('limits of several are joined: the smallest body, the lowest ceiling, every count', () =>
  expect(
    judge([
      { max_body_bytes: 500, label_ceiling: 'RESTRICTED', calls_per_minute: 5 },
      { max_body_bytes: 700, label_ceiling: 'UNCLASSIFIED', calls_per_minute: 9, calls_per_day: 100 },
      { label_ceiling: 'SECRET' },
    ]),
  ).toEqual({
    max_body_bytes: 500,
    ceiling: 'UNCLASSIFIED',
    counts: [
      { guardrail: 'rule-0', reason: 'rate', limit: 5, window_ms: 60_000 },
      { guardrail: 'rule-1', reason: 'rate', limit: 9, window_ms: 60_000 },
      { guardrail: 'rule-1', reason: 'quota', limit: 100, window_ms: 86_400_000 },
    ],
  }))
