// Whether the number fits what arrived before: no second message under one number, no leap, no broken chain.

import { type Fault, fault } from '../reasons.ts'
import type { Ledger } from '../receiving/ledger.ts'
import { fast_forward } from '../settings.ts'
import type { Place } from './checks.ts'
import { known, passesOver, type Specimen } from './specimen.ts'

/** `prev` of the first message of an epoch. */
export const no_predecessor = '0'.repeat(96)

export function sequenceCheck(specimen: Specimen, _place: Place, ledger: Ledger): Fault | undefined {
  const { epoch, seq } = known(specimen, 'statement')
  const entry = ledger.entry(epoch, seq)
  if (entry && entry.digest !== specimen.digest) {
    return fault('EQUIVOCATION', 'the sender signed two different messages under one number')
  }
  if (entry) {
    specimen.entry = entry
    return undefined
  }
  const leap = passesOver(specimen, 'FAST_FORWARD') ? undefined : leapFault(specimen, ledger)
  return leap ?? chainFault(specimen, ledger)
}

function leapFault(specimen: Specimen, ledger: Ledger): Fault | undefined {
  const { epoch, seq } = known(specimen, 'statement')
  if (epoch > ledger.epoch) return epochFault(specimen, ledger)
  const leap = seq - ledger.highest(epoch)
  return leap > fast_forward ? fault('FAST_FORWARD', `it leaps over ${leap - 1} messages`) : undefined
}

/** What has overtaken the announcement of the next epoch waits for it, and the ledger is not told. */
function epochFault(specimen: Specimen, ledger: Ledger): Fault | undefined {
  const { announcement } = specimen
  if (announcement) return 'fault' in announcement ? announcement.fault : undefined
  const { epoch, seq } = known(specimen, 'statement')
  if (epoch > ledger.epoch + 1 || seq === 1) return fault('FAST_FORWARD', 'its epoch was not announced')
  specimen.isEarly = true
  return undefined
}

/** A link is judged only when both its ends are there: a gap proves nothing. */
function chainFault(specimen: Specimen, ledger: Ledger): Fault | undefined {
  const { epoch, seq, prev } = known(specimen, 'statement')
  const before = seq === 1 ? no_predecessor : ledger.entry(epoch, seq - 1)?.digest
  if (before !== undefined && before !== prev) return fault('CHAIN_BREAK', 'it does not follow the message before it')
  const after = ledger.entry(epoch, seq + 1)
  if (after && after.prev !== specimen.digest) return fault('CHAIN_BREAK', 'the message after it follows another one')
  return undefined
}
