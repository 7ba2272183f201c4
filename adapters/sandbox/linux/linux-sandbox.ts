// A sandbox of the Linux kernel: namespaces, or the limits of processes alone; either in a control group where one is delegated.
import * as fs from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type {
  Sandbox,
  SandboxCommand,
  SandboxIsolation,
  SandboxResult,
  SandboxServer,
  SandboxStreams,
} from '../../../daemon/kernel/sandbox/sandbox.ts'
import { findCommandFault } from './command-faults.ts'
import { runContained } from './contained-process.ts'
import type { ControlGroup, ControlGroups } from './control-group.ts'
import { launchLine } from './launch.ts'
import { createRunFolder, fillHome, removeRunFolder } from './run-folder.ts'
import { listProcessesOf } from './running-processes.ts'
import { pickUser, releaseUser, type SandboxUser } from './sandbox-user.ts'

type LinuxSandboxOptions = {
  readonly isolation: SandboxIsolation
  readonly shortfalls?: readonly string[]
  readonly groups?: ControlGroups
}

/** A sandbox of one kind, which is not tried before it is used. */
export function linuxSandbox({ isolation, shortfalls = [], groups = {} }: LinuxSandboxOptions): Sandbox {
  const runAsUser = async (
    command: SandboxCommand | SandboxServer,
    signal: AbortSignal | undefined,
    attach?: SandboxRun['attach'],
  ): Promise<SandboxResult> => {
    const fault = findCommandFault(command)
    if (fault) return { kind: 'not_started', detail: fault }
    let user: SandboxUser | undefined
    try {
      user = await pickUser()
      return await runInFolder({ isolation, command, user, groups, attach }, signal)
    } catch (error) {
      return { kind: 'not_started', detail: error instanceof Error ? error.message : String(error) }
    } finally {
      releaseUser(user)
    }
  }
  return {
    isolation,
    shortfalls,
    run: (command, signal) => runAsUser(command, signal),
    serve: (server, attach, signal) => runAsUser(server, signal, attach),
  }
}

type SandboxRun = {
  readonly isolation: SandboxIsolation
  readonly command: SandboxCommand | SandboxServer
  readonly user: SandboxUser | undefined
  readonly groups: ControlGroups
  readonly attach: ((streams: SandboxStreams) => void) | undefined
}

async function runInFolder(
  { isolation, command, user, groups, attach }: SandboxRun,
  signal: AbortSignal | undefined,
): Promise<SandboxResult> {
  const { inputs, limits } = command
  const folder = await createRunFolder()
  const opened: FileHandle[] = []
  let group: ControlGroup | undefined
  try {
    for (const path of Object.values(inputs)) opened.push(await openInput(path))
    const isCopied = isolation === 'limits'
    const home = isCopied ? folder.home : '/tmp'
    if (isCopied) await fillHome(folder, Object.keys(inputs), opened, user)
    const other_processes = isCopied && !user ? await countThreads(process.getuid?.() ?? 0) : 0
    group = await groups.create?.(limits)
    const context = { folder: isCopied ? home : folder.path, user, group_entry: group?.entry, other_processes }
    return await runContained(
      {
        ...{ line: launchLine(isolation, command, context), cwd: isCopied ? home : '/', home },
        ...{ input_fds: isCopied ? [] : opened.map(({ fd }) => fd), limits, group, user, attach },
        env: 'env' in command ? command.env : {},
      },
      signal,
    )
  } finally {
    // What cannot be cleaned up does not change what the command did: the next start removes it.
    await Promise.allSettled(opened.map((file) => file.close()))
    await Promise.allSettled([group?.end().then(group.remove)])
    await Promise.allSettled([removeRunFolder(folder)])
  }
}

async function openInput(path: string): Promise<FileHandle> {
  const file = await open(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK)
  if ((await file.stat()).isFile()) return file
  await file.close()
  throw new Error(`${path} is not a regular file`)
}

/** The kernel counts all threads of a user against the limit of each of its processes. */
async function countThreads(uid: number): Promise<number> {
  return (await listProcessesOf(uid)).reduce((sum, { threads }) => sum + threads, 0)
}
