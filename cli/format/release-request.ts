// A request to release a message from quarantine as people read it before they sign.
import type { ReleaseRequest } from '../../daemon/kernel/messaging/release.ts'
import { colourText, formatFields } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

type ReleaseRequestFields = Pick<ReleaseRequest, 'subject' | 'waiver' | 'reason' | 'created' | 'label'>

export function formatReleaseRequest(
  terminal: Terminal,
  { subject, waiver, reason, created, label }: ReleaseRequestFields,
): string {
  const shown = formatFields(terminal, { requested_by: subject, waiver, reason, label, created })
  return `${colourText(terminal, 'yellow', 'its release is requested, and needs the approval of another person:')}\n${shown}`
}
