// Runs a launch line until it ends or a limit ends it: one group of processes, no environment, no inherited descriptor.
import { type ChildProcess, type IOType, spawn } from 'node:child_process'
import * as fs from 'node:fs'
import { constants } from 'node:os'
import type { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import type {
  ExceededLimit,
  SandboxLimits,
  SandboxOutput,
  SandboxProcessLimits,
  SandboxResult,
  SandboxStreams,
} from '../../../daemon/kernel/sandbox/sandbox.ts'
import type { ControlGroup } from './control-group.ts'
import { watchMemory } from './memory-watch.ts'
import { killProcessGroup, processScope } from './process-scope.ts'
import { search_path } from './run-tool.ts'
import type { SandboxUser } from './sandbox-user.ts'
import { connectStreams } from './server-streams.ts'
import { started_line } from './setup-scripts.ts'

export type ContainedProcess = {
  readonly line: readonly string[]
  readonly cwd: string
  /** The folder that the command may write. */
  readonly home: string
  /** Descriptors that the line gets from 4 on; the caller closes its own. */
  readonly input_fds: readonly number[]
  readonly limits: SandboxLimits | SandboxProcessLimits
  readonly group?: ControlGroup | undefined
  readonly user?: SandboxUser | undefined
  /** Variables besides those of every command. */
  readonly env: Readonly<Record<string, string>>
  /** Of a server: its streams are read by somebody else. */
  readonly attach: ((streams: SandboxStreams) => void) | undefined
}

/** What goes wrong before the command runs is short; more is not kept. */
const max_setup_bytes = 4_096

/** A process that cannot be ended, or that cannot be found and holds the output open, is waited for so long. */
const last_wait_ms = 3_000

type EndCause = ExceededLimit | 'cancelled'

/** Resolves when the command has ended, with all of the run that can be found. Never throws. */
export async function runContained(contained: ContainedProcess, signal?: AbortSignal): Promise<SandboxResult> {
  if (signal?.aborted) return { kind: 'cancelled' }
  const { limits, group, attach } = contained
  const child = startProcess(contained)
  const scope = processScope(child.pid, contained)
  const life = watchLife(child)
  let cause: EndCause | undefined
  const stop = (why: EndCause) => {
    cause ??= why
    life.kill()
  }
  const cancel = () => stop('cancelled')
  signal?.addEventListener('abort', cancel, { once: true })
  const timer = 'time_ms' in limits ? setTimeout(() => stop('time_ms'), limits.time_ms) : undefined
  const memory = group?.isBounded ? undefined : watchMemory(scope.list, limits.memory_bytes, () => stop('memory_bytes'))
  const most_bytes = 'output_bytes' in limits ? limits.output_bytes : 0
  const output = attach ? noOutput : collectOutput(child, most_bytes, () => stop('output_bytes'))
  attach?.(connectStreams(child))
  const setup = collect(child.stdio[2] as Readable, max_setup_bytes)
  const startFault = await life.ended
  signal?.removeEventListener('abort', cancel)
  clearTimeout(timer)
  memory?.stop()
  if (startFault !== undefined) return { kind: 'not_started', detail: startFault }
  await scope.end()
  await life.closeOutput()
  if (await group?.hasRunOutOfMemory()) cause ??= 'memory_bytes'
  return readResult({ code: child.exitCode, signal: child.signalCode, cause, setup: setup(), ...output() })
}

type ChildLife = {
  /** Resolves when the process has ended, or was killed and does not end: with the reason if it did not start. */
  readonly ended: Promise<string | undefined>
  readonly kill: () => void
  /** Resolves when the output is read to its end, or after a short while: somebody else may hold it open. */
  readonly closeOutput: () => Promise<void>
}

function watchLife(child: ChildProcess): ChildLife {
  let end: (startFault?: string) => void
  const ended = new Promise<string | undefined>((resolve) => {
    end = resolve
  })
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  child.once('error', ({ code, message }: NodeJS.ErrnoException) => end(code ?? message))
  child.once('exit', () => end())
  return {
    ended,
    kill() {
      killProcessGroup(child.pid)
      void within(last_wait_ms, ended).then(() => end())
    },
    async closeOutput() {
      await within(last_wait_ms, closed)
      for (const stream of child.stdio) stream?.destroy()
    },
  }
}

async function within(most_ms: number, promise: Promise<unknown>): Promise<void> {
  const stop = new AbortController()
  const pause = wait(most_ms, undefined, { signal: stop.signal }).catch(() => undefined)
  await Promise.race([promise, pause])
  stop.abort()
}

function startProcess({ line, cwd, home, input_fds, limits, env, attach }: ContainedProcess): ChildProcess {
  const [program = '', ...args] = line
  // Only the first three descriptors lead nowhere when they are ignored; others would be closed.
  const nowhere = fs.openSync('/dev/null', 'w')
  const isUnread = 'output_bytes' in limits && limits.output_bytes === 0
  const output: IOType | number = isUnread ? nowhere : 'pipe'
  try {
    return spawn(program, args, {
      cwd,
      env: { ...env, PATH: search_path, HOME: home, TMPDIR: home, LANG: 'C.UTF-8' },
      // The setup prints its errors on 2, and gives the command 3 in its place.
      stdio: [attach ? 'pipe' : 'ignore', output, 'pipe', output, ...input_fds],
      detached: true,
    })
  } finally {
    fs.closeSync(nowhere)
  }
}

type EndedProcess = SandboxOutput & {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly cause: EndCause | undefined
  readonly setup: Buffer
}

function readResult({ code, signal, cause, setup, ...output }: EndedProcess): SandboxResult {
  if (cause === 'cancelled') return { kind: 'cancelled' }
  if (cause) return { kind: 'exceeded', limit: cause, ...output }
  const lines = setup.toString().trim().split('\n')
  if (!lines.includes(started_line)) {
    return { kind: 'not_started', detail: lines[0] || `the setup ended with ${signal ?? `code ${code}`}` }
  }
  const endSignal = signal ?? signalOfCode(code)
  if (endSignal === 'SIGXCPU') return { kind: 'exceeded', limit: 'cpu_s', ...output }
  return endSignal
    ? { kind: 'signalled', signal: endSignal, ...output }
    : { kind: 'exited', code: code ?? 0, ...output }
}

/** A shell that waits for a command ends with 128 and the number of the signal that ended it. */
function signalOfCode(code: number | null): NodeJS.Signals | undefined {
  const names = Object.entries(constants.signals) as [NodeJS.Signals, number][]
  return names.find(([, number]) => number + 128 === code)?.[0]
}

const noOutput = (): SandboxOutput => ({ stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) })

/** What both streams have brought, up to the bound together; `exceeded` is called once there is more. */
function collectOutput({ stdio }: ChildProcess, max_bytes: number, exceeded: () => void): () => SandboxOutput {
  let left = max_bytes
  const take = (chunk: Buffer) => {
    const kept = chunk.subarray(0, left)
    left -= kept.length
    if (kept.length < chunk.length) exceeded()
    return kept
  }
  const [stdout, stderr] = [stdio[1], stdio[3]].map((stream) => {
    const chunks: Buffer[] = []
    stream?.on('data', (chunk: Buffer) => chunks.push(take(chunk)))
    stream?.on('error', () => undefined)
    return () => Buffer.concat(chunks)
  })
  return () => ({ stdout: stdout?.() ?? Buffer.alloc(0), stderr: stderr?.() ?? Buffer.alloc(0) })
}

function collect(stream: Readable, max_bytes: number): () => Buffer {
  let bytes = Buffer.alloc(0)
  stream.on('data', (chunk: Buffer) => {
    if (bytes.length < max_bytes) bytes = Buffer.concat([bytes, chunk])
  })
  stream.on('error', () => undefined)
  return () => bytes
}
