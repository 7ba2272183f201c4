// Two messages under one number: the channel stands still, both signatures are stored, and only a person's decision opens it again.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import type { AuditEvent } from '../../../../daemon/kernel/audit/audit-chain.ts'
import type { UnfrozenChannel } from '../../../../daemon/kernel/messaging/one-way-control.ts'
import {
  channel,
  listReceivedNumbers,
  readInStatus,
  readRefusal,
  scanBravo,
  zeros,
} from '../../../support/filedrop/filedrop-readers.ts'
import {
  type FiledropSites,
  listChannelFolders,
  listQuarantineReasons,
  restartSite,
  start_ms,
} from '../../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../../support/filedrop/filedrop-test.ts'
import { dropMessage, type ForgedMessage, forgeMessage } from '../../../support/filedrop/forge-message.ts'
import { sampleTrace } from '../../../support/trace/sample-trace.ts'

const test = filedropTest.extend({ options: { receiving: ['bravo'] } })

const listQuarantined = (sites: FiledropSites) => listQuarantineReasons(sites.bravo, 'alpha')
const forgeAnother = (sites: FiledropSites, seq: number, letter = 'f') =>
  forgeMessage(sites, { seq, statement: { msg_id: `msg_${letter.repeat(32)}` } })

const buildAuditEvents = (what: UnfrozenChannel): AuditEvent[] => [
  {
    ...{ at: new Date(start_ms).toISOString(), action: 'test.unfreeze', outcome: 'done', tenant_id: 't', subject: 's' },
    ...{ target: channel, trace_id: sampleTrace.trace_id, detail: { ...what } },
  },
]
const unfreezeAndScan = async (sites: FiledropSites, peer = 'alpha') => {
  const opened = await sites.bravo.transport.oneWay.unfreeze(peer, buildAuditEvents)
  await scanBravo(sites)
  return opened
}

describe('after an equivocation', () => {
  let first: ForgedMessage
  let second: ForgedMessage
  test.beforeEach(async ({ sites }) => {
    first = await forgeMessage(sites)
    dropMessage(sites, first)
    await scanBravo(sites)
    second = await forgeAnother(sites, 1)
    dropMessage(sites, second)
    dropMessage(sites, await forgeMessage(sites, { seq: 2, statement: { prev: first.digest } }))
    await scanBravo(sites)
  })

  test('both envelopes lie in quarantine, byte for byte, and the first message stays where it is', async ({
    sites,
  }) => {
    const { quarantine, done } = listChannelFolders(sites.bravo, 'alpha')
    const bytes = (pattern: RegExp) => {
      const [name, ...more] = fs.readdirSync(quarantine).filter((file) => pattern.test(file))
      expect(more).toEqual([])
      return fs.readFileSync(join(quarantine, name ?? ''), 'utf8')
    }
    expect(bytes(/\.env\.json$/)).toBe(second.envelope)
    expect(bytes(/\.first-1-1\.json$/)).toBe(first.envelope)
    expect(bytes(/\.body\.json$/)).toBe(second.body)
    expect(fs.readdirSync(done)).toHaveLength(2)
    const [{ files } = { files: [] }] = listQuarantined(sites) as unknown as {
      files: { was: string; bytes: number }[]
    }[]
    expect(files?.at(-1)).toMatchObject({ was: `done/${first.stem}.env.json`, bytes: first.envelope.length })
    // Longer than the first message's files stay.
    for (const name of fs.readdirSync(quarantine)) expect(fs.statSync(join(quarantine, name)).mode & 0o777).toBe(0o600)
  })

  test('a person opens it: what waited comes in, what was refused does not, and both are on record', async ({
    sites,
  }) => {
    expect(listReceivedNumbers(sites)).toEqual([1])
    const detail = (await readInStatus(sites))?.detail
    expect(await unfreezeAndScan(sites)).toEqual({ peer: 'alpha', channel, was: detail })
    expect(await readInStatus(sites)).toMatchObject({ state: 'open', next_seq: 3, quarantined: 1 })
    expect(listReceivedNumbers(sites)).toEqual([1, 2])
    const [event] = await sites.bravo.audit.list({ action: 'test.unfreeze', limit: 9 })
    expect(event?.event?.detail).toMatchObject({ was: detail })
  })

  test('neither a restart nor anything that arrives opens it', async ({ sites }) => {
    await restartSite(sites.bravo)
    dropMessage(sites, await forgeMessage(sites, { seq: 3 }))
    await scanBravo(sites)
    expect(await readInStatus(sites)).toMatchObject({ state: 'frozen' })
    expect(listReceivedNumbers(sites)).toEqual([1])
  })

  test('once open, a third message under the number freezes it again', async ({ sites }) => {
    await unfreezeAndScan(sites)
    dropMessage(sites, await forgeAnother(sites, 1, 'e'))
    await scanBravo(sites)
    expect(await readInStatus(sites)).toMatchObject({ state: 'frozen' })
    expect(listQuarantined(sites).map(({ reason }) => reason)).toEqual(['EQUIVOCATION', 'EQUIVOCATION'])
  })
})

test('refuses to open a channel that is not frozen; a channel whose folders are lost stays shut', async ({ sites }) => {
  expect(await readRefusal(unfreezeAndScan(sites))).toMatchObject({ code: 'conflict' })
  expect(await readRefusal(unfreezeAndScan(sites, 'nobody'))).toMatchObject({ code: 'not_found' })
  await sites.bravo.journal.setState(channel, 'frozen', 'for a test')
  fs.rmSync(join(listChannelFolders(sites.bravo, 'alpha').home, 'CHANNEL.json'))
  await unfreezeAndScan(sites)
  expect(await readInStatus(sites)).toMatchObject({ state: 'stopped' })
})

/** Three messages of which one names another predecessor than there is, in every order of arrival. */
describe('a broken chain is judged only when both neighbours are there', () => {
  const orders = [
    [1, 2, 3],
    [1, 3, 2],
    [2, 1, 3],
    [2, 3, 1],
    [3, 1, 2],
    [3, 2, 1],
  ]
  const cases = orders.flatMap((order) => [2, 3].map((broken) => ({ order, broken })))

  test.for(cases)('arriving as $order with the predecessor of $broken wrong', async ({ order, broken }, { sites }) => {
    const made: ForgedMessage[] = []
    for (const seq of [1, 2, 3]) {
      const prev = seq === broken ? 'f'.repeat(96) : (made.at(-1)?.digest ?? zeros)
      made.push(await forgeMessage(sites, { seq, statement: { prev } }))
    }
    const arrived: number[] = []
    for (const seq of order) {
      dropMessage(sites, made[seq - 1] as ForgedMessage)
      await scanBravo(sites)
      arrived.push(seq)
      // The link between `broken` and the number before it has two ends: it breaks when the second of them comes.
      const hasBoth = arrived.includes(broken) && arrived.includes(broken - 1)
      expect(listQuarantined(sites).map(({ reason }) => reason)).toEqual(hasBoth ? ['CHAIN_BREAK'] : [])
    }
    const second = order.indexOf(broken) > order.indexOf(broken - 1) ? broken : broken - 1
    expect(listReceivedNumbers(sites)).toEqual(order.filter((seq) => seq !== second))
    expect(await readInStatus(sites)).toMatchObject({ state: 'open', quarantined: 1 })
  })

  test.for(orders)(
    'a first message that names a predecessor breaks by itself, arriving as %i, %i, %i',
    async ([...order], { sites }) => {
      const made: ForgedMessage[] = []
      for (const seq of [1, 2, 3]) {
        made.push(await forgeMessage(sites, { seq, statement: { prev: made.at(-1)?.digest ?? 'f'.repeat(96) } }))
      }
      for (const seq of order) {
        dropMessage(sites, made[seq - 1] as ForgedMessage)
        await scanBravo(sites)
      }
      expect(listQuarantined(sites).map(({ reason }) => reason)).toEqual(['CHAIN_BREAK'])
      expect(listReceivedNumbers(sites)).toEqual(order.filter((seq) => seq !== 1))
    },
  )
})
