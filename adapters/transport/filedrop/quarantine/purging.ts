// Removes a body everywhere, by order of people: from the journal, from what is on its way, from every folder.
import { setTimeout } from 'node:timers/promises'
import type { AuditEvent } from '../../../../daemon/kernel/audit.ts'
import type { Purged } from '../../../../daemon/kernel/custody.ts'
import type { PurgeFinds, SentBody } from '../../../../daemon/kernel/journal.ts'
import { channelName } from '../layout.ts'
import { nameOf, parseName } from '../names.ts'
import type { RunningLine } from '../running-line.ts'
import type { UnderWay } from '../sending/claims.ts'
import type { Surroundings } from '../surroundings.ts'
import { digestsOf } from './purge-orders.ts'
import { bodiesOf, type Found, filesHolding, removeFound, sessionsIn, tellOf } from './purge-walk.ts'

export type Purging = {
  /** See `Custody.purge`. */
  purge(digest: string, reason: string, audit: readonly AuditEvent[]): Promise<Purged | 'running'>
}

/** A caller is not kept waiting for longer: large folders take their time, and the work goes on. */
const patience_ms = 10_000

export function purging(around: Surroundings, lines: () => Promise<readonly RunningLine[]>): Purging {
  const running = new Map<string, Promise<Purged>>()
  return {
    async purge(digest, reason, audit) {
      await around.purges.add({ digest, reason, at: around.clock.now() }, audit)
      const work = running.get(digest) ?? purge(around, lines, digest, reason).finally(() => running.delete(digest))
      running.set(digest, work)
      // What fails later than anybody waits for is found again by the one who repeats it.
      work.catch(() => undefined)
      const patience = new AbortController()
      const late = setTimeout(patience_ms, 'running' as const, { signal: patience.signal, ref: false })
      late.catch(() => undefined)
      try {
        return await Promise.race([work, late])
      } finally {
        patience.abort()
      }
    },
  }
}

async function purge(
  around: Surroundings,
  lines: () => Promise<readonly RunningLine[]>,
  digest: string,
  reason: string,
): Promise<Purged> {
  const { root, journal, settings, clock, purges, claims } = around
  const called = await claims.callBack()
  const isStatement = await bodiesOf(root, digest, settings.max_envelope_bytes)
  const waiting = await onTheirWay(around, digest)
  const bodies = new Set([...isStatement, ...waiting.map(({ body }) => body)])
  for (const body of bodies) if (body !== digest) await purges.add({ digest: body, reason, at: clock.now() }, [])
  // A digest of no statement that is known here is taken for that of a body.
  const wanted = new Set([digest, ...bodies])
  await tellUnderWay(around, digest, wanted, [...called, ...(await claims.callBack())])
  const all = await lines()
  await fromJournal(around, all, digest, wanted)
  // What is being taken in falls under the order now, and is put away without its body.
  for (const line of all) line.trigger()
  for (const line of all) await line.idle()
  while ((await removeAll(around, digest, wanted)) > 0) {
    // What was read to be sent again before it was removed is out by now, and found by the next look.
    for (const { outbox } of all) await outbox.resending.idle()
  }
  for (const line of all) line.intake()?.recount()
  const finds = await findsOf(journal, wanted)
  return { ...finds, bodies: bodies.size > 0 ? [...bodies] : [digest], journal: await journal.scrub() }
}

/** What a network had in hand when it was called back: nobody can say whether it had left before. */
async function tellUnderWay(
  { journal }: Surroundings,
  digest: string,
  wanted: ReadonlySet<string>,
  underWay: readonly UnderWay[],
): Promise<void> {
  for (const { peer, parcel } of underWay) {
    const envelope = Buffer.from(parcel.envelope).toString('utf8')
    if (!digestsOf({ envelope, body: parcel.body }).some((each) => wanted.has(each))) continue
    const sessions = sessionsIn({ bytes: Buffer.from(parcel.body), inode: 0 })
    const place = `${peer}/under way/${nameOf(parcel.epoch, parcel.seq).stem} (it may have left)`
    await journal.addPurgeFinds(digest, { places: [place], msg_ids: [], sessions })
  }
}

async function removeAll(around: Surroundings, digest: string, wanted: ReadonlySet<string>): Promise<number> {
  let removed = 0
  for await (const found of filesHolding(around.root, wanted)) {
    await remove(around, digest, found)
    removed += 1
  }
  return removed
}

async function findsOf(journal: Surroundings['journal'], wanted: ReadonlySet<string>): Promise<PurgeFinds> {
  const all = await Promise.all([...wanted].map((digest) => journal.purgeFinds(digest)))
  const merged = (of: keyof PurgeFinds) => [...new Set(all.flatMap((finds) => finds[of]))].sort()
  return { places: merged('places'), msg_ids: merged('msg_ids'), sessions: merged('sessions') }
}

/** What the carrier has taken already is noticed first: that it left here must not be forgotten. */
async function fromJournal(
  around: Surroundings,
  lines: readonly RunningLine[],
  digest: string,
  wanted: ReadonlySet<string>,
): Promise<void> {
  const { journal } = around
  for (const { outbox } of lines) outbox.pickups.trigger()
  for (const { outbox } of lines) await outbox.pickups.idle()
  for (const body of wanted) {
    for (const sent of await onTheirWay(around, body)) {
      const { channel, epoch, seq, msg_id } = sent
      const place = `journal/${channel}/${nameOf(epoch, seq).stem}`
      await journal.addPurgeFinds(digest, { places: [place], msg_ids: [msg_id], sessions: [] })
      await journal.purgeSent(channel, [sent])
    }
  }
}

async function onTheirWay({ journal }: Surroundings, digest: string): Promise<SentBody[]> {
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

/** Told before it is done: after a crash it is found again, and told no more than once. */
async function remove(around: Surroundings, digest: string, found: Found): Promise<void> {
  const { journal, settings, site } = around
  await journal.addPurgeFinds(digest, tellOf(found, settings))
  const name = parseName(found.file)
  if (name && (found.place === 'sent' || found.place === 'ready')) {
    await journal.purgeSent(channelName(site, found.peer), [name])
  }
  // A message that waits for others will not be taken in: its number ends here.
  if (name && found.place === 'work') {
    await journal.settle(channelName(found.peer, site), [{ ...name, state: 'quarantined', code: 'purged' }])
  }
  removeFound(found)
}
