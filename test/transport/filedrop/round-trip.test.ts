// A site applies the messages of another exactly once and in order, with any order of the carrier's files.

import * as fs from 'node:fs'
import { join } from 'node:path'
import { describe, expect, vi } from 'vitest'
import { filedropTransport } from '../../../adapters/transport/filedrop/transport.ts'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import type { Label } from '../../../daemon/kernel/label/label.ts'
import { listReceivedNumbers, readInStatus, readOutStatus } from '../../support/filedrop/filedrop-readers.ts'
import {
  buildLabel,
  buildMessage,
  carryFiles,
  formatReadyPath,
  listChannelFolders,
  listQuarantineReasons,
  restartSite,
  sendFromAlpha,
  startReceiving,
} from '../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../support/filedrop/filedrop-test.ts'
import { sampleTrace } from '../../support/trace/sample-trace.ts'

const test = filedropTest.extend({ options: { receiving: ['alpha', 'bravo'] } })

test('a message arrives as it was sent, and its files end in done', async ({ sites }) => {
  const body = { pair_score: 0.7, note: 'naïve 😀' }
  const [sent] = await sendFromAlpha(sites, 1, { body })
  expect(carryFiles(sites.alpha, sites.bravo)).toHaveLength(2)
  await sites.bravo.transport.rescan()
  expect(sites.bravo.received).toHaveLength(1)
  const [received] = sites.bravo.received
  expect(received?.body).toEqual(body)
  expect(received?.statement).toMatchObject({ ...sent, src: 'alpha', dst: 'bravo', kind: 'contribution' })
  const { done, work, fresh } = listChannelFolders(sites.bravo, 'alpha')
  expect(fs.readdirSync(done)).toEqual(['00000001-0000000000000001.body.json', '00000001-0000000000000001.env.json'])
  expect([...fs.readdirSync(work), ...fs.readdirSync(fresh)]).toEqual([])
  expect(JSON.parse(fs.readFileSync(join(done, '00000001-0000000000000001.body.json'), 'utf8'))).toEqual({
    label: buildLabel(sites.bravo.tenant_id),
    schema: 'consensus.contribution.v1',
    data: body,
  })
  expect(await readInStatus(sites)).toMatchObject({
    state: 'open',
    next_seq: 2,
    highest_seq: 1,
    received: 1,
    detail: '',
  })
  expect(await sites.bravo.audit.verify()).toBeUndefined()
})

test('numbers have no gap, however many send at once, and a repeated event finds its number', async ({ sites }) => {
  const messages = Array.from({ length: 40 }, () => buildMessage(sites))
  const sent = await Promise.all(messages.map((each) => sites.alpha.transport.send(each, sampleTrace)))
  expect(sent.map(({ seq }) => seq).sort((a, b) => a - b)).toEqual(messages.map((_, index) => index + 1))
  const again = await Promise.all(messages.map((each) => sites.alpha.transport.send(each, sampleTrace)))
  expect(again).toEqual(sent)
  await sites.alpha.transport.rescan()
  carryFiles(sites.alpha, sites.bravo)
  await sites.bravo.transport.rescan()
  expect(listReceivedNumbers(sites)).toEqual(messages.map((_, index) => index + 1))
})

test('a trace begins with each message, and its records and log lines bear that trace', async ({ sites }) => {
  const traces: string[] = []
  await restartSite(sites.bravo, ({ statement: { seq } }, { trace_id }) => {
    traces.push(trace_id)
    return seq === 2 ? { verdict: 'refused', code: 'session_closed', detail: 'closed' } : { verdict: 'applied' }
  })
  await sendFromAlpha(sites, 3)
  carryFiles(sites.alpha, sites.bravo)
  await sites.bravo.transport.rescan()
  const recorded = await sites.bravo.audit.list({ limit: 9 })
  const logged = sites.bravo.events.map(({ event, fields }) => [event, fields.trace_id])
  const events = ['filedrop.message.applied', 'filedrop.message.quarantined', 'filedrop.message.applied']
  expect(new Set(traces).size).toBe(3)
  const expected = events.map((event, index) => [event, traces[index]])
  expect(recorded.reverse().map(({ event }) => [event?.action, event?.trace_id])).toEqual(expected)
  expect(logged).toEqual(expected)
})

test('files lie in ready with private modes; taken by the carrier they stay in sent, byte for byte', async ({
  sites,
}) => {
  await sendFromAlpha(sites, 1)
  const ready = formatReadyPath(sites.alpha, 'bravo')
  const before = fs.readdirSync(ready).map((file) => {
    expect(fs.statSync(join(ready, file)).mode & 0o777).toBe(0o600)
    return [file, fs.readFileSync(join(ready, file), 'utf8')]
  })
  expect(await readOutStatus(sites)).toMatchObject({ backlog: 1, sent: 1 })
  carryFiles(sites.alpha, sites.bravo)
  await sites.alpha.transport.rescan()
  const { sent } = listChannelFolders(sites.alpha, 'bravo')
  expect(fs.readdirSync(sent).map((file) => [file, fs.readFileSync(join(sent, file), 'utf8')])).toEqual(before)
  expect(await readOutStatus(sites)).toMatchObject({ backlog: 0, sent: 1, next_seq: 2 })
})

test('after a crash the identical bytes are published again', async ({ sites }) => {
  await sendFromAlpha(sites, 3)
  const ready = formatReadyPath(sites.alpha, 'bravo')
  const read = () => fs.readdirSync(ready).map((file) => [file, fs.readFileSync(join(ready, file), 'utf8')])
  const before = read()
  // As if the process had died before it noted that these were published, one of them half done.
  sites.alpha.file.db.exec('UPDATE journal_sent SET state = 0')
  fs.rmSync(join(ready, '00000001-0000000000000002.env.json'))
  fs.rmSync(join(ready, '00000001-0000000000000003.body.json'))
  fs.rmSync(join(ready, '00000001-0000000000000003.env.json'))
  await restartSite(sites.alpha)
  expect(read()).toEqual(before)
})

test('other bytes under a number that is to be published stop the publishing, and are not touched', async ({
  sites,
}) => {
  const ready = formatReadyPath(sites.alpha, 'bravo')
  fs.writeFileSync(join(ready, '00000001-0000000000000001.body.json'), 'not ours')
  await sendFromAlpha(sites, 1)
  expect(fs.readFileSync(join(ready, '00000001-0000000000000001.body.json'), 'utf8')).toBe('not ours')
  expect((await readOutStatus(sites))?.detail).toContain('another program writes there')
  expect((await sites.alpha.transport.health()).ok).toBe(false)
})

describe('duplicates, loss and disorder', () => {
  test('a duplicate is silently done', async ({ sites }) => {
    await sendFromAlpha(sites, 2)
    for (let i = 0; i < 3; i++) {
      carryFiles(sites.alpha, sites.bravo, { keep: true })
      await sites.bravo.transport.rescan()
    }
    expect(listReceivedNumbers(sites)).toEqual([1, 2])
    expect(await readInStatus(sites)).toMatchObject({ received: 2, duplicates: 4, quarantined: 0, backlog: 0 })
  })

  test('a duplicate of another body changes nothing in done', async ({ sites }) => {
    await sendFromAlpha(sites, 1)
    const [body = ''] = carryFiles(sites.alpha, sites.bravo, { keep: true })
    await sites.bravo.transport.rescan()
    const { fresh, done } = listChannelFolders(sites.bravo, 'alpha')
    const original = fs.readFileSync(join(done, body), 'utf8')
    carryFiles(sites.alpha, sites.bravo)
    fs.writeFileSync(join(fresh, body), 'x'.repeat(2_000))
    await sites.bravo.transport.rescan()
    expect(fs.readFileSync(join(done, body), 'utf8')).toBe(original)
    expect(await readInStatus(sites)).toMatchObject({ received: 1, duplicates: 1, backlog: 0 })
  })

  test('contributions beyond a gap are applied, ordered kinds are held until it fills', async ({ sites }) => {
    await sendFromAlpha(sites, 2)
    await sendFromAlpha(sites, 1, { kind: 'result' })
    await sendFromAlpha(sites, 1)
    carryFiles(sites.alpha, sites.bravo, { only: (file) => !file.includes('0000001.') })
    await sites.bravo.transport.rescan()
    expect(listReceivedNumbers(sites)).toEqual([2, 4])
    expect(await readInStatus(sites)).toMatchObject({ gaps: 1, highest_seq: 4, backlog: 1 })
    expect(await sites.bravo.journal.gaps('filedrop/alpha/bravo', 1, 9)).toEqual([{ first: 1, last: 1 }])
    expect(sites.bravo.events.filter(({ event }) => event === 'filedrop.gap')).toHaveLength(1)
    await restartSite(sites.bravo)
    expect(listReceivedNumbers(sites)).toEqual([2, 4])
    carryFiles(sites.alpha, sites.bravo)
    await sites.bravo.transport.rescan()
    expect(listReceivedNumbers(sites)).toEqual([2, 4, 1, 3])
    expect(await readInStatus(sites)).toMatchObject({ gaps: 0, backlog: 0, next_seq: 5 })
  })

  test('held messages are not refused for their age, nor for the downtime of this site', async ({ sites }) => {
    await sendFromAlpha(sites, 1)
    await sendFromAlpha(sites, 1, { kind: 'result' })
    carryFiles(sites.alpha, sites.bravo, { only: (file) => file.includes('0000002.') })
    await sites.bravo.transport.rescan()
    carryFiles(sites.alpha, sites.bravo)
    sites.clock.ms += 6 * 86_400_000
    await sites.bravo.transport.rescan()
    sites.clock.ms += 20 * 86_400_000
    await restartSite(sites.bravo)
    expect(listReceivedNumbers(sites)).toEqual([1, 2])
    expect(listQuarantineReasons(sites.bravo, 'alpha')).toEqual([])
  })

  test('quarantines messages that would wait beyond the bound', async ({ sites }) => {
    await sites.bravo.transport.stop()
    sites.bravo.transport = filedropTransport(sites.bravo.options({ max_held: 2 }))
    await startReceiving(sites.bravo)
    await sendFromAlpha(sites, 1)
    await sendFromAlpha(sites, 3, { kind: 'signal' })
    carryFiles(sites.alpha, sites.bravo, { only: (file) => !file.includes('0000001.') })
    await sites.bravo.transport.rescan()
    expect(listQuarantineReasons(sites.bravo, 'alpha').map(({ reason }) => reason)).toEqual(['QUOTA'])
    carryFiles(sites.alpha, sites.bravo)
    await sites.bravo.transport.rescan()
    expect(listReceivedNumbers(sites)).toEqual([1, 2, 3])
  })
})

describe('labels', () => {
  test.for<[string, Partial<Label>]>([
    ['above the ceiling', { level: 'TOP_SECRET' }],
    ['of another category', { categories: ['OTHER'] }],
    ['not releasable to the peer', { releasable_to: ['tenant-charlie'] }],
    ['of another policy', { policy: 'NATO' }],
    ['of an unknown level', { level: 'COSMIC' }],
  ])('refuses a message that is %s before it has a number', async ([_, more], { sites }) => {
    const label = buildLabel(sites.bravo.tenant_id, more)
    const refusal = await sites.alpha.transport
      .send(buildMessage(sites, { label }), sampleTrace)
      .catch((error) => error)
    expect(isRefusal(refusal) && refusal.code).toBe('label_denied')
    expect(await readOutStatus(sites)).toMatchObject({ next_seq: 1, sent: 0 })
    const denied = await sites.alpha.audit.list({ action: 'filedrop.message.denied', limit: 5 })
    expect(denied.map(({ event }) => event?.trace_id)).toEqual([sampleTrace.trace_id])
  })

  test('the originator alone is meant when a label names nobody', async ({ sites }) => {
    const { releasable_to: _, ...label } = buildLabel(sites.bravo.tenant_id)
    await expect(sites.alpha.transport.send(buildMessage(sites, { label }), sampleTrace)).rejects.toMatchObject({
      code: 'label_denied',
    })
  })
})

describe('noticing', () => {
  test('the watcher alone finds what arrives', async ({ sites }) => {
    await restartSite(sites.bravo, undefined, { watch: true, rescan_ms: 0 })
    await sendFromAlpha(sites, 2)
    carryFiles(sites.alpha, sites.bravo)
    await vi.waitFor(() => expect(listReceivedNumbers(sites)).toEqual([1, 2]), { timeout: 60_000 })
  })

  test('the rescan alone finds what arrives', async ({ sites }) => {
    await restartSite(sites.bravo, undefined, { watch: false, rescan_ms: 20 })
    await sendFromAlpha(sites, 2)
    carryFiles(sites.alpha, sites.bravo)
    await vi.waitFor(() => expect(listReceivedNumbers(sites)).toEqual([1, 2]), { timeout: 60_000 })
  })

  test('a message that a slow carrier writes piece by piece is waited for', async ({ sites }) => {
    await sendFromAlpha(sites, 1)
    const ready = formatReadyPath(sites.alpha, 'bravo')
    const { fresh } = listChannelFolders(sites.bravo, 'alpha')
    for (const file of fs.readdirSync(ready).sort().reverse()) {
      for (const byte of [...fs.readFileSync(join(ready, file))].map((each) => Buffer.from([each]))) {
        fs.appendFileSync(join(fresh, file), byte)
        if (Math.abs(byte[0] ?? 0) % 16 === 0) await sites.bravo.transport.rescan()
      }
    }
    await sites.bravo.transport.rescan()
    expect(listReceivedNumbers(sites)).toEqual([1])
    expect(listQuarantineReasons(sites.bravo, 'alpha')).toEqual([])
  })
})
