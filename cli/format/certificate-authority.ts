// Certificates as people read and compare them.
import type { X509Certificate } from 'node:crypto'
import { formatFields } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** `human` shows all of them, in the same order. */
export function formatAuthorities(terminal: Terminal, certificates: readonly X509Certificate[]) {
  const shown = certificates.map(({ subject, validToDate, fingerprint256 }) => ({
    authority: subject.replace(/^CN=/, ''),
    not_after: validToDate.toISOString(),
    fingerprint: fingerprint256,
  }))
  return { shown, human: () => shown.map((each) => formatFields(terminal, each)).join('\n\n') }
}
