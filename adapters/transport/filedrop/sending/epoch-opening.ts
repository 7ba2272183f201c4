// Opens the next epoch of an outgoing channel: after a restore its numbers begin anew, and the root keys say so.
import { isRefused, type Refused, refuse } from '../../../../daemon/kernel/errors.ts'
import type { Jws } from '../../../../daemon/kernel/keys.ts'
import {
  type EpochAnnouncement,
  epochAnnouncement,
  keys_schema,
  type OneWay,
} from '../../../../daemon/kernel/one-way.ts'
import type { Peer } from '../../../../daemon/kernel/peer.ts'
import type { Line } from '../line.ts'
import { signedBy } from '../signed-notes.ts'
import type { Surroundings } from '../surroundings.ts'
import type { Numbering } from './numbering.ts'
import { ownLabel } from './own-label.ts'
import { seal } from './sealing.ts'
import { highestSent } from './set-back.ts'

/** Later than every epoch that the journal or the files know of: a journal that was restored twice knows of too few. */
export async function draftEpoch(line: Line, around: Surroundings): Promise<Omit<EpochAnnouncement, 'reason'>> {
  const { site, clock } = around
  const { epoch, seq } = await around.journal.head(line.channel.out)
  const highest = await highestSent(line, around, { epoch, seq })
  return {
    v: 1,
    type: 'platform.epoch',
    channel: line.channel.out,
    src: site,
    dst: line.peer,
    epoch: highest.epoch + 1,
    created: new Date(clock.now()).toISOString(),
  }
}

/** Durable when it resolves, and the first message of the epoch. */
export async function openEpoch(
  line: Line,
  peer: Peer,
  announcement: Jws,
  numbers: Numbering,
  around: Surroundings,
  audit: Parameters<OneWay['openEpoch']>[1],
): Promise<EpochAnnouncement> {
  const said = await verified(line, announcement, around)
  if (isRefused(said)) throw said
  const { journal, log } = around
  await numbers.alone(async () => {
    const message = await seal(
      {
        peer: peer.name,
        event_id: `epoch:${said.epoch}`,
        kind: 'keys',
        schema: keys_schema,
        body: { epoch: announcement },
        label: ownLabel(peer, around),
        parent_block_ids: [],
      },
      line.channel.out,
      peer,
      { epoch: said.epoch, seq: 0, digest: undefined },
      around,
    )
    if ((await journal.openEpoch(line.channel.out, message, audit(said))) === 'behind') throw taken(said.epoch)
    around.reached('epoch-opened')
    log.warn('filedrop.epoch.opened', { peer: line.peer, epoch: said.epoch, reason: said.reason })
  })
  return said
}

/** A later epoch than the next is for a site whose files were set back as well: the peer alone knows which it saw. */
async function verified(line: Line, announcement: Jws, around: Surroundings): Promise<EpochAnnouncement | Refused> {
  const { keys, threshold } = around.roots()
  // Signed by a wrong key it would open an epoch that no peer takes.
  if (keys.length === 0) return refuse('conflict', rootless)
  const said = await signedBy('epoch', announcement, keys, threshold, epochAnnouncement, around.signatures)
  if (isRefused(said)) return said
  const draft = await draftEpoch(line, around)
  if (said.channel !== draft.channel || said.src !== draft.src || said.dst !== draft.dst) {
    return refuse('invalid', 'the announcement is about another channel')
  }
  return said.epoch < draft.epoch ? taken(said.epoch) : said
}

const rootless =
  'this site does not know its own root keys: publish a key set that names them (platform keys set draft --roots FILE)'

function taken(epoch: number): Refused {
  return refuse('conflict', `epoch ${epoch} of this channel was used already`)
}
