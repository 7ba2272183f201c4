// The first message of an epoch says so itself, by a note that the sender's root keys have signed: nothing else opens one.
import * as z from 'zod'
import type { AuditEvent } from '../../../../daemon/kernel/audit.ts'
import { type Jws, jws } from '../../../../daemon/kernel/keys.ts'
import { epochAnnouncement, keys_schema } from '../../../../daemon/kernel/one-way.ts'
import { contentCheck, digestCheck } from '../checks/content-checks.ts'
import { shapeFault } from '../checks/file-checks.ts'
import { signersFault } from '../checks/signature-checks.ts'
import { type Announcement, known, type Specimen } from '../checks/specimen.ts'
import { strictJson } from '../checks/strict-json.ts'
import { eventOf } from '../line.ts'
import { fault } from '../reasons.ts'
import type { Candidate } from './candidate.ts'
import type { Desk, ScanDesk } from './fate.ts'

const announcing = z.strictObject({ epoch: jws })

/** Reads it, if this is one. Before the other checks, since the number can be judged only by what it says. */
export async function readAnnouncement(specimen: Specimen, { trust, place }: Desk): Promise<void> {
  const { kind, seq, body } = known(specimen, 'statement')
  if (kind !== 'keys' || seq !== 1) return
  const broken = digestCheck(specimen) ?? contentCheck(specimen)
  const data = broken ? undefined : known(specimen, 'content').data
  if (!broken && (body.schema !== keys_schema || !data || !('epoch' in data))) return
  const note = announcing.safeParse(data)
  if (broken) specimen.announcement = { fault: broken }
  else if (note.error) specimen.announcement = { fault: shapeFault('the announcement', note.error, 'SCHEMA') }
  else specimen.announcement = await announcedBy(note.data.epoch, specimen, { trust, place })
}

/** Root keys alone count, however many message keys have signed: those are what an epoch may be opened to leave behind. */
async function announcedBy(
  note: Jws,
  specimen: Specimen,
  { trust, place }: Pick<Desk, 'trust' | 'place'>,
): Promise<Announcement> {
  const roots = trust.pinned.filter(({ use }) => use === 'root')
  const verified = await trust.signatures.verify('epoch', note, roots)
  const unsigned = signersFault(verified, place.peer.root_threshold ?? 1, 'root')
  if (unsigned || typeof verified === 'string') return { fault: unsigned ?? fault('BAD_SIG', 'it is not signed') }
  const read = strictJson(Buffer.from(verified.payload))
  const parsed = epochAnnouncement.safeParse(read.outcome === 'value' ? read.value : undefined)
  if (parsed.error) return { fault: shapeFault('the announcement', parsed.error, 'SCHEMA') }
  const said = parsed.data
  const { channel, src, dst, epoch } = known(specimen, 'statement')
  const isLate = verified.keys.some((key) => key.not_after && Date.parse(said.created) > Date.parse(key.not_after))
  if (isLate) return { fault: fault('UNKNOWN_KEY', 'a root key signed the announcement after its own end') }
  if (said.dst !== dst) return { fault: fault('WRONG_DST', 'it announces an epoch to another site') }
  if (said.channel !== channel || said.src !== src) {
    return { fault: fault('WRONG_CHANNEL', 'it announces an epoch of another channel') }
  }
  if (said.epoch !== epoch) return { fault: fault('SCHEMA', `it announces epoch ${said.epoch}`) }
  return { said }
}

/** Durable before the message is taken in: what comes behind it must not wait for an epoch that is open. */
export async function openAnnounced(batch: readonly Candidate[], { around, place, line }: ScanDesk): Promise<void> {
  for (const { specimen, desk, fate } of batch) {
    const { announcement } = specimen
    if (fate || !announcement || 'fault' in announcement || announcement.said.epoch <= desk.epoch) continue
    const { epoch, reason, created } = announcement.said
    const about = { before: desk.epoch, created, epoch, reason }
    const event: AuditEvent = eventOf(line, 'filedrop.epoch.opened', place.channel, about, around, {
      trace: desk.trace,
    })
    await around.journal.advance(place.channel, epoch, [event])
    around.log.warn('filedrop.epoch.opened', { peer: line.peer, ...about })
  }
}
