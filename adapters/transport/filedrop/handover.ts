// Hands messages to a network carrier, and takes from it what came: by the same folders as any courier.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Handover, Landing, Parcel } from '../../../daemon/kernel/carrier.ts'
import { refuse } from '../../../daemon/kernel/errors.ts'
import type { MessageNumber } from '../../../daemon/kernel/journal.ts'
import type { Peer } from '../../../daemon/kernel/peer.ts'
import { removeFrom } from './courier/picked-up.ts'
import { type Line, standing } from './line.ts'
import { fileOf, nameOf, parseName, parts } from './names.ts'
import { syncFolderLater } from './own-file.ts'
import { countIncoming } from './receiving/incoming-count.ts'
import type { RunningLine } from './running-line.ts'
import { ownMessage } from './sending/own-message.ts'
import { placeFile, stemsInReady } from './sending/publishing.ts'
import type { Surroundings } from './surroundings.ts'

/** Messages that may lie unread here: a peer that sends faster than this site reads is told to wait. */
const most_waiting = 10_000

/** What is read at once; one message may be larger. */
const most_bytes_at_once = 8_388_608

/** Files written side by side: the disk makes them durable together. */
const side_by_side = 16

/** `lineOf`: of a peer that is pinned. `listeners` are told of what is published. */
export function handover(
  around: Surroundings,
  lineOf: (peer: string) => RunningLine,
  listeners: Set<(peer: string) => void>,
): Handover {
  const pinned = async (name: string): Promise<RunningLine> => {
    const peer = await around.peers.get(name)
    if (!peer) throw refuse('not_found', `there is no peer ${name}`)
    return lineOf(peer.name)
  }
  return {
    async ready(name, limit) {
      const { line } = await pinned(name)
      const { peer } = await standing(line, 'out', around)
      return peer ? await readyParcels(line, peer, limit, around) : []
    },
    async leave(name, numbers) {
      const running = await pinned(name)
      removeFrom(running.line.folders.ready, numbers.flatMap(filesOf))
      running.outbox.pickups.trigger()
    },
    async land(name, parcels) {
      const running = await pinned(name)
      const { line } = running
      const { peer, state, detail } = await standing(line, 'in', around)
      const intake = running.intake()
      if (!peer || !intake) throw refuse('unavailable', `the channel from ${name} is ${state}: ${detail}`)
      const room = intake.isFull() ? 0 : most_waiting - (await countIncoming(line.folders)).messages
      const landings = await layAll(line, parcels.slice(0, Math.max(0, room)))
      if (landings.length > 0) intake.scanner.trigger()
      return parcels.map((_, index) => landings[index] ?? 'full')
    },
    async judged(name) {
      await (await pinned(name)).intake()?.scanner.afterwards()
    },
    onReady(tell) {
      listeners.add(tell)
      return () => void listeners.delete(tell)
    },
  }
}

/** Held to what was signed, as for a courier. Half a message is one that is being published; a faulty one stays. */
async function readyParcels(line: Line, peer: Peer, limit: number, around: Surroundings): Promise<Parcel[]> {
  const found: Parcel[] = []
  let size = 0
  for (const stem of [...stemsInReady(line.folders)].sort()) {
    if (found.length === limit || size >= most_bytes_at_once) break
    const name = parseName(fileOf(stem, 'env'))
    if (!name) continue
    const bytes = await ownMessage(line.folders.ready, name, undefined, { line, peer }, around)
    if (typeof bytes === 'string') {
      if (bytes !== 'lost') around.log.error('filedrop.message.kept_back', { peer: line.peer, stem, why: bytes })
      continue
    }
    const { epoch, seq } = name
    size += bytes.envelope.length + bytes.body.length
    found.push({ epoch, seq, envelope: Buffer.from(bytes.envelope), body: Buffer.from(bytes.body) })
  }
  return found
}

function filesOf({ epoch, seq }: MessageNumber): { name: string }[] {
  return parts.map((part) => ({ name: fileOf(nameOf(epoch, seq).stem, part) }))
}

async function layAll(line: Line, parcels: readonly Parcel[]): Promise<Landing[]> {
  const landings: Landing[] = []
  for (let at = 0; at < parcels.length; at += side_by_side) {
    landings.push(...(await Promise.all(parcels.slice(at, at + side_by_side).map((each) => lay(line, each)))))
  }
  if (parcels.length > 0) await syncFolderLater(line.folders.fresh)
  return landings
}

/** The body first, as every carrier does. */
async function lay({ folders }: Line, { epoch, seq, envelope, body }: Parcel): Promise<Landing> {
  const { stem } = nameOf(epoch, seq)
  for (const part of parts) {
    const draft = join(folders.tmp, `land-${randomBytes(8).toString('hex')}`)
    const bytes = Buffer.from(part === 'env' ? envelope : body)
    if ((await placeFile(draft, join(folders.fresh, fileOf(stem, part)), bytes)) === 'different') return 'in_the_way'
  }
  return 'landed'
}
