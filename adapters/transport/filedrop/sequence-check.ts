// Whether the number fits what arrived before: no second message under one number, no leap, no broken chain.
import type { Place } from './checks.ts'
import { type Fault, fault } from './reasons.ts'
import { fast_forward } from './settings.ts'
import { known, type Specimen } from './specimen.ts'

/** `prev` of the first message of an epoch. */
export const no_predecessor = '0'.repeat(96)

export async function sequenceCheck(specimen: Specimen, place: Place): Promise<Fault | undefined> {
  const { epoch, seq } = known(specimen, 'statement')
  const entry = await place.journal.entry(place.channel, epoch, seq)
  if (entry && entry.digest !== specimen.digest) {
    return fault('EQUIVOCATION', 'the sender signed two different messages under one number')
  }
  if (entry) {
    specimen.entry = entry
    return undefined
  }
  if (epoch > place.epoch) return fault('FAST_FORWARD', 'its epoch was not announced')
  const { highest } = await place.journal.progress(place.channel, epoch)
  if (seq - highest > fast_forward) return fault('FAST_FORWARD', `it leaps over ${seq - highest - 1} messages`)
  return chainFault(specimen, place)
}

/** A link is judged only when both its ends are there: a gap proves nothing. */
async function chainFault(specimen: Specimen, { journal, channel }: Place): Promise<Fault | undefined> {
  const { epoch, seq, prev } = known(specimen, 'statement')
  const before = seq === 1 ? no_predecessor : (await journal.entry(channel, epoch, seq - 1))?.digest
  if (before !== undefined && before !== prev) return fault('CHAIN_BREAK', 'it does not follow the message before it')
  const after = await journal.entry(channel, epoch, seq + 1)
  if (after && after.prev !== specimen.digest) return fault('CHAIN_BREAK', 'the message after it follows another one')
  return undefined
}
