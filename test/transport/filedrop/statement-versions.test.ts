// Sites of two versions side by side: each reads its own and the one before, and sends what the other declared to read.

import * as fs from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import * as z from 'zod'
import type { Statement } from '../../../daemon/kernel/messaging/statement.ts'
import { statement } from '../../../daemon/kernel/messaging/statement.ts'
import { type StatementFormat, statementFormatsFor } from '../../../daemon/kernel/messaging/statement-format.ts'
import type { InboundMessage } from '../../../daemon/kernel/messaging/transport.ts'
import { messageKinds } from '../../../daemon/message-kinds.ts'
import {
  buildMessage,
  buildPeer,
  carryFiles,
  type FiledropSite,
  type FiledropSites,
  formatReadyPath,
  listQuarantineReasons,
  restartSite,
} from '../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../support/filedrop/filedrop-test.ts'
import { dropMessage, forgeMessage } from '../../support/filedrop/forge-message.ts'
import { sampleTrace } from '../../support/trace/sample-trace.ts'

/** A version that says one thing more; what an older one does not say has a value of its own. */
type UrgentStatement = Statement & { readonly urgency: string }
const buildFormat = (v: number): StatementFormat => {
  const shape = statement.extend({
    v: z.literal(v),
    label: z.unknown().optional(),
    urgency: z.enum(['routine', 'flash']),
  })
  return {
    v,
    parse: (value) => shape.safeParse(value) as ReturnType<StatementFormat['parse']>,
    write: (content) => ({ ...content, v, urgency: 'flash' }),
  }
}
const currentFormats = statementFormatsFor(messageKinds)
const firstFormat: StatementFormat = {
  v: 1,
  parse(value) {
    const parsed = currentFormats[0]?.parse(value)
    if (!parsed?.success) return parsed as ReturnType<StatementFormat['parse']>
    return { ...parsed, data: { ...parsed.data, urgency: 'routine' } as typeof parsed.data }
  },
  write: (content) => currentFormats[0]?.write(content) ?? {},
}
const secondFormat = buildFormat(2)

const test = filedropTest.extend({ options: { receiving: ['alpha', 'bravo'] } })

/** Which versions a site knows, and what it believes that the other reads. */
async function setFormats(
  site: FiledropSite,
  other: FiledropSite,
  formats: readonly StatementFormat[],
  max_v: number,
): Promise<void> {
  site.pinned.set(other.name, buildPeer(other, { max_v }))
  await restartSite(site, undefined, {}, { formats })
}

async function sendAndCarry(sites: FiledropSites, from: FiledropSite, to: FiledropSite): Promise<number[]> {
  const releasable = { ...buildMessage(sites).label, releasable_to: [to.tenant_id], originator: from.tenant_id }
  await from.transport.send(buildMessage(sites, { peer: to.name, label: releasable }), sampleTrace)
  await from.transport.rescan()
  const versions = fs
    .readdirSync(formatReadyPath(from, to.name))
    .filter((name) => name.endsWith('.env.json'))
    .map((name) => {
      const { payload } = JSON.parse(fs.readFileSync(join(formatReadyPath(from, to.name), name), 'utf8'))
      return JSON.parse(Buffer.from(payload, 'base64url').toString()).v as number
    })
  carryFiles(from, to)
  await to.transport.rescan()
  return versions
}

const summariseReceived = (received: readonly InboundMessage[]) =>
  received.map(({ statement: { v, kind, ...more } }) => [v, (more as Partial<UrgentStatement>).urgency, kind])

describe.each([
  { alpha: [firstFormat], bravo: [firstFormat], announced: 1, sent: 1, heard: [1, 'routine'] },
  { alpha: [firstFormat], bravo: [firstFormat, secondFormat], announced: 2, sent: 1, heard: [1, 'routine'] },
  { alpha: [firstFormat, secondFormat], bravo: [firstFormat], announced: 1, sent: 1, heard: [1, 'routine'] },
  {
    alpha: [firstFormat, secondFormat],
    bravo: [firstFormat, secondFormat],
    announced: 1,
    sent: 1,
    heard: [1, 'routine'],
  },
  {
    alpha: [firstFormat, secondFormat],
    bravo: [firstFormat, secondFormat],
    announced: 2,
    sent: 2,
    heard: [2, 'flash'],
  },
])('from versions $alpha.length to $bravo.length, announces $announced', ({ alpha, bravo, announced, sent, heard }) => {
  test.for(['alpha', 'bravo'] as const)('the other reads messages that %s sends', async (name, { sites }) => {
    const [from, to] = name === 'alpha' ? [sites.alpha, sites.bravo] : [sites.bravo, sites.alpha]
    await setFormats(to, from, bravo, 1)
    await setFormats(from, to, alpha, announced)
    expect(await sendAndCarry(sites, from, to)).toEqual([sent])
    expect(summariseReceived(to.received)).toEqual([[...heard, 'contribution']])
    expect(listQuarantineReasons(to, from.name)).toEqual([])
  })
})

test('a site brought up to date in the middle of a channel goes on with the next number, in the newer version', async ({
  sites,
}) => {
  const { alpha, bravo } = sites
  await setFormats(bravo, alpha, [firstFormat, secondFormat], 1)
  await setFormats(alpha, bravo, [firstFormat], 1)
  await sendAndCarry(sites, alpha, bravo)
  await setFormats(alpha, bravo, [firstFormat, secondFormat], 2)
  await sendAndCarry(sites, alpha, bravo)
  expect(bravo.received.map(({ statement: { v, seq } }) => [seq, v])).toEqual([
    [1, 1],
    [2, 2],
  ])
})

test('a version that is not known is TYPE, and so is one older than the one before', async ({ sites }) => {
  const { alpha, bravo } = sites
  await setFormats(bravo, alpha, [firstFormat], 1)
  await setFormats(alpha, bravo, [firstFormat, secondFormat], 2)
  await sendAndCarry(sites, alpha, bravo)
  expect(listQuarantineReasons(bravo, 'alpha').map(({ reason }) => reason)).toEqual(['TYPE'])
  await setFormats(bravo, alpha, [firstFormat, secondFormat, buildFormat(3)], 1)
  dropMessage(sites, await forgeMessage(sites, { seq: 2 }))
  await bravo.transport.rescan()
  expect(listQuarantineReasons(bravo, 'alpha').map(({ reason }) => reason)).toEqual(['TYPE', 'TYPE'])
  expect(bravo.received).toEqual([])
})

test.for<[string, Record<string, unknown>, string]>([
  ['the newer version without what it adds', { v: 2 }, 'SCHEMA'],
  ['the older version with what it lacks', { v: 1, urgency: 'flash' }, 'UNKNOWN_FIELD'],
  ['no version', { v: undefined }, 'TYPE'],
  ['a version in words', { v: '2', urgency: 'flash' }, 'TYPE'],
])('%s is refused', async ([_, fields, reason], { sites }) => {
  await setFormats(sites.bravo, sites.alpha, [firstFormat, secondFormat], 1)
  dropMessage(sites, await forgeMessage(sites, { statement: fields }))
  await sites.bravo.transport.rescan()
  expect(listQuarantineReasons(sites.bravo, 'alpha').map((each) => each.reason)).toEqual([reason])
})

test('to a peer that reads nothing so new nothing is sent, and no number is used up', async ({ sites }) => {
  const { alpha, bravo } = sites
  await setFormats(alpha, bravo, [secondFormat, buildFormat(3)], 1)
  await expect(alpha.transport.send(buildMessage(sites), sampleTrace)).rejects.toMatchObject({ code: 'unavailable' })
  await setFormats(alpha, bravo, [secondFormat, buildFormat(3)], 2)
  expect(await alpha.transport.send(buildMessage(sites), sampleTrace)).toMatchObject({ seq: 1 })
})
