// Reports a failure as one line with its remedy, and returns the exit code that scripts rely on.
import { findMissingPath } from '../../adapters/platform/missing-path/missing-path.ts'
import { errorTable, isRefusal, type Refusal } from '../../daemon/kernel/error/errors.ts'
import { ExplainedRefusal } from '../client/explained-refusal.ts'
import { colourText, keepLayout } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { type CommandExitCode, CommandFailure } from './command.ts'

/** Remedy by error code. */
const remedies: Readonly<Partial<Record<keyof typeof errorTable, string>>> = {
  unauthenticated:
    'use a token that the site issued and has not revoked: `platform token mint --subject SUBJECT --roles ROLES`, then PLATFORM_TOKEN',
  conflict: 'read it again and repeat the change',
  rate_limited: 'wait, then repeat the command',
  unavailable: '`platform status` shows what runs, `platform doctor` finds problems',
  timeout: '`platform status` shows what runs, `platform doctor` finds problems',
  internal: 'the log of the service has the cause',
}

/** Remedies for one of the reasons behind a code. */
const remediesByReason: readonly {
  readonly code: keyof typeof errorTable
  readonly reason: RegExp
  readonly remedy: string
}[] = [
  {
    code: 'label_denied',
    reason: /does not release the object to the receiver/,
    remedy: 'name the tenants of both sites when you create it: --releasable-to TENANT,TENANT',
  },
  {
    code: 'label_denied',
    reason: /above the ceiling of the channel/,
    remedy: '`platform peers show PEER` shows the ceiling, `platform peers set PEER --ceiling LEVEL` changes it',
  },
]

/** A refusal by another rule than the roles of the token names its own remedy. */
function remedyOf({ code, message }: Refusal, terminal: Terminal): string | undefined {
  if (code === 'forbidden' && /\bpermission\b/.test(message))
    return [
      'use a token with a role that permits it; `platform token inspect` shows the roles of yours',
      ...(terminal.env.PLATFORM_TOKEN ? ['. `unset PLATFORM_TOKEN` acts as an admin of your own site'] : []),
    ].join('')
  const found = remediesByReason.find((each) => each.code === code && each.reason.test(message))
  return found?.remedy ?? remedies[code]
}

/** Prints the failure to stderr; returns the exit code. */
export function reportFailure(terminal: Terminal, error: unknown): CommandExitCode {
  terminal.progress('')
  if (isRefusal(error)) {
    const { title, exit } = errorTable[error.code]
    if (error instanceof ExplainedRefusal) printError(terminal, error.message, [], undefined)
    else printError(terminal, `${title}: ${error.message}`, error.errors, remedyOf(error, terminal))
    return exit
  }
  if (error instanceof CommandFailure || isOfflineCommandError(error)) {
    const details = isOfflineCommandError(error) ? error.details : []
    printError(
      terminal,
      error.message,
      details.map((message) => ({ path: '', message })),
      error.remedy,
    )
    return error.exit
  }
  if (error instanceof Error && error.name === 'Locked') {
    printError(
      terminal,
      error.message,
      [],
      'name the file with the passphrase: --passphrase-file FILE, or identity.keys_passphrase_file',
    )
    return 3
  }
  if (hasProblems(error)) {
    const mayNotStart = error.name === 'StartRefusal'
    const summary = mayNotStart ? 'the start checks refuse to start the site' : 'the profile is not valid'
    printError(
      terminal,
      summary,
      error.problems,
      mayNotStart ? undefined : '`platform profile schema` shows the allowed settings',
    )
    return mayNotStart ? 3 : 1
  }
  const deniedPath = findDeniedPath(error)
  if (deniedPath !== undefined) {
    printError(terminal, `this user may not open ${deniedPath}`, [], 'run it as the owner of that file, or as root')
    return 3
  }
  const missing = findMissingPath(error)
  if (missing) {
    printError(terminal, missing.message, [], missing.remedy)
    return 1
  }
  printError(terminal, error instanceof Error ? error.message : String(error), [], undefined)
  if (terminal.env.PLATFORM_DEBUG && error instanceof Error) terminal.note(keepLayout(error.stack ?? ''))
  return 1
}

function printError(
  terminal: Terminal,
  message: string,
  errors: readonly { path: string; message: string }[],
  remedy: string | undefined,
): void {
  terminal.note(`${colourText(terminal, 'red', 'error:')} ${message}`)
  for (const { path, message: fault } of errors) terminal.note(path ? `  ${path}: ${fault}` : `  ${fault}`)
  if (remedy) terminal.note(`  ${remedy}`)
}

type OfflineFailure = Error & {
  readonly exit: CommandExitCode
  readonly remedy: string | undefined
  readonly details: readonly string[]
}

/** Tests the class by its name, so that reporting a failure does not load its module from daemon/. */
function isOfflineCommandError(error: unknown): error is OfflineFailure {
  return error instanceof Error && error.name === 'OfflineCommandError' && 'exit' in error
}

/** The path that the operating system refused to open. */
function findDeniedPath(error: unknown): string | undefined {
  const { code, path } = error instanceof Error ? (error as NodeJS.ErrnoException) : {}
  return code === 'EACCES' ? path : undefined
}

function hasProblems(error: unknown): error is Error & { problems: readonly { path: string; message: string }[] } {
  return error instanceof Error && /^(ProfileError|StartRefusal)$/.test(error.name) && 'problems' in error
}
