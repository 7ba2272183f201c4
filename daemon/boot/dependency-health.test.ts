// A dependency is probed in bounded time and number, and its finding is reported with the reason.
import { expect, test } from 'vitest'
import { sampleTrace } from '../../test/support/trace/sample-trace.ts'
import { refuse } from '../kernel/error/errors.ts'
import type { Dependency, DependencyFinding } from '../kernel/role/dependency.ts'
import type { Role } from '../kernel/role/role.ts'
import { keyValueSettings } from '../kernel/settings/backing-service-settings.ts'
import { DependencyProbes, dependencyHealthCheck } from './dependency-health.ts'
import type { RoleDirectory } from './role-caller.ts'

const scheduler = (probe: Dependency['probe']): Dependency => ({ name: 'scheduler', probe })
const limits = { timeout_ms: 10, reuse_ms: 1_000, now: () => 0 }

test.each<[string, () => Promise<DependencyFinding>, object]>([
  ['as it is', async () => ({ state: 'degraded', detail: 'one pool' }), { state: 'degraded', detail: 'one pool' }],
  [
    'a refusal with its reason',
    async () => Promise.reject(refuse('unavailable', 'the disk is gone')),
    { state: 'down', detail: 'the disk is gone' },
  ],
  [
    'an error without its inside',
    async () => Promise.reject(new Error('at /secret/place')),
    { state: 'down', detail: 'cannot be reached' },
  ],
  [
    'an error that is thrown at once',
    () => {
      throw new Error('at /secret/place')
    },
    { state: 'down', detail: 'cannot be reached' },
  ],
  ['silence', () => new Promise(() => undefined), { state: 'down', detail: 'no answer within 10 ms' }],
  [
    'the latency of an earlier request',
    async () => ({ state: 'ok', detail: '', latency_ms: 77 }),
    { state: 'ok', latency_ms: 77 },
  ],
])('a probe reports %s', async (_what, probe, expected) => {
  expect(await new DependencyProbes(limits).find(scheduler(probe))).toMatchObject({ name: 'scheduler', ...expected })
})

test('the probe can give up when its time is over', async () => {
  let given: AbortSignal | undefined
  const probe = (signal: AbortSignal) => {
    given = signal
    return new Promise<DependencyFinding>(() => undefined)
  }
  await new DependencyProbes(limits).find(scheduler(probe))
  expect(given?.aborted).toBe(true)
})

test('any number of requests is one probe a second', async () => {
  let [now, probes] = [0, 0]
  let answer: (found: DependencyFinding) => void = () => undefined
  const probe = () => {
    probes++
    return new Promise<DependencyFinding>((resolve) => {
      answer = resolve
    })
  }
  const shared = new DependencyProbes({ ...limits, timeout_ms: 60_000, now: () => now })
  const report = () => shared.find(scheduler(probe))
  const crowd = Array.from({ length: 100 }, () => report())
  now = 5_000
  const late = report()
  expect(probes).toBe(1)
  answer({ state: 'ok', detail: 'first' })
  for (const each of [...crowd, late]) expect(await each).toMatchObject({ detail: 'first' })
  const next = report()
  expect(probes).toBe(2)
  answer({ state: 'down', detail: 'second' })
  expect(await next).toMatchObject({ state: 'down', detail: 'second' })
  now = 5_999
  expect(await report()).toMatchObject({ detail: 'second' })
  expect(probes).toBe(2)
})

test('a probe that ignores its signal is not begun again while it runs', async () => {
  let [now, probes] = [0, 0]
  let answer: (found: DependencyFinding) => void = () => undefined
  const probe = () => {
    probes++
    return new Promise<DependencyFinding>((resolve) => {
      answer = resolve
    })
  }
  const health = new DependencyProbes({ ...limits, now: () => now })
  const report = () => health.find(scheduler(probe))
  for (now = 0; now < 60_000; now += 5_000) expect(await report()).toMatchObject({ detail: 'no answer within 10 ms' })
  expect(probes).toBe(1)
  answer({ state: 'ok', detail: 'late' })
  await new Promise(setImmediate)
  const next = report()
  answer({ state: 'ok', detail: 'repaired' })
  expect(await next).toMatchObject({ state: 'ok', detail: 'repaired' })
  expect(probes).toBe(2)
})

test('any number of requests is one probe of each dependency that roles share', async () => {
  const counts = { transport: 0, carrier: 0, keyValue: 0, declared: 0 }
  const counted = (name: keyof typeof counts) => async () => {
    counts[name]++
    return { ok: true, detail: '' }
  }
  const sources = {
    transports: [{ name: 'filedrop', health: counted('transport') }],
    carriers: [{ name: 'hub', health: counted('carrier') }],
    keyValue: { name: 'redis', health: counted('keyValue') },
    identity: { health: () => ({ ok: true, detail: '' }) },
  } as unknown as Parameters<typeof dependencyHealthCheck>[3]
  const role = { name: 'x', needs: [], settings: [{ name: keyValueSettings.name }] } as unknown as Role
  const declared = scheduler(async () => ({ ...(await counted('declared')()), state: 'ok' }))
  const check = dependencyHealthCheck(role, {} as RoleDirectory, [], sources, [declared])
  const reports = await Promise.all(Array.from({ length: 200 }, () => check(sampleTrace)))
  expect(counts).toEqual({ transport: 1, carrier: 1, keyValue: 1, declared: 1 })
  expect(new Set(reports.map((report) => report.length))).toEqual(new Set([5]))
})

test.each(['store', 'site', 'transport filedrop'])('a role cannot declare a second dependency named %s', (name) => {
  const role = { name: 'ingest', needs: ['site'], settings: [] } as unknown as Role
  const health = async () => ({ ok: true, detail: '' })
  const sources = {
    transports: [{ name: 'filedrop', health }],
    carriers: [],
    keyValue: { name: 'memory', health },
    identity: { health: undefined },
  } as unknown as Parameters<typeof dependencyHealthCheck>[3]
  const declared = [{ name, probe: async (): Promise<DependencyFinding> => ({ state: 'ok', detail: '' }) }]
  expect(() => dependencyHealthCheck(role, {} as RoleDirectory, [], sources, declared)).toThrow(
    `the role ingest has two dependencies named "${name}"`,
  )
})
