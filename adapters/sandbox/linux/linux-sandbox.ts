// A sandbox of the Linux kernel: namespaces where it gives them to this process, else the limits of processes alone.
import * as fs from 'node:fs'
import { chown, type FileHandle, mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { isAbsolute, join, normalize } from 'node:path'
import {
  input_name,
  max_inputs,
  type Sandbox,
  type SandboxCommand,
  type SandboxIsolation,
  type SandboxResult,
} from '../../../daemon/kernel/sandbox/sandbox.ts'
import { runContained } from './contained-process.ts'
import { launchLine, type SandboxUser } from './launch.ts'

/** The strongest isolation that this machine gives. Throws where it gives none: the tools of util-linux are absent. */
export async function openSandbox(): Promise<Sandbox> {
  const namespaces = linuxSandbox('namespaces')
  const shortfall = await findProbeFailure(namespaces)
  if (shortfall === undefined) return namespaces
  const limits = linuxSandbox('limits', `namespaces are not available: ${shortfall}`)
  const failure = await findProbeFailure(limits)
  if (failure === undefined) return limits
  throw new Error(`no command can be run in a sandbox here: ${failure}; install util-linux (setpriv, prlimit, unshare)`)
}

/** A sandbox of one kind, which is not tried before it is used. */
export function linuxSandbox(isolation: SandboxIsolation, shortfall?: string): Sandbox {
  return {
    isolation,
    ...(shortfall === undefined ? {} : { shortfall }),
    async run(command, signal) {
      const fault = findCommandFault(command) ?? findProgramFault(command.program)
      if (fault) return { kind: 'not_started', detail: fault }
      try {
        return await runInFolder(isolation, command, signal)
      } catch (error) {
        return { kind: 'not_started', detail: error instanceof Error ? error.message : String(error) }
      }
    },
  }
}

const nobody: SandboxUser = { uid: 65_534, gid: 65_534 }

/** No command runs as root: it becomes nobody, unless the container of this process knows no such user. */
async function chooseUser(): Promise<SandboxUser | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const maps = await Promise.all(['uid_map', 'gid_map'].map((file) => readFile(`/proc/self/${file}`, 'utf8')))
  return maps.every((map) => isMapped(map, nobody.uid)) ? nobody : undefined
}

/** Each line of a map is: first id inside, first id outside, count. */
function isMapped(map: string, id: number): boolean {
  return map.split('\n').some((line) => {
    const [first = Number.NaN, , count = 0] = line.trim().split(/\s+/).map(Number)
    return id >= first && id < first + count
  })
}

async function runInFolder(
  isolation: SandboxIsolation,
  command: SandboxCommand,
  signal: AbortSignal | undefined,
): Promise<SandboxResult> {
  const user = await chooseUser()
  const folder = await mkdtemp(join(tmpdir(), 'platform-sandbox-'))
  const opened: FileHandle[] = []
  try {
    for (const path of Object.values(command.inputs)) opened.push(await openInput(path))
    const isCopied = isolation === 'limits'
    if (isCopied) await copyInputs(Object.keys(command.inputs), opened, folder, user)
    const other_processes = isCopied ? await countProcesses(user?.uid ?? process.getuid?.() ?? 0) : 0
    return await runContained(
      {
        line: launchLine(isolation, command, { folder, user, other_processes }),
        cwd: isCopied ? folder : '/',
        home: isCopied ? folder : '/tmp',
        input_fds: isCopied ? [] : opened.map(({ fd }) => fd),
        limits: command.limits,
      },
      signal,
    )
  } finally {
    await Promise.allSettled(opened.map((file) => file.close()))
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

async function openInput(path: string): Promise<FileHandle> {
  const file = await open(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK)
  if ((await file.stat()).isFile()) return file
  await file.close()
  throw new Error(`${path} is no regular file`)
}

/** Copies of its own, so that the command sees neither the folder that a file comes from nor a later change of it. */
async function copyInputs(
  names: readonly string[],
  opened: readonly FileHandle[],
  folder: string,
  user: SandboxUser | undefined,
): Promise<void> {
  for (const [at, name] of names.entries()) {
    const copy = await open(join(folder, name), 'wx', 0o400)
    try {
      const file = opened[at] as FileHandle
      await copy.writeFile(file.createReadStream({ autoClose: false }))
      if (user) await copy.chown(user.uid, user.gid)
    } finally {
      await copy.close()
    }
  }
  if (user) await chown(folder, user.uid, user.gid)
}

/** Threads of all processes of a user; those that end meanwhile count nothing. */
async function countProcesses(uid: number): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const counts = await Promise.all(
    pids.map(async (pid) => {
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
      if (Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]) !== uid) return 0
      return Number(/^Threads:\s+(\d+)/m.exec(status)?.[1] ?? 0)
    }),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

function findCommandFault({ program, inputs, args, visible }: SandboxCommand): string | undefined {
  const names = Object.keys(inputs)
  const wrongName = names.find((name) => !input_name.test(name))
  const wrongPath = [program, ...visible].find((path) => !isShowable(path))
  const missing = args.find((arg) => typeof arg !== 'string' && !Object.hasOwn(inputs, arg.input))
  if (wrongPath !== undefined) return `${wrongPath} is not an absolute path that can be shown`
  if (wrongName !== undefined) return `"${wrongName}" cannot be the name of an input`
  if (names.length > max_inputs) return `${names.length} inputs are too many: at most ${max_inputs}`
  return missing === undefined ? undefined : 'an argument names an input that is not there'
}

/** The root would show everything; what the kernel makes up is made anew inside. */
function isShowable(path: string): boolean {
  return isAbsolute(path) && normalize(path) === path && !/^\/$|^\/(proc|sys|dev)(\/|$)|[/\0]$/.test(path)
}

function findProgramFault(program: string): string | undefined {
  try {
    fs.accessSync(program, fs.constants.X_OK)
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error)
  }
}

/** What a command that does nothing meets. */
async function findProbeFailure(sandbox: Sandbox): Promise<string | undefined> {
  const result = await sandbox.run({
    program: '/bin/sh',
    args: ['-c', 'exit 7'],
    inputs: {},
    visible: [],
    limits: {
      time_ms: 30_000,
      cpu_s: 5,
      memory_bytes: 2 ** 28,
      disk_bytes: 2 ** 20,
      output_bytes: 2 ** 12,
      processes: 8,
      open_files: 32,
    },
  })
  if (result.kind === 'not_started') return result.detail
  return result.kind === 'exited' && result.code === 7 ? undefined : `a command that does nothing was ${result.kind}`
}
