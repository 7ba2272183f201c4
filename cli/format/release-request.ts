// Formats a request to release or dismiss a message in quarantine, which a person reads before signing.
import type { DismissalRequest, ReleaseRequest } from '../../daemon/kernel/messaging/release.ts'
import { colourText, formatFields, line_break } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

type ReleaseRequestFields = Pick<ReleaseRequest, 'subject' | 'waiver' | 'reason' | 'created' | 'label'>

export function formatReleaseRequest(
  terminal: Terminal,
  { subject, waiver, reason, created, label }: ReleaseRequestFields,
): string {
  const fields = formatFields(terminal, { requested_by: subject, waiver, reason, label, created })
  const head = colourText(terminal, 'yellow', 'release requested; another person must approve it:')
  return [head, fields].join(line_break)
}

export function formatDismissalRequest(
  terminal: Terminal,
  { subject, reason, created }: Pick<DismissalRequest, 'subject' | 'reason' | 'created'>,
): string {
  const head = colourText(terminal, 'yellow', 'dismissal requested; another person must approve it:')
  return [head, formatFields(terminal, { requested_by: subject, reason, created })].join(line_break)
}
