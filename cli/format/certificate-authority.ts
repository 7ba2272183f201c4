// Formats certificates of authorities, for people to read and compare.
import type { X509Certificate } from 'node:crypto'
import { formatFields, paragraph_break } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** Rows for JSON, and `human`, their text in the same order. */
export function formatAuthorities(terminal: Terminal, certificates: readonly X509Certificate[]) {
  const rows = certificates.map(({ subject, validToDate, fingerprint256 }) => ({
    authority: subject.replace(/^CN=/, ''),
    not_after: validToDate.toISOString(),
    fingerprint: fingerprint256,
  }))
  return { shown: rows, human: () => rows.map((row) => formatFields(terminal, row)).join(paragraph_break) }
}
