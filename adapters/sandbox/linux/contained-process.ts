// Runs a launch line until it ends or a limit ends it: one group of processes, no environment, no inherited descriptor.
import { type ChildProcess, type IOType, spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { Readable } from 'node:stream'
import type {
  ExceededLimit,
  SandboxLimits,
  SandboxOutput,
  SandboxResult,
} from '../../../daemon/kernel/sandbox/sandbox.ts'
import { watchMemory } from './memory-watch.ts'
import { started_line } from './setup-scripts.ts'

export type ContainedProcess = {
  readonly line: readonly string[]
  readonly cwd: string
  /** The folder that the command may write. */
  readonly home: string
  /** Descriptors that the line gets from 4 on; the caller closes its own. */
  readonly input_fds: readonly number[]
  readonly limits: SandboxLimits
}

/** What goes wrong before the command runs is short; more is not kept. */
const max_setup_bytes = 4_096

/** Resolves when the process has ended and its output is read. Never throws. */
export function runContained(contained: ContainedProcess, signal?: AbortSignal): Promise<SandboxResult> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve({ kind: 'cancelled' })
    const child = startProcess(contained)
    let cause: ExceededLimit | 'cancelled' | undefined
    const end = (why: typeof cause) => {
      cause ??= why
      killGroup(child.pid)
      // A process that left the group may hold them open: its output is not waited for.
      if (child.exitCode !== null || child.signalCode !== null) for (const stream of child.stdio) stream?.destroy()
    }
    const { limits } = contained
    const cancel = () => end('cancelled')
    signal?.addEventListener('abort', cancel, { once: true })
    const timer = setTimeout(() => end('time_ms'), limits.time_ms)
    const memory = watchMemory(child.pid, limits.memory_bytes, () => end('memory_bytes'))
    const output = collectOutput(child, limits.output_bytes, () => end('output_bytes'))
    const setup = collect(child.stdio[3] as Readable, max_setup_bytes)
    const settle = (result: SandboxResult) => {
      signal?.removeEventListener('abort', cancel)
      clearTimeout(timer)
      memory.stop()
      resolve(result)
    }
    child.once('error', ({ code, message }: NodeJS.ErrnoException) =>
      settle({ kind: 'not_started', detail: code ?? message }),
    )
    child.once('exit', () => killGroup(child.pid))
    child.once('close', (code, killedBy) =>
      settle(readResult({ code, signal: killedBy, cause, setup: setup(), ...output() })),
    )
  })
}

function startProcess({ line, cwd, home, input_fds, limits }: ContainedProcess): ChildProcess {
  const [program = '', ...args] = line
  const output: IOType = limits.output_bytes === 0 ? 'ignore' : 'pipe'
  return spawn(program, args, {
    cwd,
    env: { PATH: search_path, HOME: home, TMPDIR: home, LANG: 'C.UTF-8' },
    stdio: ['ignore', output, output, 'pipe', ...input_fds],
    detached: true,
  })
}

const search_path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

type EndedProcess = SandboxOutput & {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly cause: ExceededLimit | 'cancelled' | undefined
  readonly setup: Buffer
}

function readResult({ code, signal, cause, setup, ...output }: EndedProcess): SandboxResult {
  if (cause === 'cancelled') return { kind: 'cancelled' }
  if (cause) return { kind: 'exceeded', limit: cause, ...output }
  const said = [setup, output.stderr].map((bytes) => Buffer.from(bytes).toString().trim().split('\n'))
  if (said[0]?.at(-1) !== started_line) {
    const [detail = `the setup ended with code ${code}`] = said.flatMap(([first]) => first || [])
    return { kind: 'not_started', detail }
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

/** What both streams have brought, up to the bound together; `exceeded` is called once there is more. */
function collectOutput({ stdout, stderr }: ChildProcess, max_bytes: number, exceeded: () => void): () => SandboxOutput {
  let left = max_bytes
  const take = (chunk: Buffer) => {
    const kept = chunk.subarray(0, left)
    left -= kept.length
    if (kept.length < chunk.length) exceeded()
    return kept
  }
  const read = [stdout, stderr].map((stream) => {
    const chunks: Buffer[] = []
    stream?.on('data', (chunk: Buffer) => chunks.push(take(chunk)))
    stream?.on('error', () => undefined)
    return () => Buffer.concat(chunks)
  })
  return () => ({ stdout: read[0]?.() ?? Buffer.alloc(0), stderr: read[1]?.() ?? Buffer.alloc(0) })
}

function collect(stream: Readable, max_bytes: number): () => Buffer {
  let bytes = Buffer.alloc(0)
  stream.on('data', (chunk: Buffer) => {
    if (bytes.length < max_bytes) bytes = Buffer.concat([bytes, chunk])
  })
  stream.on('error', () => undefined)
  return () => bytes
}

/** A process that is gone already is the wanted result. */
function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {}
}
