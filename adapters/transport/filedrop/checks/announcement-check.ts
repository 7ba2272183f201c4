// An epoch is announced in one place alone, and only by what was found to be signed by the root keys.
import { type Fault, fault } from '../reasons.ts'
import { known, type Specimen } from './specimen.ts'

/** Of a message whose content is read: also one of an epoch that was open before must announce nothing false. */
export function announcementFault(specimen: Specimen): Fault | undefined {
  const { kind, seq } = known(specimen, 'statement')
  if (kind !== 'keys' || !('epoch' in known(specimen, 'content').data)) return undefined
  if (seq !== 1) return fault('SCHEMA', 'an epoch is announced by its first message alone')
  const { announcement } = specimen
  return announcement && 'fault' in announcement ? announcement.fault : undefined
}
