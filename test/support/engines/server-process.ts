// A real server on this machine, for a test file or a whole run: started, killed and started again over the same data.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findFreePorts as choosePorts } from '../../../cli/demo/free-ports.ts'

export type ServerProgram = {
  readonly command: string
  readonly args: readonly string[]
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
  /** Unix user and group; this process's own by default. */
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

/** A start may take this long on a machine that does much else. */
const start_timeout_ms = 180_000

/** Everything that starts a server and finds it again, also from another process than the one that started it. */
export type ServerDescription = {
  readonly name: string
  readonly program: ServerProgram
  /** File that takes what the server prints. */
  readonly log: string
  /** File that holds the id of its process group while it runs. */
  readonly pid_file: string
}

/**
 * `isReady`: whether it answers; a throw counts as no. `isShared`: the run owns the server, and it outlives this process;
 * otherwise it is killed when this process ends, so that a run that is cut short leaves no server behind.
 */
export function serverProcess(
  { name, program, log, pid_file }: ServerDescription,
  isReady: () => Promise<boolean>,
  isShared = false,
): ServerProcess {
  const runningPid = () => {
    const pid = existsSync(pid_file) ? Number(readFileSync(pid_file, 'utf8')) : 0
    return pid > 0 && isAlive(pid) ? pid : undefined
  }
  const requirePid = () => runningPid() ?? fail(`${name} does not run`)
  const end = async (signal: NodeJS.Signals) => {
    const pid = runningPid()
    if (pid === undefined) return
    process.kill(signal === 'SIGKILL' ? -pid : pid, signal)
    while (isAlive(pid)) await sleep(20)
  }
  if (!isShared) killAtExit(runningPid)
  return {
    async start() {
      const pid = runningPid() ?? (await spawnServer(program, log, pid_file))
      await waitUntilReady(name, pid, log, isReady)
    },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    freeze: () => process.kill(-requirePid(), 'SIGSTOP'),
    thaw: () => process.kill(-requirePid(), 'SIGCONT'),
  }
}

const ownPids = new Set<() => number | undefined>()

/** One listener for all servers of this process. */
function killAtExit(runningPid: () => number | undefined): void {
  if (ownPids.size === 0)
    process.once('exit', () => {
      for (const pid of [...ownPids].map((read) => read())) if (pid !== undefined) process.kill(-pid, 'SIGKILL')
    })
  ownPids.add(runningPid)
}

/** In a process group of its own, so that a kill takes its children along. */
async function spawnServer({ command, args, ...options }: ServerProgram, log: string, pid_file: string) {
  const output = openSync(log, 'a')
  const child = spawn(command, args, { ...options, detached: true, stdio: ['ignore', output, output] })
  closeSync(output)
  await once(child, 'spawn')
  child.unref()
  const pid = child.pid ?? fail(`${command} has no process id`)
  writeFileSync(pid_file, String(pid))
  return pid
}

/**
 * A zombie, which nobody has collected yet, is not alive. Its first thread may be one before the others have ended: until then
 * they hold its sockets, at which a look for the next start would find it.
 */
function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const state = stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3)
    return state !== 'Z' || readdirSync(`/proc/${pid}/task`).length > 1
  } catch {
    return false
  }
}

async function waitUntilReady(name: string, pid: number, log: string, isReady: () => Promise<boolean>) {
  const latest = performance.now() + start_timeout_ms
  while (!(await isReady().catch(() => false))) {
    const hasEnded = !isAlive(pid)
    if (hasEnded || performance.now() > latest) {
      const end = readFileSync(log, 'utf8').slice(-4_000)
      throw new Error(`${name} ${hasEnded ? 'ended before it was ready' : 'is not ready'}:\n${end}`)
    }
    await sleep(100)
  }
}

function fail(message: string): never {
  throw new Error(message)
}

/** Of servers that have to know theirs before they start. */
export const findFreePorts = choosePorts

/** Whether something of this machine accepts connections at the port. */
export function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const settle = (is: boolean) => {
      socket.destroy()
      resolve(is)
    }
    socket.once('connect', () => settle(true)).once('error', () => settle(false))
  })
}

/** A folder for one server; `dispose` removes it. */
export function createEngineFolder(name: string): { folder: string; dispose(): void } {
  const folder = mkdtempSync(path.join(tmpdir(), `engine-${name}-`))
  return { folder, dispose: () => rmSync(folder, { recursive: true, force: true }) }
}

/** The programs of such a server, where that user may read them: root's own folders are closed to it. */
export function copyHome(source: string, folder: string): string {
  if (process.getuid?.() !== 0) return source
  const copy = path.join(folder, 'home')
  cpSync(source, copy, { recursive: true })
  return copy
}

/** For servers that refuse to run as root: they then run as nobody, and the folder is that user's. */
export function chooseUnprivilegedUser(folder: string): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }))
  const [uid, gid] = [id('-u'), id('-g')]
  execFileSync('chown', ['-R', `${uid}:${gid}`, folder])
  chmodSync(folder, 0o755)
  return { uid, gid }
}
