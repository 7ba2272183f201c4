// When a role registers, what it counts and logs, and how it leaves.
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { parseJson } from '../../kernel/encoding/parse-json.ts'
import type { Call } from '../../kernel/operation/call.ts'
import type { RegistrarAnswer, ServiceRegistrar } from '../../shared/service-registration/service-registration.ts'
import { GatewayRegistration, type ServiceToken } from './gateway-registration.ts'

const registration = {
  ...{ name: 'pipeline-service', url: 'https://ingest.example', ttl_seconds: 300 },
  component_kind: 'library' as const,
}
const accepted: RegistrarAnswer = { reason: 'it answered 200' }
const refused: RegistrarAnswer = { failed: 'refused', reason: 'it answered 403' }

/** `never`: until the request is ended. */
type ScriptedAnswer = RegistrarAnswer | 'never'

function createRegistration({ deregisters = true, answers = [] as ScriptedAnswer[] } = {}) {
  let now = 1_000_000
  let token: ServiceToken = { token: 'a-token' }
  const sent: string[] = []
  const counted: string[] = []
  const logged: string[] = []
  const take = async (signal: AbortSignal): Promise<RegistrarAnswer> => {
    const answer = answers.shift() ?? accepted
    if (answer !== 'never') return answer
    if (!signal.aborted) await once(signal, 'abort')
    return { failed: 'unreachable', reason: 'aborted' }
  }
  const registrar: ServiceRegistrar = {
    async register({ name }, used, signal) {
      sent.push(`register ${name} ${used}`)
      return await take(signal)
    },
    async deregister(name, used, signal) {
      sent.push(`deregister ${name} ${used}`)
      return await take(signal)
    },
  }
  const registered = new GatewayRegistration({ registration, registrar, findToken: async () => token, deregisters })
  const line = (event: string, fields?: object) => void logged.push(JSON.stringify({ event, ...fields }))
  const call = {
    now: () => now,
    signal: new AbortController().signal,
    trace: { trace_id: 't' },
    log: { debug: line, info: line, warn: line, error: line },
    count: (_: unknown, { outcome }: { outcome: string }) => void counted.push(outcome),
  } as unknown as Call
  return {
    ...{ sent, counted, logged },
    beat: async (later_ms = 0) => {
      now += later_ms
      await registered.worker.run(call)
    },
    leave: () => registered.leave(call),
    setToken: (next: ServiceToken) => (token = next),
  }
}

test('the first run registers, and a later one not before half of the lifetime is over', async () => {
  const { beat, sent } = createRegistration()
  await beat()
  await beat(149_999)
  expect(sent).toHaveLength(1)
  await beat(1)
  await beat(1)
  expect(sent).toEqual(Array(2).fill('register pipeline-service a-token'))
  await beat(149_999)
  expect(sent).toHaveLength(3)
})

test('a clock that is set back holds up no renewal', async () => {
  const { beat, sent } = createRegistration()
  await beat()
  await beat(-3_600_000)
  expect(sent).toHaveLength(2)
})

test('a failure is counted each time, and logged once until it is over', async () => {
  const { beat, counted, logged, setToken } = createRegistration({ answers: [accepted, refused, refused] })
  for (let turn = 0; turn < 3; turn++) await beat(150_000)
  setToken({ none: 'the token endpoint answered 401' })
  await beat(150_000)
  setToken({ token: 'another' })
  await beat(150_000)
  await beat(150_000)
  expect(counted).toEqual(['registered', 'refused', 'refused', 'no_token', 'registered', 'registered'])
  const { name, url } = registration
  expect(logged.map((each) => parseJson(each))).toEqual([
    { event: 'platform.gateway.registered', trace_id: 't', name, url },
    { event: 'platform.gateway.unregistered', trace_id: 't', outcome: 'refused', reason: 'it answered 403' },
    { event: 'platform.gateway.registered', trace_id: 't', name, url },
  ])
})

test('a registration that failed is tried again after 15 seconds', async () => {
  const { beat, sent } = createRegistration({ answers: [refused, accepted] })
  await beat()
  await beat(14_999)
  expect(sent).toHaveLength(1)
  await beat(1)
  expect(sent).toHaveLength(2)
  await beat(149_999)
  expect(sent).toHaveLength(2)
  await beat(1)
  expect(sent).toHaveLength(3)
})

test('a stop during the first registration ends it too: the gateway may have taken it', async () => {
  const { beat, leave, sent, counted, logged } = createRegistration({ answers: ['never'] })
  const beating = beat()
  await Promise.resolve()
  await leave()
  await beating
  expect(sent).toEqual(['register pipeline-service a-token', 'deregister pipeline-service a-token'])
  expect([counted, logged]).toEqual([['deregistered'], []])
})

test('a stop ends the registration, and nothing registers after it', async () => {
  const { beat, leave, sent, counted } = createRegistration()
  await beat()
  await leave()
  await beat(150_000)
  expect(sent).toEqual(['register pipeline-service a-token', 'deregister pipeline-service a-token'])
  expect(counted).toEqual(['registered', 'deregistered'])
})

test.each<[string, Parameters<typeof createRegistration>[0]]>([
  ['one that was never accepted', { answers: [refused] }],
  ['one that other processes share', { deregisters: false }],
])('a stop leaves %s to its lifetime', async (_, options) => {
  const { beat, leave, sent } = createRegistration(options)
  await beat()
  await leave()
  expect(sent).toHaveLength(1)
})

test('a gateway that refuses to forget the role, or a token that is missing then, is counted', async () => {
  const { beat, leave, counted } = createRegistration({ answers: [accepted, refused] })
  await beat()
  await leave()
  const without = createRegistration()
  await without.beat()
  without.setToken({ none: 'x' })
  await without.leave()
  expect([counted, without.counted]).toEqual([
    ['registered', 'refused'],
    ['registered', 'no_token'],
  ])
})
