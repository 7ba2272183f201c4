// Certificates as people read and compare them.
import type { X509Certificate } from 'node:crypto'
import { fields } from './output.ts'
import type { Terminal } from './terminal.ts'

/** `human` shows all of them, in the same order. */
export function authorityText(terminal: Terminal, certificates: readonly X509Certificate[]) {
  const shown = certificates.map(({ subject, validToDate, fingerprint256 }) => ({
    authority: subject.replace(/^CN=/, ''),
    not_after: validToDate.toISOString(),
    fingerprint: fingerprint256,
  }))
  return { shown, human: () => shown.map((each) => fields(terminal, each)).join('\n\n') }
}
