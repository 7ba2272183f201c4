// A network namespace without a route: only its own loopback. Every address that a process in it dials is written down.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { CommandResult } from '../command/run-command.ts'
import { findTools, type ToolRequirement } from '../runner/requires.ts'
import { type DialledAddress, parseDials } from './parse-dials.ts'

export const enclosureTools: ToolRequirement =
  process.getuid?.() === 0
    ? findTools('strace', 'unshare', 'ip')
    : { isPresent: false, name: 'root', hint: 'creates network namespaces' }

export type EnclosedRun = CommandResult & { readonly dials: readonly DialledAddress[] }

type EnclosureOptions = { readonly env: Readonly<Record<string, string>>; readonly cwd: string }

const traced = 'trace=connect,sendto,sendmsg,sendmmsg'

/** Runs a program of an absolute path with exactly this environment; the trace of its system calls is in `cwd`. */
export async function runEnclosed(
  program: string,
  words: readonly string[],
  options: EnclosureOptions,
): Promise<EnclosedRun> {
  const { cwd } = options
  const log = path.join(cwd, 'dials.strace')
  const child = startEnclosed(program, words, { ...options, log })
  const output = { stdout: '', stderr: '' }
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output.stdout += text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (output.stderr += text))
  const [exit] = (await once(child, 'close')) as [number | null]
  return { exit, ...output, dials: parseDials(readFileSync(log, 'utf8')) }
}

function startEnclosed(
  program: string,
  words: readonly string[],
  { env, cwd, log }: EnclosureOptions & { readonly log: string },
): ChildProcess {
  const strace = ['strace', '-f', '--seccomp-bpf', '-qq', '-s', '0', '-e', traced, '-e', 'signal=none', '-o', log]
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const inner = [...strace, 'env', '-i', ...variables, program, ...words]
  // The loopback interface of a new namespace is down.
  return spawn('unshare', ['-n', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', ...inner], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}
