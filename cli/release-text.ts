// A request to release a message from quarantine as people read it before they sign.
import type { ReleaseRequest } from '../daemon/kernel/release.ts'
import { fields, paint } from './output.ts'
import type { Terminal } from './terminal.ts'

type Told = Pick<ReleaseRequest, 'subject' | 'waiver' | 'reason' | 'created' | 'label'>

export function releaseText(terminal: Terminal, { subject, waiver, reason, created, label }: Told): string {
  const shown = fields(terminal, { requested_by: subject, waiver, reason, label, created })
  return `${paint(terminal, 'yellow', 'its release is requested, and needs the approval of another person:')}\n${shown}`
}
