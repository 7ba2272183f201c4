// Control groups of the kernel, version 2: all processes of a run in a folder of the kernel, which ends them at one instant
// and, where a service manager has delegated its controllers, bounds their memory and number.
import { randomUUID } from 'node:crypto'
import * as fs from 'node:fs'
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { SandboxProcessLimits } from '../../../daemon/kernel/sandbox/sandbox.ts'
import { setup_processes } from './launch.ts'
import { isAbandoned, runNamePrefix } from './run-name.ts'

export type ControlGroup = {
  /** Whether the kernel bounds its memory, of every kind, and its processes. */
  readonly isBounded: boolean
  /** A process that writes its number to this file enters the group, with all that it starts. */
  readonly entry: string
  readonly list: () => Promise<readonly number[]>
  /** Whether the kernel ended processes because the group had no memory left. */
  readonly hasRunOutOfMemory: () => Promise<boolean>
  /** Kills all of it at one instant. Resolves once it is empty. */
  readonly end: () => Promise<void>
  /** Removes the empty group. */
  readonly remove: () => Promise<void>
}

export type ControlGroups = {
  /** Makes groups for runs; absent where this process can make none. */
  readonly create?: (limits: SandboxProcessLimits) => Promise<ControlGroup>
  /** Why groups do not bound memory. */
  readonly shortfall?: string
}

/** Where the process of the site moves to, beside the groups of runs: a group with controllers inside holds no process. */
const own_group = 'service'

/** What this process can make. Moves it into a group of its own below a delegated one, if it is alone there. */
export async function openControlGroups(): Promise<ControlGroups> {
  const current = await findOwnGroup()
  if (current === undefined) return { shortfall: 'the kernel has no control groups of version 2' }
  const parent = basename(current) === own_group ? dirname(current) : current
  const shortfall = await findDelegationFault(parent)
  try {
    for (const name of (await readdir(parent)).filter(isAbandoned)) {
      await endGroup(join(parent, name))
      await removeGroup(join(parent, name))
    }
    const create = (limits: SandboxProcessLimits) =>
      createGroup(join(parent, `${runNamePrefix()}${randomUUID()}`), limits)
    if (!(await canEndGroups(parent))) return { shortfall: 'the kernel cannot end a control group (Linux 5.14 can)' }
    return { create, ...(shortfall === undefined ? {} : { shortfall }) }
  } catch (error) {
    return { shortfall: shortfall ?? (error as Error).message }
  }
}

/** An empty group shows whether one can be made at all, and what it offers. */
async function canEndGroups(parent: string): Promise<boolean> {
  const probe = join(parent, `${runNamePrefix()}${randomUUID()}`)
  await mkdir(probe)
  const canEnd = fs.existsSync(join(probe, 'cgroup.kill'))
  await removeGroup(probe)
  return canEnd
}

/**
 * A group is delegated where its folder belongs to the user of the site. Root owns every group and cannot tell one that
 * is delegated. Groups without controllers only end their processes.
 */
async function findDelegationFault(parent: string): Promise<string | undefined> {
  const uid = process.getuid?.()
  if (uid === 0) return 'the site runs as root, to which no control group is delegated'
  if (fs.statSync(parent).uid !== uid) return `no control group is delegated to the user of the site: ${parent}`
  const controllers = (await readFile(join(parent, 'cgroup.controllers'), 'utf8')).trim().split(' ')
  const missing = ['memory', 'pids'].find((name) => !controllers.includes(name))
  if (missing) return `the delegated control group lacks the controller ${missing}: ${parent}`
  try {
    await delegateToRuns(parent)
    return undefined
  } catch (error) {
    return `the delegated control group cannot be divided: ${(error as Error).message}`
  }
}

async function delegateToRuns(parent: string): Promise<void> {
  const own = join(parent, own_group)
  await mkdir(own, { recursive: true })
  await writeFile(join(own, 'cgroup.procs'), `${process.pid}`)
  await writeFile(join(parent, 'cgroup.subtree_control'), '+memory +pids')
}

/** The folder of the group that this process is in. */
async function findOwnGroup(): Promise<string | undefined> {
  const path = /^0::(\/.*)$/m.exec(await readFile('/proc/self/cgroup', 'utf8'))?.[1]
  const mounts = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n').map((line) => line.split(' '))
  const mount = mounts.find((fields) => fields[fields.indexOf('-') + 1] === 'cgroup2' && fields[3] === '/')
  return path === undefined || mount === undefined ? undefined : join(mount[4] ?? '', path)
}

async function createGroup(folder: string, limits: SandboxProcessLimits): Promise<ControlGroup> {
  const write = (name: string, value: number) => writeFile(join(folder, name), `${value}`)
  const read = (name: string) => readFile(join(folder, name), 'utf8')
  await mkdir(folder)
  const isBounded = fs.existsSync(join(folder, 'memory.max')) && fs.existsSync(join(folder, 'pids.max'))
  try {
    if (isBounded) {
      // The files of the command are in memory as well.
      await write('memory.max', limits.memory_bytes + limits.disk_bytes)
      await write('memory.oom.group', 1)
      await write('pids.max', limits.processes + setup_processes)
      if (fs.existsSync(join(folder, 'memory.swap.max'))) await write('memory.swap.max', 0)
    }
  } catch (error) {
    await removeGroup(folder)
    throw error
  }
  return {
    isBounded,
    entry: join(folder, 'cgroup.procs'),
    list: async () => (await read('cgroup.procs')).split('\n').filter(Boolean).map(Number),
    hasRunOutOfMemory: async () => isBounded && /^oom_kill [1-9]/m.test(await read('memory.events')),
    end: () => endGroup(folder),
    remove: () => removeGroup(folder),
  }
}

async function endGroup(folder: string): Promise<void> {
  await writeFile(join(folder, 'cgroup.kill'), '1')
  for (let look = 0; look < max_looks; look++) {
    if (/^populated 0$/m.test(await readFile(join(folder, 'cgroup.events'), 'utf8'))) return
    await wait(look_pause_ms)
  }
}

/** A process that waits for a disk ends late. */
const max_looks = 200
const look_pause_ms = 10

/** A group that still holds such a process stays, until the next start. */
async function removeGroup(folder: string): Promise<void> {
  await rmdir(folder).catch(() => undefined)
}
