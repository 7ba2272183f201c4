// Hands the messages of a batch to their receivers: those that commute side by side, the others in order and alone.

import type { Trace } from '../../../../daemon/kernel/trace.ts'
import type { Incoming, Verdict } from '../../../../daemon/kernel/transport.ts'
import { guarded } from '../accident.ts'
import { isReleasedLabel } from '../checks/released-label.ts'
import { bytesOf, known, statementOf } from '../checks/specimen.ts'
import type { Candidate, Fate } from './candidate.ts'
import type { Desk, ScanDesk } from './fate.ts'
import { takeInventory } from './inventory-taking.ts'
import { fullFault } from './lingering.ts'
import { isOrdered } from './ordering.ts'
import { scanBody } from './scan-gate.ts'
import { scannerFault } from './scanning.ts'

export type Deliver = (message: Incoming, trace: Trace) => Promise<Verdict>

/**
 * Gives each message of the batch that has no fate yet its own. `mayOvertake`: false after a failure of a message with
 * a lower number, which ordered ones must not overtake. Once one is put off, all behind it are.
 */
export async function deliverAll(
  batch: readonly Candidate[],
  desk: ScanDesk,
  deliver: Deliver,
  mayOvertake: boolean,
): Promise<void> {
  const floors = await floorsOf(batch, desk)
  let isInOrder = mayOvertake
  let isOver = false
  for (const turn of turnsOf(batch)) {
    await Promise.all(
      turn.map(async (candidate) => {
        if (candidate.fate) return
        if (isOver) candidate.fate = { is: 'deferred' }
        else if (mustWait(candidate, floors, isInOrder)) candidate.fate = held(candidate)
        else candidate.fate = await deliverOne(candidate, deliver)
      }),
    )
    isInOrder &&= !turn.some(({ fate }) => fate?.is === 'failed')
    isOver ||= desk.isStopped() || turn.some(({ fate }) => fate?.is === 'deferred')
  }
}

/** What may be done at once: those that commute until the next ordered one, which has a turn for itself. */
function turnsOf(batch: readonly Candidate[]): Candidate[][] {
  const turns: Candidate[][] = [[]]
  for (const candidate of batch) {
    if (isOpen(candidate) && isOrdered(known(candidate.specimen, 'statement').kind)) turns.push([candidate], [])
    else turns.at(-1)?.push(candidate)
  }
  return turns
}

function isOpen({ fate }: Candidate): boolean {
  return fate === undefined
}

/** Of each epoch in the batch, up to which number everything has arrived. */
async function floorsOf(
  batch: readonly Candidate[],
  { around, place }: ScanDesk,
): Promise<ReadonlyMap<number, number>> {
  const floors = new Map<number, number>()
  for (const epoch of new Set(batch.map(({ item }) => item.epoch))) {
    floors.set(epoch, (await around.journal.progress(place.channel, epoch)).floor)
  }
  return floors
}

function mustWait({ item, specimen }: Candidate, floors: ReadonlyMap<number, number>, isInOrder: boolean): boolean {
  if (!isOrdered(known(specimen, 'statement').kind)) return false
  return !isInOrder || (floors.get(item.epoch) ?? 0) < item.seq
}

function held({ item, desk, specimen }: Candidate): Fate {
  const full = fullFault(item, desk, specimen)
  if (full) return { is: 'quarantined', fault: full }
  desk.held.add(item.stem)
  return { is: 'held' }
}

async function deliverOne(candidate: Candidate, deliver: Deliver): Promise<Fate> {
  const { item, desk, specimen } = candidate
  const stopped = await scanStop(candidate)
  if (stopped) return stopped
  const message: Incoming = {
    statement: statementOf(specimen),
    label: known(specimen, 'entered'),
    ...(isReleasedLabel(specimen) ? { is_label_released: true } : {}),
    body: known(specimen, 'content').data,
    signer_key_id: known(specimen, 'signers')[0]?.kid ?? '',
    envelope: bytesOf(specimen.envelope).toString('utf8'),
    body_text: bytesOf(specimen.body).toString('utf8'),
  }
  const contradicted = await inventoryStop(candidate, message)
  if (contradicted) return contradicted
  const verdict = await guarded(desk, item.stem, () => deliver(message, desk.trace))
  if (!verdict) return { is: 'failed' }
  desk.around.reached('delivered')
  if (verdict.verdict === 'applied') return { is: 'applied' }
  const { detail } = verdict
  if (verdict.verdict === 'refused') return { is: 'refused', fault: { reason: 'REFUSED', detail, code: verdict.code } }
  tellPaused(desk, detail)
  return { is: 'deferred' }
}

/** The last word before the receiver's; undefined when nothing speaks against the message. */
async function scanStop({ item, desk, specimen }: Candidate): Promise<Fate | undefined> {
  const scanned = await guarded(desk, item.stem, () => scanBody(item.stem, specimen, desk))
  if (!scanned) return { is: 'failed' }
  if (scanned.answer === 'clean') return undefined
  if (scanned.answer === 'refused') return { is: 'quarantined', fault: scannerFault }
  tellPaused(desk, scanned.detail)
  return { is: 'deferred' }
}

/** What it says to the carrier comes first: nobody else acts on an inventory that is contradicted. */
async function inventoryStop({ item, desk, specimen }: Candidate, message: Incoming): Promise<Fate | undefined> {
  if (message.statement.kind !== 'inventory') return undefined
  const read = await guarded(desk, item.stem, async () => ({ fault: await takeInventory(message, specimen, desk) }))
  if (!read) return { is: 'failed' }
  return read.fault && { is: 'quarantined', fault: read.fault }
}

/** Not the message's fault: intake pauses, with the files left where they are. */
function tellPaused({ line, around, trace }: Desk, detail: string): void {
  line.trouble.set('in', `intake pauses: ${detail}`)
  around.log.warn('filedrop.intake.paused', { peer: line.peer, detail, trace_id: trace.trace_id })
}
