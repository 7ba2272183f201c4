// The calls of `node:fs` over simulated machines: those under /sim/<machine>@<process> go there, the others to the disk.
import type * as fs from 'node:fs'
import { type Machine, machines } from './disk.ts'
import { type Inode, SimulatedFile, SimulatedFolder, statOf } from './inode.ts'

type Code = 'ENOENT' | 'EEXIST' | 'ENOTDIR' | 'EISDIR' | 'ENOSPC' | 'EBADF' | 'ENOTEMPTY'

function failure(code: Code, syscall: string): Error {
  return Object.assign(new Error(`${code}: simulated, ${syscall}`), { code, syscall })
}

type Place = { readonly machine: Machine; readonly process: number; readonly steps: readonly string[] }

/** Undefined for a path of the real disk. */
function placeOf(path: unknown): Place | undefined {
  const text = Buffer.isBuffer(path) ? path.toString('latin1') : path
  const found = typeof text === 'string' ? /^\/sim\/([^@/]+)@(\d+)(?:\/(.*))?$/.exec(text) : null
  const machine = found ? machines.get(found[1] ?? '') : undefined
  if (!found || !machine) return undefined
  return { machine, process: Number(found[2]), steps: (found[3] ?? '').split('/').filter((step) => step !== '') }
}

function find({ machine, steps }: Place): Inode | undefined {
  let at: Inode = machine.root
  for (const step of steps) {
    const next: Inode | undefined = at instanceof SimulatedFolder ? at.entries.get(step) : undefined
    if (!next) return undefined
    at = next
  }
  return at
}

function folderOf(place: Place, syscall: string): [SimulatedFolder, string] {
  const parent = find({ ...place, steps: place.steps.slice(0, -1) })
  if (!(parent instanceof SimulatedFolder)) throw failure('ENOENT', syscall)
  return [parent, place.steps.at(-1) ?? '']
}

function existing(place: Place, syscall: string): Inode {
  const inode = find(place)
  if (!inode) throw failure('ENOENT', syscall)
  return inode
}

type Open = { readonly place: Place; readonly inode: Inode; at: number }
const opened = new Map<number, Open>()
const firstDescriptor = 1_000_000
let descriptors = firstDescriptor

function openOf(descriptor: number): Open {
  const open = opened.get(descriptor)
  if (!open) throw failure('EBADF', 'descriptor')
  open.place.machine.step(open.place.process)
  return open
}

function fileOf(inode: Inode, syscall: string): SimulatedFile {
  if (inode instanceof SimulatedFile) return inode
  throw failure('EISDIR', syscall)
}

function write(open: Open, bytes: Buffer): void {
  const { machine } = open.place
  if (machine.room !== undefined && machine.room-- <= 0) {
    machine.room = 0
    throw failure('ENOSPC', 'write')
  }
  const file = fileOf(open.inode, 'write')
  file.data = Buffer.concat([file.data.subarray(0, open.at), bytes])
  open.at = file.data.length
}

function open(place: Place, flags: string | number = 'r', mode = 0o666): number {
  const found = find(place)
  const isNew = flags === 'wx' || flags === 'w' || flags === 'a'
  if (flags === 'wx' && found) throw failure('EEXIST', 'open')
  if (!found && !isNew) throw failure('ENOENT', 'open')
  let inode = found
  if (!inode) {
    const [folder, name] = folderOf(place, 'open')
    inode = new SimulatedFile()
    inode.mode = mode
    folder.entries.set(name, inode)
  }
  if (flags === 'w') fileOf(inode, 'open').data = Buffer.alloc(0)
  descriptors += 1
  opened.set(descriptors, { place, inode, at: flags === 'a' ? fileOf(inode, 'open').data.length : 0 })
  return descriptors
}

function sync(inode: Inode): void {
  if (inode instanceof SimulatedFile) inode.synced = inode.data
  else inode.sync()
}

type Sought = { readonly throwIfNoEntry?: boolean }
type Text = string | Uint8Array

/** By path; each call is one step of the process that makes it. */
const byPath = {
  lstatSync: (place: Place, sought: Sought = {}) => {
    const inode = find(place)
    if (!inode && sought.throwIfNoEntry !== false) throw failure('ENOENT', 'lstat')
    return inode && statOf(inode)
  },
  statSync: (place: Place, sought: Sought = {}) => byPath.lstatSync(place, sought),
  existsSync: (place: Place) => find(place) !== undefined,
  readdirSync: (place: Place, how?: string | { encoding?: string }) => {
    const folder = existing(place, 'scandir')
    if (!(folder instanceof SimulatedFolder)) throw failure('ENOTDIR', 'scandir')
    const names = [...folder.entries.keys()].sort()
    const encoding = typeof how === 'string' ? how : how?.encoding
    return encoding === 'buffer' ? names.map((name) => Buffer.from(name, 'latin1')) : names
  },
  readFileSync: (place: Place, how?: string | { encoding?: string }) => {
    const { data } = fileOf(existing(place, 'read'), 'read')
    return how === undefined ? Buffer.from(data) : data.toString('utf8')
  },
  openSync: (place: Place, flags?: string | number, mode?: number) => open(place, flags, mode),
  mkdirSync: (place: Place, given: { recursive?: boolean; mode?: number } = {}) => {
    for (let length = 1; length <= place.steps.length; length++) {
      const here = { ...place, steps: place.steps.slice(0, length) }
      if (find(here)) continue
      if (length < place.steps.length && !given.recursive) throw failure('ENOENT', 'mkdir')
      const [parent, name] = folderOf(here, 'mkdir')
      parent.entries.set(name, new SimulatedFolder())
    }
  },
  chmodSync: (place: Place, mode: number) => {
    existing(place, 'chmod').mode = mode
  },
  rmSync: (place: Place, given: { force?: boolean; recursive?: boolean } = {}) => {
    if (!find(place) && given.force) return
    existing(place, 'unlink')
    const [parent, name] = folderOf(place, 'unlink')
    parent.entries.delete(name)
  },
  unlinkSync: (place: Place) => byPath.rmSync(place),
}

function rename(from: Place, to: Place): void {
  const inode = existing(from, 'rename')
  const [old, oldName] = folderOf(from, 'rename')
  const [target, name] = folderOf(to, 'rename')
  old.entries.delete(oldName)
  target.entries.set(name, inode)
}

const byDescriptor = {
  closeSync: (descriptor: number) => void opened.delete(descriptor),
  fstatSync: (descriptor: number) => statOf(openOf(descriptor).inode),
  fchmodSync: (descriptor: number, mode: number) => {
    openOf(descriptor).inode.mode = mode
  },
  fsyncSync: (descriptor: number) => sync(openOf(descriptor).inode),
  readSync: (descriptor: number, into: Buffer, offset: number, length: number) => {
    const open = openOf(descriptor)
    const { data } = fileOf(open.inode, 'read')
    const count = data.copy(into, offset, open.at, open.at + length)
    open.at += count
    return count
  },
  writeFileSync: (descriptor: number, text: Text) => write(openOf(descriptor), Buffer.from(text)),
}

function handleOf(descriptor: number) {
  return {
    writeFile: async (text: Text) => byDescriptor.writeFileSync(descriptor, text),
    sync: async () => byDescriptor.fsyncSync(descriptor),
    chmod: async (mode: number) => byDescriptor.fchmodSync(descriptor, mode),
    close: async () => byDescriptor.closeSync(descriptor),
  }
}

type Calls = Record<string, (...given: never[]) => unknown>

/** `node:fs` whose calls under /sim go to the simulated machines; any other call there that is not simulated throws. */
export function simulatedFs(real: typeof fs): typeof fs {
  const calls = real as unknown as Calls
  const redirected = Object.entries(calls).flatMap(([name, own]) => {
    if (typeof own !== 'function' || !name.endsWith('Sync')) return []
    return [[name, (...given: unknown[]) => dispatch(name, own as never, given)] as const]
  })
  const made = { ...real, ...Object.fromEntries(redirected) } as unknown as typeof fs
  return Object.assign(made, { default: made })
}

function dispatch(name: string, own: (...given: unknown[]) => unknown, given: unknown[]): unknown {
  const [first, ...rest] = given
  if (typeof first === 'number' && first > firstDescriptor) {
    const call = byDescriptor[name as keyof typeof byDescriptor] as ((...args: unknown[]) => unknown) | undefined
    if (!call) throw new TypeError(`${name} of a descriptor is not simulated`)
    return call(first, ...rest)
  }
  const place = placeOf(first)
  if (!place) return own(...given)
  place.machine.step(place.process)
  const to = placeOf(rest[0])
  if (name === 'renameSync' && to) return rename(place, to)
  const call = byPath[name as keyof typeof byPath] as ((place: Place, ...args: unknown[]) => unknown) | undefined
  if (!call) throw new TypeError(`${name} is not simulated`)
  return call(place, ...rest)
}

/** The same for `node:fs/promises`: what happens, happens at the call, as on one thread it may. */
export function simulatedPromises(real: typeof fs.promises): typeof fs.promises {
  const made = {
    ...real,
    async open(path: string, flags?: string, mode?: number) {
      const place = placeOf(path)
      if (!place) return await real.open(path, flags, mode)
      place.machine.step(place.process)
      return handleOf(open(place, flags, mode))
    },
    async opendir(path: string) {
      const place = placeOf(path)
      if (!place) return await real.opendir(path)
      place.machine.step(place.process)
      const names = byPath.readdirSync(place) as string[]
      return names.map((name) => ({ name }))
    },
    async readdir(path: string, how: { encoding: 'latin1' }) {
      const place = placeOf(path)
      if (!place) return await real.readdir(path, how)
      place.machine.step(place.process)
      return byPath.readdirSync(place, how)
    },
    async rename(from: string, to: string) {
      const places = [placeOf(from), placeOf(to)] as const
      if (!places[0] || !places[1]) return await real.rename(from, to)
      places[0].machine.step(places[0].process)
      rename(places[0], places[1])
    },
  } as unknown as typeof fs.promises
  return Object.assign(made, { default: made })
}
