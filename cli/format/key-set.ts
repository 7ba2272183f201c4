// Formats a key set and its changes, for people to read and compare.
import type { KeySet } from '../../daemon/kernel/cryptography/key-set.ts'
import { formatFields, formatTable, line_break, paragraph_break } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { addKeyAge, keyColumns } from './key.ts'

type KeySetChangeRow = { readonly kid: string; readonly fingerprint: string; readonly change: string }

export function formatKeySet(terminal: Terminal, { keys, thresholds, v: _v, type: _type, ...set }: KeySet): string {
  const { message, root } = thresholds
  const fields = formatFields(terminal, { ...set, message_keys_needed: message, root_keys_needed: root })
  return [fields, formatTable(terminal, addKeyAge(keys, Date.now()), keyColumns, 'no keys')].join(paragraph_break)
}

export function formatKeySetChanges(terminal: Terminal, set: KeySet, changes: readonly KeySetChangeRow[]): string {
  const { message, root } = set.thresholds
  const head = `key set ${set.version} of ${set.site}: ${message} message and ${root} root keys must sign`
  return [head, formatTable(terminal, changes, ['change', 'kid', 'fingerprint'], 'no key changes')].join(line_break)
}
