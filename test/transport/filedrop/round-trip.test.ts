// What one site sends the other applies, exactly once and in order, whatever the carrier does with the files.

import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { filedropTransport } from '../../../adapters/transport/filedrop/transport.ts'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import { sampleTrace } from '../../support/trace/sample-trace.ts'
import {
  buildLabel,
  buildMessage,
  carryFiles,
  createFiledropSites,
  type FiledropSites,
  formatReadyPath,
  listChannelFolders,
  listQuarantineReasons,
  restartSite,
  sendFromAlpha,
  startReceiving,
} from './filedrop-sites.ts'

let world: FiledropSites
beforeEach(async () => {
  world = await createFiledropSites()
  await startReceiving(world.alpha)
  await startReceiving(world.bravo)
})
afterEach(() => world.dispose())

const listNumbers = () => world.bravo.received.map(({ statement }) => statement.seq)
const readInStatus = async () => (await world.bravo.transport.status()).find(({ direction }) => direction === 'in')
const readOutStatus = async () => (await world.alpha.transport.status()).find(({ direction }) => direction === 'out')

test('a message arrives as it was sent, and its files end in done', async () => {
  const body = { pair_score: 0.7, note: 'naïve 😀' }
  const [sent] = await sendFromAlpha(world, 1, { body })
  expect(carryFiles(world.alpha, world.bravo)).toHaveLength(2)
  await world.bravo.transport.rescan()
  expect(world.bravo.received).toHaveLength(1)
  const [received] = world.bravo.received
  expect(received?.body).toEqual(body)
  expect(received?.statement).toMatchObject({ ...sent, src: 'alpha', dst: 'bravo', kind: 'contribution' })
  const { done, work, fresh } = listChannelFolders(world.bravo, 'alpha')
  expect(fs.readdirSync(done)).toEqual(['00000001-0000000000000001.body.json', '00000001-0000000000000001.env.json'])
  expect([...fs.readdirSync(work), ...fs.readdirSync(fresh)]).toEqual([])
  expect(JSON.parse(fs.readFileSync(join(done, '00000001-0000000000000001.body.json'), 'utf8'))).toEqual({
    label: buildLabel(world.bravo.tenant_id),
    schema: 'consensus.contribution.v1',
    data: body,
  })
  expect(await readInStatus()).toMatchObject({ state: 'open', next_seq: 2, highest_seq: 1, received: 1, detail: '' })
  expect(await world.bravo.audit.verify()).toBeUndefined()
})

test('numbers have no gap, however many send at once, and a repeated event finds its number', async () => {
  const messages = Array.from({ length: 40 }, () => buildMessage(world))
  const sent = await Promise.all(messages.map((each) => world.alpha.transport.send(each, sampleTrace)))
  expect(sent.map(({ seq }) => seq).sort((a, b) => a - b)).toEqual(messages.map((_, index) => index + 1))
  const again = await Promise.all(messages.map((each) => world.alpha.transport.send(each, sampleTrace)))
  expect(again).toEqual(sent)
  await world.alpha.transport.rescan()
  carryFiles(world.alpha, world.bravo)
  await world.bravo.transport.rescan()
  expect(listNumbers()).toEqual(messages.map((_, index) => index + 1))
})

test('a trace begins with each message; what is recorded and logged of it bears that trace', async () => {
  const traces: string[] = []
  await restartSite(world.bravo, ({ statement: { seq } }, { trace_id }) => {
    traces.push(trace_id)
    return seq === 2 ? { verdict: 'refused', code: 'session_closed', detail: 'closed' } : { verdict: 'applied' }
  })
  await sendFromAlpha(world, 3)
  carryFiles(world.alpha, world.bravo)
  await world.bravo.transport.rescan()
  const recorded = await world.bravo.audit.list({ limit: 9 })
  const logged = world.bravo.events.map(({ event, fields }) => [event, fields.trace_id])
  const events = ['filedrop.message.applied', 'filedrop.message.quarantined', 'filedrop.message.applied']
  expect(new Set(traces).size).toBe(3)
  const expected = events.map((event, index) => [event, traces[index]])
  expect(recorded.reverse().map(({ event }) => [event?.action, event?.trace_id])).toEqual(expected)
  expect(logged).toEqual(expected)
})

test('files lie in ready with private modes; taken by the carrier they are kept in sent, byte for byte', async () => {
  await sendFromAlpha(world, 1)
  const ready = formatReadyPath(world.alpha, 'bravo')
  const before = fs.readdirSync(ready).map((file) => {
    expect(fs.statSync(join(ready, file)).mode & 0o777).toBe(0o600)
    return [file, fs.readFileSync(join(ready, file), 'utf8')]
  })
  expect(await readOutStatus()).toMatchObject({ backlog: 1, sent: 1 })
  carryFiles(world.alpha, world.bravo)
  await world.alpha.transport.rescan()
  const { sent } = listChannelFolders(world.alpha, 'bravo')
  expect(fs.readdirSync(sent).map((file) => [file, fs.readFileSync(join(sent, file), 'utf8')])).toEqual(before)
  expect(await readOutStatus()).toMatchObject({ backlog: 0, sent: 1, next_seq: 2 })
})

test('after a crash the identical bytes are published again', async () => {
  await sendFromAlpha(world, 3)
  const ready = formatReadyPath(world.alpha, 'bravo')
  const read = () => fs.readdirSync(ready).map((file) => [file, fs.readFileSync(join(ready, file), 'utf8')])
  const before = read()
  // As if the process had died before it noted that these were published, one of them half done.
  world.alpha.file.db.exec('UPDATE journal_sent SET state = 0')
  fs.rmSync(join(ready, '00000001-0000000000000002.env.json'))
  fs.rmSync(join(ready, '00000001-0000000000000003.body.json'))
  fs.rmSync(join(ready, '00000001-0000000000000003.env.json'))
  await restartSite(world.alpha)
  expect(read()).toEqual(before)
})

test('other bytes under a number that is to be published stop the publishing, and are not touched', async () => {
  const ready = formatReadyPath(world.alpha, 'bravo')
  fs.writeFileSync(join(ready, '00000001-0000000000000001.body.json'), 'not ours')
  await sendFromAlpha(world, 1)
  expect(fs.readFileSync(join(ready, '00000001-0000000000000001.body.json'), 'utf8')).toBe('not ours')
  expect((await readOutStatus())?.detail).toContain('somebody else writes there')
  expect((await world.alpha.transport.health()).ok).toBe(false)
})

describe('duplicates, loss and disorder', () => {
  test('a duplicate is silently done', async () => {
    await sendFromAlpha(world, 2)
    for (let i = 0; i < 3; i++) {
      carryFiles(world.alpha, world.bravo, { keep: true })
      await world.bravo.transport.rescan()
    }
    expect(listNumbers()).toEqual([1, 2])
    expect(await readInStatus()).toMatchObject({ received: 2, duplicates: 4, quarantined: 0, backlog: 0 })
  })

  test('a duplicate of another body changes nothing of what is kept', async () => {
    await sendFromAlpha(world, 1)
    const [body = ''] = carryFiles(world.alpha, world.bravo, { keep: true })
    await world.bravo.transport.rescan()
    const { fresh, done } = listChannelFolders(world.bravo, 'alpha')
    const kept = fs.readFileSync(join(done, body), 'utf8')
    carryFiles(world.alpha, world.bravo)
    fs.writeFileSync(join(fresh, body), 'x'.repeat(2_000))
    await world.bravo.transport.rescan()
    expect(fs.readFileSync(join(done, body), 'utf8')).toBe(kept)
    expect(await readInStatus()).toMatchObject({ received: 1, duplicates: 1, backlog: 0 })
  })

  test('contributions beyond a gap are applied, ordered kinds are held until it fills', async () => {
    await sendFromAlpha(world, 2)
    await sendFromAlpha(world, 1, { kind: 'result' })
    await sendFromAlpha(world, 1)
    carryFiles(world.alpha, world.bravo, { only: (file) => !file.includes('0000001.') })
    await world.bravo.transport.rescan()
    expect(listNumbers()).toEqual([2, 4])
    expect(await readInStatus()).toMatchObject({ gaps: 1, highest_seq: 4, backlog: 1 })
    expect(await world.bravo.journal.gaps('filedrop/alpha/bravo', 1, 9)).toEqual([{ first: 1, last: 1 }])
    expect(world.bravo.events.filter(({ event }) => event === 'filedrop.gap')).toHaveLength(1)
    await restartSite(world.bravo)
    expect(listNumbers()).toEqual([2, 4])
    carryFiles(world.alpha, world.bravo)
    await world.bravo.transport.rescan()
    expect(listNumbers()).toEqual([2, 4, 1, 3])
    expect(await readInStatus()).toMatchObject({ gaps: 0, backlog: 0, next_seq: 5 })
  })

  test('held messages are not refused for their age, nor for the downtime of this site', async () => {
    await sendFromAlpha(world, 1)
    await sendFromAlpha(world, 1, { kind: 'result' })
    carryFiles(world.alpha, world.bravo, { only: (file) => file.includes('0000002.') })
    await world.bravo.transport.rescan()
    carryFiles(world.alpha, world.bravo)
    world.clock.ms += 6 * 86_400_000
    await world.bravo.transport.rescan()
    world.clock.ms += 20 * 86_400_000
    await restartSite(world.bravo)
    expect(listNumbers()).toEqual([1, 2])
    expect(listQuarantineReasons(world.bravo, 'alpha')).toEqual([])
  })

  test('what would wait beyond the bound is put in quarantine', async () => {
    await world.bravo.transport.stop()
    world.bravo.transport = filedropTransport(world.bravo.options({ max_held: 2 }))
    await startReceiving(world.bravo)
    await sendFromAlpha(world, 1)
    await sendFromAlpha(world, 3, { kind: 'signal' })
    carryFiles(world.alpha, world.bravo, { only: (file) => !file.includes('0000001.') })
    await world.bravo.transport.rescan()
    expect(listQuarantineReasons(world.bravo, 'alpha').map(({ reason }) => reason)).toEqual(['QUOTA'])
    carryFiles(world.alpha, world.bravo)
    await world.bravo.transport.rescan()
    expect(listNumbers()).toEqual([1, 2, 3])
  })
})

describe('labels', () => {
  test.each([
    ['above the ceiling', { level: 'TOP_SECRET' }],
    ['of another category', { categories: ['OTHER'] }],
    ['not releasable to the peer', { releasable_to: ['tenant-charlie'] }],
    ['of another policy', { policy: 'NATO' }],
    ['of an unknown level', { level: 'COSMIC' }],
  ])('what is %s is refused before it has a number', async (_, more) => {
    const label = buildLabel(world.bravo.tenant_id, more)
    const refusal = await world.alpha.transport
      .send(buildMessage(world, { label }), sampleTrace)
      .catch((error) => error)
    expect(isRefusal(refusal) && refusal.code).toBe('label_denied')
    expect(await readOutStatus()).toMatchObject({ next_seq: 1, sent: 0 })
    const denied = await world.alpha.audit.list({ action: 'filedrop.message.denied', limit: 5 })
    expect(denied.map(({ event }) => event?.trace_id)).toEqual([sampleTrace.trace_id])
  })

  test('the originator alone is meant when a label names nobody', async () => {
    const { releasable_to: _, ...label } = buildLabel(world.bravo.tenant_id)
    await expect(world.alpha.transport.send(buildMessage(world, { label }), sampleTrace)).rejects.toMatchObject({
      code: 'label_denied',
    })
  })
})

describe('noticing', () => {
  test('the watcher alone finds what arrives', async () => {
    await restartSite(world.bravo, undefined, { watch: true, rescan_ms: 0 })
    await sendFromAlpha(world, 2)
    carryFiles(world.alpha, world.bravo)
    await vi.waitFor(() => expect(listNumbers()).toEqual([1, 2]), { timeout: 60_000 })
  })

  test('the rescan alone finds what arrives', async () => {
    await restartSite(world.bravo, undefined, { watch: false, rescan_ms: 20 })
    await sendFromAlpha(world, 2)
    carryFiles(world.alpha, world.bravo)
    await vi.waitFor(() => expect(listNumbers()).toEqual([1, 2]), { timeout: 60_000 })
  })

  test('a message that a slow carrier writes piece by piece is waited for', async () => {
    await sendFromAlpha(world, 1)
    const ready = formatReadyPath(world.alpha, 'bravo')
    const { fresh } = listChannelFolders(world.bravo, 'alpha')
    for (const file of fs.readdirSync(ready).sort().reverse()) {
      for (const byte of [...fs.readFileSync(join(ready, file))].map((each) => Buffer.from([each]))) {
        fs.appendFileSync(join(fresh, file), byte)
        if (Math.abs(byte[0] ?? 0) % 16 === 0) await world.bravo.transport.rescan()
      }
    }
    await world.bravo.transport.rescan()
    expect(listNumbers()).toEqual([1])
    expect(listQuarantineReasons(world.bravo, 'alpha')).toEqual([])
  })
})
