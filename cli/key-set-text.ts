// A key set, and what it changes, as people read and compare them.
import type { KeySet } from '../daemon/kernel/key-set.ts'
import { keyColumns, withAge } from './key-text.ts'
import { fields, table } from './output.ts'
import type { Terminal } from './terminal.ts'

type Change = { readonly kid: string; readonly fingerprint: string; readonly change: string }

export function keySetText(terminal: Terminal, { keys, thresholds, v: _v, type: _type, ...set }: KeySet): string {
  const { message, root } = thresholds
  const shown = fields(terminal, { ...set, message_keys_needed: message, root_keys_needed: root })
  return `${shown}\n\n${table(terminal, withAge(keys, Date.now()), keyColumns, 'no keys')}`
}

export function changesText(terminal: Terminal, set: KeySet, changes: readonly Change[]): string {
  const { message, root } = set.thresholds
  const head = `key set ${set.version} of ${set.site}: ${message} message and ${root} root keys must sign`
  return `${head}\n${table(terminal, changes, ['change', 'kid', 'fingerprint'], 'no key changes')}`
}
