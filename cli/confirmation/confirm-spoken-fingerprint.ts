// Confirms keys by the fingerprint that a person at the other end reads aloud: typed, so that nobody agrees without comparing.
import { parseSpokenFingerprint } from '../../daemon/kernel/cryptography/spoken-fingerprint.ts'
import { CommandFailure } from '../program/command.ts'
import type { Terminal } from '../terminal/terminal.ts'

export type SpokenConfirmation = {
  /** The groups of the fingerprint of the keys in the file. */
  readonly groups: readonly string[]
  /** Text of --spoken; undefined: prompts for it. */
  readonly typed: string | undefined
  /** The one who reads it aloud, such as "the other site". */
  readonly source: string
  /** What the one who reads it aloud types, such as "platform keys speak". */
  readonly command: string
}

const max_attempts = 5

/** Throws `CommandFailure`: 2 for text that is not a fingerprint, 3 if it is another one or nobody types it. */
export async function confirmSpokenFingerprint(terminal: Terminal, confirmation: SpokenConfirmation): Promise<void> {
  const { typed } = confirmation
  if (typed === undefined) return await promptForFingerprint(terminal, confirmation)
  const parsed = parseSpokenFingerprint(typed)
  if ('fault' in parsed) throw new CommandFailure(2, `--spoken: ${parsed.fault}; nothing was changed`)
  requireSame(parsed.groups, confirmation)
}

async function promptForFingerprint(terminal: Terminal, confirmation: SpokenConfirmation): Promise<void> {
  const { source, command } = confirmation
  for (let attempt = 1; attempt <= max_attempts; attempt += 1) {
    const reply = await terminal.prompt(`Fingerprint that ${source} reads aloud (there: ${command}): `)
    if (reply === undefined)
      throw new CommandFailure(
        3,
        'the keys must be confirmed',
        `without a terminal: --spoken DIGITS, as ${source} reads them (there: ${command}), or --fingerprint`,
      )
    if (reply.trim() === '') break
    const parsed = parseSpokenFingerprint(reply)
    if ('groups' in parsed) {
      requireSame(parsed.groups, confirmation)
      return
    }
    terminal.note(parsed.fault)
  }
  throw new CommandFailure(3, 'not confirmed; nothing was changed')
}

function requireSame(typed: readonly string[], { groups, source, command }: SpokenConfirmation): void {
  if (typed.join() === groups.join()) return
  throw new CommandFailure(
    3,
    `the file has other keys than ${source} read aloud: its fingerprint is ${groups.join(' ')}; nothing was changed`,
    `have ${source} run ${command} again and send a new file; a file of single keys or of another version has another fingerprint`,
  )
}
