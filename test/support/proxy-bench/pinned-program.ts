// Programs that a benchmark starts on one core each, and the processor time that a program and its children have used.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import net from 'node:net'

/** The measured program has the one to itself; the load generator and the backends share the other. `all`: nothing is pinned. */
export const benchCores = { measured: 0, around: 1, all: '0,1' } as const

export type BenchCores = (typeof benchCores)[keyof typeof benchCores]

/** Ticks of /proc a second; the same on every Linux that this runs on. */
const ticks_per_s = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

export type PinnedProgram = { readonly pid: number; readonly cpu_s: () => number; readonly end: () => Promise<void> }

/** Starts it on the cores and waits until it says `ready`, or its port answers. Throws what it wrote when it ends before that. */
export async function startPinnedProgram(
  core: BenchCores,
  command: readonly string[],
  port: number,
  env: Readonly<Record<string, string>> = {},
  ready?: string,
): Promise<PinnedProgram> {
  const child = spawn('taskset', ['-c', String(core), ...command], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => (output = (output + text).slice(-4_000)))
  while (ready === undefined ? !(await isListening(port)) : !output.includes(ready)) {
    if (child.exitCode !== null) throw new Error(`${command[0]} ended: ${output}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const pid = child.pid ?? Number.NaN
  return { pid, cpu_s: () => readCpu_s(pid), end: () => waitForEnd(child) }
}

function isListening(port: number): Promise<boolean> {
  const socket = net.connect(port, '127.0.0.1')
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  }).then((is) => {
    socket.destroy()
    return is === true
  })
}

async function waitForEnd(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}

/** Seconds in user and kernel mode of a process, all of its threads and the children that it has now. */
function readCpu_s(pid: number): number {
  const children = new Map<number, number[]>()
  const used = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const fields = readStat(name)
    if (!fields) continue
    const [parent, ticks] = [Number(fields[1]), Number(fields[11]) + Number(fields[12])]
    children.set(parent, [...(children.get(parent) ?? []), Number(name)])
    used.set(Number(name), ticks)
  }
  const sum = (each: number): number =>
    (used.get(each) ?? 0) + (children.get(each) ?? []).reduce((all, child) => all + sum(child), 0)
  return sum(pid) / ticks_per_s
}

/** Fields after the name, which may hold blanks and brackets: state, parent, … as proc(5) numbers them from 3 on. */
function readStat(pid: string): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')
  } catch {
    return undefined
  }
}
