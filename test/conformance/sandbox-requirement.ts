// A requirement on sandboxes as data, and the commands that try it.
import { randomUUID } from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import type {
  Sandbox,
  SandboxCommand,
  SandboxIsolation,
  SandboxLimits,
  SandboxResult,
} from '../../daemon/kernel/sandbox/sandbox.ts'

export type SandboxFixture = {
  readonly sandbox: Sandbox
  /** A folder that every user may read, with nothing in it. */
  readonly dir: string
}

export type SandboxRequirement = {
  readonly id: string
  readonly description: string
  /** The isolations that promise it. */
  readonly isolations: readonly SandboxIsolation[]
  readonly verify: (fixture: SandboxFixture) => Promise<void>
}

const build =
  (isolations: readonly SandboxIsolation[]) =>
  (id: string, description: string, verify: SandboxRequirement['verify']): SandboxRequirement => ({
    id: `sandbox/${id}`,
    description,
    isolations,
    verify,
  })
export const requirement = build(['namespaces', 'limits'])
export const isolated = build(['namespaces'])

export const mebibyte = 2 ** 20

export const plain_limits: SandboxLimits = {
  time_ms: 120_000,
  cpu_s: 60,
  memory_bytes: 512 * mebibyte,
  disk_bytes: 4 * mebibyte,
  output_bytes: 65_536,
  processes: 16,
  open_files: 32,
}

/** A script of the shell; `$1` and so on are the inputs. */
export function shell(
  script: string,
  changes: Partial<Omit<SandboxCommand, 'limits'>> & { readonly limits?: Partial<SandboxLimits> } = {},
): SandboxCommand {
  const inputs = changes.inputs ?? {}
  return {
    program: '/bin/sh',
    args: ['-c', script, 'sh', ...Object.keys(inputs).map((input) => ({ input }))],
    visible: [],
    ...changes,
    inputs,
    limits: { ...plain_limits, ...changes.limits },
  }
}

export function readText(result: SandboxResult): string {
  if (result.kind !== 'exited') throw new Error(`the command was ${JSON.stringify(result)}`)
  return Buffer.from(result.stdout).toString()
}

/** Processes with this text in their command line; one that has ended has none. */
export function listRunning(mark: string): number[] {
  return fs
    .readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid)
    .filter((pid) => {
      try {
        return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark)
      } catch {
        return false
      }
    })
    .map(Number)
}

export const isRunning = (mark: string) => listRunning(mark).length > 0

/** Folders of runs of this process. */
export function listRunFolders(): string[] {
  return fs
    .readdirSync(tmpdir())
    .filter((name) => name.startsWith('platform-sandbox-') && name.includes(`-${process.pid}-`))
}

/** A number of seconds that no other command sleeps: it is found again in the list of processes. */
export const uniqueSeconds = () =>
  `${100_000 + (Number.parseInt(randomUUID().slice(0, 8), 16) % 900_000)}.${process.pid}`
