// Decides about the messages of a batch: their signatures all at once, the rest one after the other as their numbers say.
import type { Arrival } from '../../../../daemon/kernel/journal.ts'
import { guarded } from '../accident.ts'
import { type Finding, judge, verify } from '../checks/checks.ts'
import { known } from '../checks/specimen.ts'
import { orderOver } from '../quarantine/purge-orders.ts'
import type { Fault } from '../reasons.ts'
import { readAnnouncement } from './announcement.ts'
import type { Candidate, Fate } from './candidate.ts'
import type { ScanDesk } from './fate.ts'
import { type Ledger, ledgerFor } from './ledger.ts'
import { fullFault } from './lingering.ts'

export async function verifyAll(batch: readonly Candidate[]): Promise<void> {
  await Promise.all(
    batch.map(async (candidate) => {
      const { specimen, desk, item } = candidate
      const done = await guarded(desk, item.stem, async () => {
        const fault = await verify(specimen, desk.trust)
        if (!fault) await readAnnouncement(specimen, desk)
        return { fault }
      })
      if (!done) candidate.fate = { is: 'failed' }
      else if (done.fault) candidate.fate = { is: 'rejected', fault: done.fault }
    }),
  )
}

/** Each is judged as if the ones before it had been taken in alone; an equivocation leaves those behind it alone. */
export async function judgeAll(batch: readonly Candidate[], desk: ScanDesk): Promise<void> {
  const verified = batch.filter(({ fate }) => !fate)
  const numbers = verified.map(({ item }) => item)
  const ledger = await ledgerFor(desk.around.journal, desk.place.channel, desk.epoch, numbers)
  let isFrozen = false
  const orders = await desk.around.purges.all()
  for (const candidate of batch) {
    if (isFrozen) candidate.fate = { is: 'deferred' }
    else judgeOne(candidate, ledger)
    isFrozen ||= isEquivocation(candidate)
    refusePurged(candidate, orderOver(candidate.specimen, orders))
  }
}

/** Its number counts as arrived where it is proven to be the message of that number. */
function refusePurged(candidate: Candidate, order: string | undefined): void {
  if (order === undefined || candidate.fate?.is === 'deferred') return
  candidate.purged = order
  const fault: Fault = {
    ...{ reason: 'REFUSED', code: 'purged', detail: 'its body was purged from this site, and is not taken again' },
  }
  if (candidate.fate?.is === 'held') candidate.fate = { is: 'rejected', fault }
  candidate.fate ??= { is: 'quarantined', fault }
}

function judgeOne(candidate: Candidate, ledger: Ledger): void {
  if (candidate.fate) return
  const { specimen, desk } = candidate
  const finding = judge(specimen, desk.place, ledger)
  candidate.fate = finding.found === 'early' ? waitEarly(candidate) : fateOf(finding)
  if (finding.found === 'sound' || (finding.found === 'fault' && finding.isProven)) ledger.enter(arrivalOf(candidate))
}

/** Without an entry in the ledger: who holds a message key alone must not take numbers of an epoch before it is open. */
function waitEarly({ item, desk, specimen }: Candidate): Fate {
  const full = fullFault(item, desk, specimen)
  if (full) return { is: 'rejected', fault: full }
  desk.early.add(item.stem)
  return { is: 'held' }
}

function fateOf(finding: Exclude<Finding, { found: 'early' }>): Fate | undefined {
  if (finding.found === 'sound') return undefined
  if (finding.found === 'settled') return { is: 'settled' }
  return { is: finding.isProven ? 'quarantined' : 'rejected', fault: finding.fault }
}

/** Also of an inventory, which was signed for as it is, and contradicts what came before. */
export function isEquivocation({ fate }: Candidate): boolean {
  return fate !== undefined && 'fault' in fate && fate.fault.reason === 'EQUIVOCATION'
}

export function arrivalOf({ specimen, desk }: Candidate): Arrival {
  const { epoch, seq, prev, msg_id, kind } = known(specimen, 'statement')
  return { epoch, seq, digest: known(specimen, 'digest'), prev, msg_id, kind, at: desk.around.clock.now() }
}
