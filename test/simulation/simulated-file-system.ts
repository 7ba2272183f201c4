// The calls of `node:fs` over simulated machines: those under /sim/<machine>@<process>, or through its descriptors, go there.
import type * as fs from 'node:fs'
import { buildStats, type Inode, SimulatedFile, SimulatedFolder } from './inode.ts'
import { machines, type SimulatedMachine } from './simulated-machine.ts'

type FileErrorCode = 'ENOENT' | 'EEXIST' | 'ENOTDIR' | 'EISDIR' | 'ENOSPC' | 'EBADF' | 'ENOTEMPTY'

function createFileError(code: FileErrorCode, syscall: string): Error {
  return Object.assign(new Error(`${code}: simulated, ${syscall}`), { code, syscall })
}

/** `from`: the open folder that the steps begin at; by default the root of the machine. */
type SimulatedPath = {
  readonly machine: SimulatedMachine
  readonly process: number
  readonly steps: readonly string[]
  readonly from?: Inode
}

/** Undefined for a path of the real disk. */
function parsePath(path: unknown): SimulatedPath | undefined {
  const text = Buffer.isBuffer(path) ? path.toString('latin1') : path
  const throughDescriptor = typeof text === 'string' ? /^\/proc\/self\/fd\/(\d+)(?:\/(.*))?$/.exec(text) : null
  const open = throughDescriptor && openFiles.get(Number(throughDescriptor[1]))
  if (open) return { ...open.place, from: open.inode, steps: splitSteps(throughDescriptor[2]) }
  const found = typeof text === 'string' ? /^\/sim\/([^@/]+)@(\d+)(?:\/(.*))?$/.exec(text) : null
  const machine = found ? machines.get(found[1] ?? '') : undefined
  if (!found || !machine) return undefined
  return { machine, process: Number(found[2]), steps: splitSteps(found[3]) }
}

const splitSteps = (path = ''): string[] => path.split('/').filter((step) => step !== '')

function findInode({ machine, steps, from }: SimulatedPath): Inode | undefined {
  let at: Inode = from ?? machine.root
  for (const step of steps) {
    const next: Inode | undefined = at instanceof SimulatedFolder ? at.entries.get(step) : undefined
    if (!next) return undefined
    at = next
  }
  return at
}

function requireFolder(place: SimulatedPath, syscall: string): [SimulatedFolder, string] {
  const parent = findInode({ ...place, steps: place.steps.slice(0, -1) })
  if (!(parent instanceof SimulatedFolder)) throw createFileError('ENOENT', syscall)
  return [parent, place.steps.at(-1) ?? '']
}

function requireInode(place: SimulatedPath, syscall: string): Inode {
  const inode = findInode(place)
  if (!inode) throw createFileError('ENOENT', syscall)
  return inode
}

type OpenFile = { readonly place: SimulatedPath; readonly inode: Inode; at: number }
const openFiles = new Map<number, OpenFile>()
const firstDescriptor = 1_000_000
let descriptors = firstDescriptor

function requireOpenFile(descriptor: number): OpenFile {
  const open = openFiles.get(descriptor)
  if (!open) throw createFileError('EBADF', 'descriptor')
  open.place.machine.step(open.place.process)
  return open
}

function requireFile(inode: Inode, syscall: string): SimulatedFile {
  if (inode instanceof SimulatedFile) return inode
  throw createFileError('EISDIR', syscall)
}

function write(open: OpenFile, bytes: Buffer): void {
  const { machine } = open.place
  if (machine.room !== undefined && machine.room-- <= 0) {
    machine.room = 0
    throw createFileError('ENOSPC', 'write')
  }
  const file = requireFile(open.inode, 'write')
  file.data = Buffer.concat([file.data.subarray(0, open.at), bytes])
  open.at = file.data.length
}

function open(place: SimulatedPath, flags: string | number = 'r', mode = 0o666): number {
  const found = findInode(place)
  const isNew = flags === 'wx' || flags === 'w' || flags === 'a'
  if (flags === 'wx' && found) throw createFileError('EEXIST', 'open')
  if (!found && !isNew) throw createFileError('ENOENT', 'open')
  let inode = found
  if (!inode) {
    const [folder, name] = requireFolder(place, 'open')
    inode = new SimulatedFile()
    inode.mode = mode
    folder.entries.set(name, inode)
  }
  if (flags === 'w') requireFile(inode, 'open').data = Buffer.alloc(0)
  descriptors += 1
  openFiles.set(descriptors, { place, inode, at: flags === 'a' ? requireFile(inode, 'open').data.length : 0 })
  return descriptors
}

function sync(inode: Inode): void {
  if (inode instanceof SimulatedFile) inode.synced = inode.data
  else inode.sync()
}

type StatOptions = { readonly throwIfNoEntry?: boolean }
type TextOrBytes = string | Uint8Array

/** By path; each call is one step of the process that makes it. */
const byPath = {
  lstatSync: (place: SimulatedPath, sought: StatOptions = {}) => {
    const inode = findInode(place)
    if (!inode && sought.throwIfNoEntry !== false) throw createFileError('ENOENT', 'lstat')
    return inode && buildStats(inode)
  },
  statSync: (place: SimulatedPath, sought: StatOptions = {}) => byPath.lstatSync(place, sought),
  existsSync: (place: SimulatedPath) => findInode(place) !== undefined,
  readdirSync: (place: SimulatedPath, how?: string | { encoding?: string }) => {
    const folder = requireInode(place, 'scandir')
    if (!(folder instanceof SimulatedFolder)) throw createFileError('ENOTDIR', 'scandir')
    const names = [...folder.entries.keys()].sort()
    const encoding = typeof how === 'string' ? how : how?.encoding
    return encoding === 'buffer' ? names.map((name) => Buffer.from(name, 'latin1')) : names
  },
  readFileSync: (place: SimulatedPath, how?: string | { encoding?: string }) => {
    const { data } = requireFile(requireInode(place, 'read'), 'read')
    return how === undefined ? Buffer.from(data) : data.toString('utf8')
  },
  openSync: (place: SimulatedPath, flags?: string | number, mode?: number) => open(place, flags, mode),
  mkdirSync: (place: SimulatedPath, options: { recursive?: boolean; mode?: number } = {}) => {
    for (let length = 1; length <= place.steps.length; length++) {
      const here = { ...place, steps: place.steps.slice(0, length) }
      if (findInode(here)) continue
      if (length < place.steps.length && !options.recursive) throw createFileError('ENOENT', 'mkdir')
      const [parent, name] = requireFolder(here, 'mkdir')
      parent.entries.set(name, new SimulatedFolder())
    }
  },
  chmodSync: (place: SimulatedPath, mode: number) => {
    requireInode(place, 'chmod').mode = mode
  },
  rmSync: (place: SimulatedPath, options: { force?: boolean; recursive?: boolean } = {}) => {
    if (!findInode(place) && options.force) return
    requireInode(place, 'unlink')
    const [parent, name] = requireFolder(place, 'unlink')
    parent.entries.delete(name)
  },
  unlinkSync: (place: SimulatedPath) => byPath.rmSync(place),
}

function rename(from: SimulatedPath, to: SimulatedPath): void {
  const inode = requireInode(from, 'rename')
  const [old, oldName] = requireFolder(from, 'rename')
  const [target, name] = requireFolder(to, 'rename')
  old.entries.delete(oldName)
  target.entries.set(name, inode)
}

const byDescriptor = {
  closeSync: (descriptor: number) => void openFiles.delete(descriptor),
  fstatSync: (descriptor: number) => buildStats(requireOpenFile(descriptor).inode),
  fchmodSync: (descriptor: number, mode: number) => {
    requireOpenFile(descriptor).inode.mode = mode
  },
  fsyncSync: (descriptor: number) => sync(requireOpenFile(descriptor).inode),
  readSync: (descriptor: number, into: Buffer, offset: number, length: number) => {
    const open = requireOpenFile(descriptor)
    const { data } = requireFile(open.inode, 'read')
    const count = data.copy(into, offset, open.at, open.at + length)
    open.at += count
    return count
  },
  writeFileSync: (descriptor: number, text: TextOrBytes) => write(requireOpenFile(descriptor), Buffer.from(text)),
}

function createFileHandle(descriptor: number) {
  return {
    writeFile: async (text: TextOrBytes) => byDescriptor.writeFileSync(descriptor, text),
    sync: async () => byDescriptor.fsyncSync(descriptor),
    chmod: async (mode: number) => byDescriptor.fchmodSync(descriptor, mode),
    close: async () => byDescriptor.closeSync(descriptor),
  }
}

type FileSystemCalls = Record<string, (...params: never[]) => unknown>

/** `node:fs` whose calls under /sim go to the simulated machines; any other call there that is not simulated throws. */
export function createSimulatedFs(real: typeof fs): typeof fs {
  const calls = real as unknown as FileSystemCalls
  const redirected = Object.entries(calls).flatMap(([name, own]) => {
    if (typeof own !== 'function' || !name.endsWith('Sync')) return []
    return [[name, (...params: unknown[]) => dispatch(name, own as never, params)] as const]
  })
  const made = { ...real, ...Object.fromEntries(redirected) } as unknown as typeof fs
  return Object.assign(made, { default: made })
}

function dispatch(name: string, own: (...params: unknown[]) => unknown, params: unknown[]): unknown {
  const [first, ...rest] = params
  if (typeof first === 'number' && first > firstDescriptor) {
    const call = byDescriptor[name as keyof typeof byDescriptor] as ((...args: unknown[]) => unknown) | undefined
    if (!call) throw new TypeError(`${name} of a descriptor is not simulated`)
    return call(first, ...rest)
  }
  const place = parsePath(first)
  if (!place) return own(...params)
  place.machine.step(place.process)
  const to = parsePath(rest[0])
  if (name === 'renameSync' && to) return rename(place, to)
  const call = byPath[name as keyof typeof byPath] as
    | ((place: SimulatedPath, ...args: unknown[]) => unknown)
    | undefined
  if (!call) throw new TypeError(`${name} is not simulated`)
  return call(place, ...rest)
}

/** The same for `node:fs/promises`: what happens, happens at the call, as on one thread it may. */
export function createSimulatedPromises(real: typeof fs.promises): typeof fs.promises {
  const made = {
    ...real,
    async open(path: string, flags?: string, mode?: number) {
      const place = parsePath(path)
      if (!place) return await real.open(path, flags, mode)
      place.machine.step(place.process)
      return createFileHandle(open(place, flags, mode))
    },
    async opendir(path: string) {
      const place = parsePath(path)
      if (!place) return await real.opendir(path)
      place.machine.step(place.process)
      const names = byPath.readdirSync(place) as string[]
      return names.map((name) => ({ name }))
    },
    async readdir(path: string, how: { encoding: 'latin1' }) {
      const place = parsePath(path)
      if (!place) return await real.readdir(path, how)
      place.machine.step(place.process)
      return byPath.readdirSync(place, how)
    },
    async rename(from: string, to: string) {
      const places = [parsePath(from), parsePath(to)] as const
      if (!places[0] || !places[1]) return await real.rename(from, to)
      places[0].machine.step(places[0].process)
      rename(places[0], places[1])
    },
  } as unknown as typeof fs.promises
  return Object.assign(made, { default: made })
}
