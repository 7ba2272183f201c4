// Opens the next epoch of an outgoing channel after a restore, by an announcement that the root keys sign.

import type { Jws } from '../../../../../daemon/kernel/cryptography/signatures.ts'
import { isRefusal, type Refusal, refuse } from '../../../../../daemon/kernel/error/errors.ts'
import type { Peer } from '../../../../../daemon/kernel/identity/peer.ts'
import {
  type EpochAnnouncement,
  epochAnnouncement,
  keys_schema,
  type OneWayControl,
} from '../../../../../daemon/kernel/messaging/one-way-control.ts'
import type { FiledropContext } from '../../filedrop-context.ts'
import type { FiledropLink } from '../../link/filedrop-link.ts'
import { verifyNote } from '../../signed-notes.ts'
import { ownLabel } from '../own-label.ts'
import { highestSentNumber } from './journal-rollback.ts'
import type { MessageNumbering } from './message-numbering.ts'
import { sealMessage } from './seal-message.ts'

/** Later than every epoch that the journal or the files know of: a journal that was restored twice knows of too few. */
export async function draftEpoch(
  link: FiledropLink,
  filedrop: FiledropContext,
): Promise<Omit<EpochAnnouncement, 'reason'>> {
  const { site, clock } = filedrop
  const { epoch, seq } = await filedrop.journal.head(link.channel.out)
  const highest = await highestSentNumber(link, filedrop, { epoch, seq })
  return {
    v: 1,
    type: 'platform.epoch',
    channel: link.channel.out,
    src: site,
    dst: link.peer,
    epoch: highest.epoch + 1,
    created: new Date(clock.now()).toISOString(),
  }
}

/** Durable when it resolves, and the first message of the epoch. */
export async function openEpoch(
  link: FiledropLink,
  peer: Peer,
  announcement: Jws,
  numbering: MessageNumbering,
  filedrop: FiledropContext,
  audit: Parameters<OneWayControl['openEpoch']>[1],
): Promise<EpochAnnouncement> {
  const verified = await verifyAnnouncement(link, announcement, filedrop)
  if (isRefusal(verified)) throw verified
  const { journal, log } = filedrop
  await numbering.alone(async () => {
    const message = await sealMessage(
      {
        peer: peer.name,
        event_id: `epoch:${verified.epoch}`,
        kind: 'keys',
        schema: keys_schema,
        body: { epoch: announcement },
        label: ownLabel(peer, filedrop),
        parent_block_ids: [],
      },
      link.channel.out,
      peer,
      { epoch: verified.epoch, seq: 0, digest: undefined },
      filedrop,
    )
    if ((await journal.openEpoch(link.channel.out, message, audit(verified))) === 'behind')
      throw epochUsedRefusal(verified.epoch)
    filedrop.passFaultPoint('epoch-opened')
    log.warn('filedrop.epoch.opened', { peer: link.peer, epoch: verified.epoch, reason: verified.reason })
  })
  return verified
}

/** A later epoch than the next is for a site whose files were set back as well: the peer alone knows which it saw. */
async function verifyAnnouncement(
  link: FiledropLink,
  announcement: Jws,
  filedrop: FiledropContext,
): Promise<EpochAnnouncement | Refusal> {
  const { keys, threshold } = filedrop.roots()
  // Signed by a wrong key it would open an epoch that no peer takes.
  if (keys.length === 0) return refuse('conflict', no_root_keys)
  const verified = await verifyNote('epoch', announcement, keys, threshold, epochAnnouncement, filedrop.signatures)
  if (isRefusal(verified)) return verified
  const draft = await draftEpoch(link, filedrop)
  if (verified.channel !== draft.channel || verified.src !== draft.src || verified.dst !== draft.dst) {
    return refuse('invalid', 'the announcement is about another channel')
  }
  return verified.epoch < draft.epoch ? epochUsedRefusal(verified.epoch) : verified
}

const no_root_keys =
  'this site does not know its own root keys: publish a key set that names them (platform keys set draft --roots FILE --out FILE)'

function epochUsedRefusal(epoch: number): Refusal {
  return refuse('conflict', `epoch ${epoch} of this channel was used already`)
}
