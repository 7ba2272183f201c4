// Purges a body from the journal, from messages in transit and from every folder.
import { setTimeout } from 'node:timers/promises'
import type { AuditEvent } from '../../../../daemon/kernel/audit/audit-chain.ts'
import type { PurgeResult } from '../../../../daemon/kernel/messaging/custody.ts'
import type { PurgeFinds, SentBody } from '../../../../daemon/kernel/messaging/purge-records.ts'
import type { FiledropContext } from '../filedrop-context.ts'
import { channelName } from '../files/channel-folders.ts'
import { messageName, parseMessageName } from '../files/message-name.ts'
import type { FiledropLinkRuntime } from '../link/link-runtime.ts'
import type { RecalledParcel } from '../sending/handover/parcel-claims.ts'
import { dismissItem } from './dismiss-item.ts'
import { purgeableDigests } from './purge-orders.ts'
import { describeMatch, findBodies, findFiles, type PurgeMatch, readSessions, removeMatch } from './purge-walk.ts'
import { itemIdOf } from './quarantine-items.ts'

export type PurgeRunner = {
  /** See `Custody.purge`. */
  purge(digest: string, reason: string, audit: readonly AuditEvent[]): Promise<PurgeResult | 'running'>
}

/** A caller is not kept waiting for longer: large folders take their time, and the work goes on. */
const reply_timeout_ms = 10_000

export function purgeRunner(
  filedrop: FiledropContext,
  links: () => Promise<readonly FiledropLinkRuntime[]>,
): PurgeRunner {
  const running = new Map<string, Promise<PurgeResult>>()
  return {
    async purge(digest, reason, audit) {
      await filedrop.purges.add({ digest, reason, at: filedrop.clock.now() }, audit)
      const work =
        running.get(digest) ?? purgeBody(filedrop, links, digest, reason).finally(() => running.delete(digest))
      running.set(digest, work)
      // A failure after the caller has stopped waiting shows again when the purge is repeated.
      work.catch(() => undefined)
      const patience = new AbortController()
      const late = setTimeout(reply_timeout_ms, 'running' as const, { signal: patience.signal, ref: false })
      late.catch(() => undefined)
      try {
        return await Promise.race([work, late])
      } finally {
        patience.abort()
      }
    },
  }
}

async function purgeBody(
  filedrop: FiledropContext,
  links: () => Promise<readonly FiledropLinkRuntime[]>,
  digest: string,
  reason: string,
): Promise<PurgeResult> {
  const { root, journal, settings, clock, purges, claims } = filedrop
  const called = await claims.recall()
  const isStatement = await findBodies(root, digest, settings.max_envelope_bytes)
  const waiting = await findJournalBodies(filedrop, digest)
  const bodies = new Set([...isStatement, ...waiting.map(({ body }) => body)])
  for (const body of bodies) if (body !== digest) await purges.add({ digest: body, reason, at: clock.now() }, [])
  // A digest of no statement that is known here is taken for that of a body.
  const wanted = new Set([digest, ...bodies])
  await recordRecalled(filedrop, digest, wanted, [...called, ...(await claims.recall())])
  const all = await links()
  await purgeJournal(filedrop, all, digest, wanted)
  // A message that is being taken in falls under the order now, and goes to quarantine without its body.
  for (const line of all) line.trigger()
  for (const line of all) await line.idle()
  while ((await removeMatches(filedrop, digest, wanted)) > 0) {
    // A message that was read for a resend before its removal is out by now, and the next search finds it.
    for (const { outbox } of all) await outbox.resender.idle()
  }
  for (const line of all) line.intake()?.recount()
  const finds = await readFinds(journal, wanted)
  return { ...finds, bodies: bodies.size > 0 ? [...bodies] : [digest], journal: await journal.scrub() }
}

/** Messages that a network had in hand when they were recalled: they may have left before. */
async function recordRecalled(
  { journal }: FiledropContext,
  digest: string,
  wanted: ReadonlySet<string>,
  underWay: readonly RecalledParcel[],
): Promise<void> {
  for (const { peer, parcel } of underWay) {
    const envelope = Buffer.from(parcel.envelope).toString('utf8')
    if (!purgeableDigests({ envelope, body: parcel.body }).some((each) => wanted.has(each))) continue
    const sessions = readSessions({ bytes: Buffer.from(parcel.body), inode: 0 })
    const place = `${peer}/under way/${messageName(parcel.epoch, parcel.seq).stem} (it may have left)`
    await journal.addPurgeFinds(digest, { places: [place], msg_ids: [], sessions })
  }
}

async function removeMatches(filedrop: FiledropContext, digest: string, wanted: ReadonlySet<string>): Promise<number> {
  let removed = 0
  for await (const found of findFiles(filedrop.root, wanted)) {
    await recordAndRemove(filedrop, digest, found)
    removed += 1
  }
  return removed
}

async function readFinds(journal: FiledropContext['journal'], wanted: ReadonlySet<string>): Promise<PurgeFinds> {
  const all = await Promise.all([...wanted].map((digest) => journal.purgeFinds(digest)))
  const merged = (of: keyof PurgeFinds) => [...new Set(all.flatMap((finds) => finds[of]))].sort()
  return { places: merged('places'), msg_ids: merged('msg_ids'), sessions: merged('sessions') }
}

/** Records pickups first: the purge must not erase that a message has left. */
async function purgeJournal(
  filedrop: FiledropContext,
  links: readonly FiledropLinkRuntime[],
  digest: string,
  wanted: ReadonlySet<string>,
): Promise<void> {
  const { journal } = filedrop
  for (const { outbox } of links) outbox.pickups.trigger()
  for (const { outbox } of links) await outbox.pickups.idle()
  for (const body of wanted) {
    for (const sent of await findJournalBodies(filedrop, body)) {
      const { channel, epoch, seq, msg_id } = sent
      const place = `journal/${channel}/${messageName(epoch, seq).stem}`
      await journal.addPurgeFinds(digest, { places: [place], msg_ids: [msg_id], sessions: [] })
      await journal.purgeSent(channel, [sent])
    }
  }
}

async function findJournalBodies({ journal }: FiledropContext, digest: string): Promise<SentBody[]> {
  const found: SentBody[] = []
  let after: number | undefined = 0
  while (after !== undefined) {
    const look: Awaited<ReturnType<typeof journal.bytesFitting>> = await journal.bytesFitting(digest, after)
    found.push(...look.found)
    after = look.next
    await setTimeout(0)
  }
  return found
}

/** Reported before it is done: after a crash it is found again, and reported only once. */
async function recordAndRemove(filedrop: FiledropContext, digest: string, found: PurgeMatch): Promise<void> {
  const { journal, settings, site } = filedrop
  await journal.addPurgeFinds(digest, describeMatch(found, settings))
  const name = parseMessageName(found.file)
  if (name && (found.place === 'sent' || found.place === 'ready')) {
    await journal.purgeSent(channelName(site, found.peer), [name])
  }
  // A message that waits for others will not be taken in: its number ends here.
  if (name && found.place === 'work') {
    await journal.recordOutcomes(channelName(found.peer, site), [{ ...name, state: 'quarantined', code: 'purged' }])
  }
  removeMatch(found)
  // What is left of an item says only that it was purged, which the audit log does.
  if (found.place === 'quarantine') await dismissItem(filedrop, found.peer, itemIdOf(found.file), [])
}
