// The packaged executable: built when it is missing or stale, and run to its end in an empty environment.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import path from 'node:path'
import { repositoryRoot } from '../repository/source-tree.ts'
import type { CommandResult } from './run-command.ts'

const built = process.env.PLATFORM_EXECUTABLE
const builtWithFaultPoints = process.env.PLATFORM_FAULT_POINTS_EXECUTABLE

/** The executable of these sources; built first when it is missing or older than they are. */
export function findExecutable(): string {
  return built ?? buildExecutable('platform')
}

/** The one for tests, which dies at a step of the carrier that `PLATFORM_FAULT_POINT` names. */
export function findFaultPointExecutable(): string {
  return builtWithFaultPoints ?? buildExecutable('platform-fault-points', '--fault-points')
}

const builtExecutables = new Map<string, string>()

/** Checked once by each process: a check takes longer than most commands. */
function buildExecutable(name: string, ...words: readonly string[]): string {
  const known = builtExecutables.get(name)
  if (known) return known
  execFileSync(path.join(repositoryRoot, 'scripts/build'), ['--if-stale', ...words], { stdio: 'pipe' })
  const file = path.join(repositoryRoot, 'dist', name)
  builtExecutables.set(name, file)
  return file
}

/** Another user of the machine, by number: it needs no name. */
export type UnixUser = { readonly uid: number; readonly gid: number }

export type ExecutableOptions = {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Stdin; empty by default. */
  readonly input?: string
  readonly user?: UnixUser | undefined
  readonly program?: string
}

/** The executable where every user reaches it; the folder is opened for them. */
export function copyExecutable(dir: string): string {
  const program = path.join(dir, 'platform')
  fs.chmodSync(dir, 0o755)
  if (!fs.existsSync(program)) fs.copyFileSync(findExecutable(), program, fs.constants.COPYFILE_FICLONE)
  return program
}

export async function runExecutable(words: readonly string[], options: ExecutableOptions = {}): Promise<CommandResult> {
  const { env = {}, cwd, input = '', user } = options
  const program = options.program ?? (user && cwd ? copyExecutable(cwd) : findExecutable())
  const child = spawn(program, [...words], { env, stdio: 'pipe', ...(cwd ? { cwd } : {}), ...user })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text))
  child.stdin.on('error', () => undefined).end(input)
  const [exit] = (await once(child, 'close')) as [number | null]
  return { exit, ...output }
}

/** The same while everything else in the test waits. */
export function runExecutableSync(
  words: readonly string[],
  { env = {}, cwd }: Pick<ExecutableOptions, 'env' | 'cwd'> = {},
): CommandResult {
  const options = { env, encoding: 'utf8', ...(cwd ? { cwd } : {}) } as const
  const { status, stdout, stderr } = spawnSync(findExecutable(), [...words], options)
  return { exit: status, stdout, stderr }
}
