// Threads that serve together: they begin, go by what is new, die and are replaced, count in one place, and end.
import { afterEach, expect, test } from 'vitest'
import type { ThreadScript } from '../../../../adapters/compute/threads/start-worker.ts'
import { memoryKeyValue } from '../../../../adapters/keyvalue/memory/memory-keyvalue.ts'
import type { CounterDelta } from '../../../roles/proxy/serving/thread-report.ts'
import { ThreadSupervisor } from './thread-supervisor.ts'

type TestThreadConfig = { readonly word: string }

/** Answers as a thread does, and logs its configuration; `also` is extra code for each message. */
const threadSource = (also = ''): ThreadScript => ({
  source: `
    const { parentPort: port, workerData } = require('node:worker_threads')
    const log = (event, fields = {}) => port.postMessage({ kind: 'log', level: 'info', event, fields: { ...fields, thread: workerData.name } })
    let config = workerData.config
    port.on('message', (message) => {
      ${also}
      if (message.kind === 'configure') { config = message.config; log(config.word); port.postMessage({ kind: 'configured', id: message.id }) }
      if (message.kind === 'report') port.postMessage({ kind: 'reported', id: message.id, spans: [{ name: config.word }], deltas: [['m', [config.word], 1]], status: { connections: 2, cache_bytes: 3, cache_entries: 4 } })
      if (message.kind === 'journal') log('full ' + message.isFull)
      if (message.kind === 'counted') log('counted', { counts: message.counts })
      if (message.kind === 'drain') port.close()
    })
    port.postMessage({ kind: 'count', id: 1, steps: [['key', 2, 1000]] })
    port.postMessage({ kind: 'listening', host: workerData.listen.host, port: workerData.listen.port || 8012 })`,
})

const openSupervisors: ThreadSupervisor<TestThreadConfig>[] = []
afterEach(async () => {
  for (const each of openSupervisors.splice(0)) await each.drain(0)
})

function startSupervised(script: ThreadScript, threads = 2, watch = { every_ms: 60_000, hung_ms: 60_000 }) {
  const lines: { event: string; fields: Record<string, unknown> }[] = []
  const counted: CounterDelta[] = []
  const spans: string[] = []
  const ended: string[] = []
  let names = 0
  const at = (event: string, fields: Readonly<Record<string, unknown>> = {}) => void lines.push({ event, fields })
  const supervisor = new ThreadSupervisor<TestThreadConfig>({
    ...{ script: () => script, threads, config: { word: 'first' }, listen: { host: '127.0.0.1', port: 0 } },
    newName() {
      names += 1
      return `t${names}`
    },
    log: { debug: at, info: at, warn: at, error: at },
    counters: memoryKeyValue(() => 0),
    performServiceRequest: async () => ({ status: 200, body: '' }),
    deltas: (added) => counted.push(...added),
    observations: () => undefined,
    spans: (ended) => void spans.push(...ended.map(({ name }) => name)),
    onThreadEnded: (name) => void ended.push(name),
    watch,
  })
  openSupervisors.push(supervisor)
  return { supervisor, lines, counted, spans, ended, events: () => lines.map(({ event }) => event) }
}

test('all threads listen on the port of the first one, and share their counts', async () => {
  const { supervisor, lines } = startSupervised(threadSource(), 3)
  expect(await supervisor.start()).toEqual({ host: '127.0.0.1', port: 8012 })
  expect(supervisor.alive).toBe(3)
  const counts = () => lines.filter(({ event }) => event === 'counted').map(({ fields }) => fields.counts)
  await expect.poll(() => counts().length).toBe(3)
  const found = counts().map((each) => (each as { count: number }[])[0]?.count)
  expect(found.toSorted()).toEqual([2, 4, 6])
})

test('a new configuration is applied in every thread before it is confirmed, and in later threads', async () => {
  const { supervisor, events, counted, spans } = startSupervised(
    threadSource(`if (message.kind === 'journal') process.exit(1)`),
  )
  await supervisor.start()
  await supervisor.reconfigure(() => ({ word: 'second' }))
  expect(events().filter((event) => event === 'second')).toHaveLength(2)
  supervisor.setJournalFull(true)
  await expect.poll(() => supervisor.alive).toBe(0)
  supervisor.setJournalFull(false)
  await expect.poll(() => supervisor.alive).toBe(2)
  counted.length = 0
  spans.length = 0
  expect(await supervisor.report()).toEqual({ connections: 4, cache_bytes: 6, cache_entries: 8 })
  expect(counted).toEqual([
    ['m', ['second'], 1],
    ['m', ['second'], 1],
  ])
  expect(spans).toEqual(['second', 'second'])
})

test('a thread that dies is logged, reported as ended and replaced', async () => {
  const dying = `if (message.kind === 'report' && workerData.name === 't1') throw new Error('broken')`
  const { supervisor, lines, ended } = startSupervised(threadSource(dying))
  await supervisor.start()
  const standing = await supervisor.report()
  expect(standing.connections).toBe(2)
  await expect.poll(() => ended).toEqual(['t1'])
  const died = lines.find(({ event }) => event === 'proxy.thread.died')
  expect(died?.fields).toMatchObject({ thread: 't1', error: expect.stringContaining('broken') })
  await expect.poll(() => supervisor.alive).toBe(2)
  expect((await supervisor.report()).connections).toBe(4)
})

test('the start fails when a thread cannot start', async () => {
  const { supervisor } = startSupervised({ source: `throw new Error('listen EADDRINUSE')` })
  await expect(supervisor.start()).rejects.toThrow('EADDRINUSE')
})

test('a thread that does not drain in time is terminated', async () => {
  const { supervisor } = startSupervised(threadSource(`if (message.kind === 'drain') for (;;);`), 1)
  await supervisor.start()
  await supervisor.drain(0)
  expect(supervisor.alive).toBe(0)
})

test('a thread that hangs is terminated and replaced', async () => {
  const hanging = `if (message.kind === 'report' && workerData.name === 't1') for (;;);`
  const { supervisor, ended, events } = startSupervised(threadSource(hanging), 1, { every_ms: 10, hung_ms: 2_000 })
  await supervisor.start()
  await expect.poll(() => ended).toEqual(['t1'])
  expect(events()).toContain('proxy.thread.hung')
  await expect.poll(() => supervisor.alive).toBe(1)
})

test('the supervisor announces a full journal once', async () => {
  const { supervisor, events } = startSupervised(threadSource(), 1)
  await supervisor.start()
  expect([supervisor.setJournalFull(false), supervisor.setJournalFull(true), supervisor.setJournalFull(true)]).toEqual([
    false,
    true,
    false,
  ])
  await expect.poll(events).toContain('full true')
})
