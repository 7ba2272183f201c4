// A real server on this machine for the length of a test file: started, killed and started again over the same data.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export type ServerProgram = {
  readonly command: string
  readonly args: readonly string[]
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
  /** Unix user and group; this process's own unless said. */
  readonly uid?: number
  readonly gid?: number
}

export type ServerProcess = {
  /** Resolves once it answers. Also after `stop` and `kill`, over the same data and ports. */
  start(): Promise<void>
  /** SIGTERM, and the end of the process. */
  stop(): Promise<void>
  /** SIGKILL to the whole process group, and its end. */
  kill(): Promise<void>
  /** SIGSTOP to the whole group: it stands still with all that it was doing, until `thaw`; a kill works too. */
  freeze(): void
  thaw(): void
}

/** Servers of this kind take long on a machine that does much else; nobody waits for this who need not. */
const start_timeout_ms = 180_000

/** `isRoleReady`: whether it answers; a throw counts as no. `log`: file that takes what the server prints. */
export function serverProcess(
  name: string,
  program: () => ServerProgram,
  log: string,
  isReady: () => Promise<boolean>,
) {
  let child: ChildProcess | undefined
  const end = async (signal: NodeJS.Signals) => {
    const running = child
    child = undefined
    if (!running?.pid || running.exitCode !== null || running.signalCode !== null) return
    const ended = once(running, 'exit')
    process.kill(signal === 'SIGKILL' ? -running.pid : running.pid, signal)
    await ended
  }
  const signalGroup = (signal: NodeJS.Signals) => {
    if (!child?.pid) throw new Error(`${name} does not run`)
    process.kill(-child.pid, signal)
  }
  const server: ServerProcess = {
    async start() {
      const { command, args, ...around } = program()
      const output = openSync(log, 'a')
      // A group of its own, so that a kill takes its children along.
      const started = spawn(command, args, { ...around, detached: true, stdio: ['ignore', output, output] })
      closeSync(output)
      child = started
      const failed = once(started, 'error').then(([error]) => Promise.reject(error))
      await Promise.race([failed, waitUntilReady(name, started, log, isReady)])
    },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    freeze: () => signalGroup('SIGSTOP'),
    thaw: () => signalGroup('SIGCONT'),
  }
  // A test run that is cut short leaves no server behind.
  process.once('exit', () => {
    if (child?.pid) process.kill(-child.pid, 'SIGKILL')
  })
  return server
}

async function waitUntilReady(name: string, child: ChildProcess, log: string, isReady: () => Promise<boolean>) {
  const latest = performance.now() + start_timeout_ms
  while (!(await isReady().catch(() => false))) {
    const hasEnded = child.exitCode !== null || child.signalCode !== null
    if (hasEnded || performance.now() > latest) {
      const end = readFileSync(log, 'utf8').slice(-4_000)
      throw new Error(`${name} ${hasEnded ? 'ended before it was ready' : 'is not ready'}:\n${end}`)
    }
    await sleep(100)
  }
}

/** Ports that are free now, each another. */
export async function findFreePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => (server.address() as { port: number }).port)
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))))
  return ports
}

/** A folder for one server; `disposeSignal` removes it. */
export function createEngineFolder(name: string): { folder: string; dispose(): void } {
  const folder = mkdtempSync(path.join(tmpdir(), `engine-${name}-`))
  return { folder, dispose: () => rmSync(folder, { recursive: true, force: true }) }
}
